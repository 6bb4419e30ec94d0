/*
 * SPDX-License-Identifier: GPL-2.0-only
 */

#ifndef COSIM_STEP_GROUPS_H
#define COSIM_STEP_GROUPS_H

#include "stream/stream.h"

#include <cstdint>
#include <vector>

namespace cosim
{

/**
 * Groups the steps of a program that behave identically, so that each group can run as one step.
 *
 * The steps of a group belong to one member and one phase. There are two kinds of group:
 *
 * - SEND steps that wait for the same steps and for which no step waits. They start at the same
 *   time.
 * - Receiving steps that wait for no step of the phase and for which the same steps wait. Only the
 *   arrival of their last message matters, because the steps after them wait for it.
 *
 * A group that waits for nothing, and for which nothing waits, behaves the same in all repetitions
 * of a program, so that it can also run as one step for all of them.
 */
class StepGroups
{
  public:
    /// Marks "no step".
    static constexpr uint32_t NONE = ~uint32_t{0};

    /// The largest number of steps in a group.
    static constexpr uint32_t MAX_STEPS = 4095;

    /**
     * Start with each step as a group of its own.
     *
     * @param program a validated program
     */
    explicit StepGroups(const Program& program);

    /**
     * Form the groups.
     *
     * @param program the program that the constructor got
     * @param withReductions true to also group the steps that receive and reduce. Use it only if
     * reductions take no time.
     */
    void Form(const Program& program, bool withReductions);

    /// @return true if the step is the first of its group
    bool IsFirst(uint32_t step) const
    {
        return m_first[step] == step;
    }

    /// @return the next step of the same group, or NONE
    uint32_t GetNext(uint32_t step) const
    {
        return m_next[step];
    }

    /// @return true if the group that begins with a step can run as one step for all repetitions
    bool IsAlone(uint32_t first) const
    {
        return !m_isAlone.empty() && m_isAlone[first];
    }

  private:
    std::vector<uint32_t> m_first;
    std::vector<uint32_t> m_next;
    std::vector<bool> m_isAlone; //!< per step, empty before Form
};

} // namespace cosim

#endif // COSIM_STEP_GROUPS_H
