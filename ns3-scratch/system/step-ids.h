/*
 * SPDX-License-Identifier: GPL-2.0-only
 */

#ifndef COSIM_STEP_IDS_H
#define COSIM_STEP_IDS_H

#include <algorithm>
#include <bit>
#include <cstdint>

namespace cosim
{

/**
 * The ids of the steps of a PartShape. An id combines the index of a step with its turn.
 *
 * Ids that follow each other belong to steps that run at about the same time: in a rotation, the
 * turns of one step; in a repetition, the steps of one turn. Not every number is an id.
 */
class StepIds
{
  public:
    StepIds() = default;

    /// @return the ids of a table, whose steps have no turns
    static StepIds OfTable(uint32_t steps)
    {
        StepIds ids;
        ids.m_steps = ids.m_shared = steps;
        return ids;
    }

    /**
     * @param steps number of steps of the first places
     * @param turns how often the places turn them, the first ones included
     */
    static StepIds OfRotation(uint32_t steps, uint32_t turns)
    {
        StepIds ids = OfTable(steps);
        ids.m_turns = turns;
        ids.m_turnMask = std::bit_ceil(turns) - 1;
        ids.m_indexShift = static_cast<uint32_t>(std::bit_width(ids.m_turnMask));
        return ids;
    }

    /**
     * @param steps number of steps of a repetition
     * @param shared index of the first of the steps that stand for all repetitions, and have turn 0
     * @param turns number of repetitions
     */
    static StepIds OfRepetition(uint32_t steps, uint32_t shared, uint32_t turns)
    {
        StepIds ids = OfTable(steps);
        ids.m_shared = shared;
        ids.m_turns = turns;
        ids.m_turnMask = ~uint32_t{0};
        ids.m_indexMask = std::bit_ceil(std::max(steps, uint32_t{2})) - 1;
        ids.m_turnShift = static_cast<uint32_t>(std::bit_width(ids.m_indexMask));
        return ids;
    }

    /// @return the index of the step of an id
    uint32_t GetIndex(uint32_t id) const
    {
        return id >> m_indexShift & m_indexMask;
    }

    /// @return the turn of an id
    uint32_t GetTurn(uint32_t id) const
    {
        return id >> m_turnShift & m_turnMask;
    }

    /// @return the id of a step with turn 0
    uint32_t GetFirst(uint32_t index) const
    {
        return index << m_indexShift;
    }

    /**
     * @param first id of a step with turn 0
     * @param turn another turn of the step
     */
    uint32_t AtTurn(uint32_t first, uint32_t turn) const
    {
        return first + (turn << m_turnShift);
    }

    /// @return true if the step of an index stands for all repetitions
    bool IsShared(uint32_t index) const
    {
        return index >= m_shared;
    }

    /// @return true if a number is an id
    bool Has(uint32_t id) const
    {
        const uint32_t index = GetIndex(id);
        const uint32_t turn = GetTurn(id);
        return index < m_steps && turn < (IsShared(index) ? 1 : m_turns);
    }

    /// @return the number of turns of a step that is not shared
    uint32_t GetTurns() const
    {
        return m_turns;
    }

    /// @return a number above all ids
    uint32_t GetEnd() const
    {
        return m_turnShift == 0 ? m_steps << m_indexShift
                                : (m_turns - 1) * (m_indexMask + 1) + m_steps;
    }

    /// @return how many ids are below a number, which is at most GetEnd
    uint32_t CountBelow(uint32_t end) const
    {
        if (m_turnShift == 0)
        {
            return (end >> m_indexShift) * m_turns + std::min(end & m_turnMask, m_turns);
        }
        const uint32_t turn = GetTurn(end);
        const uint32_t index = GetIndex(end);
        return turn == 0 ? std::min(index, m_steps)
                         : m_steps + (turn - 1) * m_shared + std::min(index, m_shared);
    }

  private:
    uint32_t m_steps{0};
    uint32_t m_shared{0};
    uint32_t m_turns{1};
    uint32_t m_indexShift{0};
    uint32_t m_indexMask{~uint32_t{0}};
    uint32_t m_turnShift{0};
    uint32_t m_turnMask{0};
};

} // namespace cosim

#endif // COSIM_STEP_IDS_H
