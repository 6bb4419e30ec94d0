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
 * Which steps of a program can be done as one, because nothing can tell them apart: those of one
 * member in one phase that
 *
 * - send after the same steps, with no step after them; or
 * - receive after no step of the phase, with the same steps after them.
 *
 * The first kind begins at one moment. Of the second only the last message matters, and it is what
 * the steps after them wait for.
 */
class StepGroups
{
  public:
    static constexpr uint32_t NONE = ~uint32_t{0};

    /// No group has more steps.
    static constexpr uint32_t MAX_STEPS = 4095;

    /**
     * @param program a validated program: each of its steps is a group of its own
     */
    explicit StepGroups(const Program& program);

    /**
     * Form the groups.
     *
     * @param program the same program
     * @param withReductions whether steps that receive and reduce are grouped, too: only if
     * reductions cost no time
     */
    void Form(const Program& program, bool withReductions);

    /// @return whether a step is the first of its group
    bool IsFirst(uint32_t step) const
    {
        return m_first[step] == step;
    }

    /// @return the next step of the same group, or NONE
    uint32_t GetNext(uint32_t step) const
    {
        return m_next[step];
    }

    /// @return the first step of a step's group
    uint32_t GetFirst(uint32_t step) const
    {
        return m_first[step];
    }

  private:
    std::vector<uint32_t> m_first;
    std::vector<uint32_t> m_next;
};

} // namespace cosim

#endif // COSIM_STEP_GROUPS_H
