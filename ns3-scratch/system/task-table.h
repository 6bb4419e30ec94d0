/*
 * SPDX-License-Identifier: GPL-2.0-only
 */

#ifndef COSIM_TASK_TABLE_H
#define COSIM_TASK_TABLE_H

#include "network/network-api.h"
#include "stream/stream.h"
#include "support/slot-pool.h"
#include "system/chunk-scheduler.h"
#include "system/program-template.h"

#include <cstddef>
#include <cstdint>
#include <deque>
#include <string>
#include <vector>

namespace cosim
{

/**
 * The parts of chunks that are running, and the tags of their messages.
 *
 * A tag says which step of which running part receives the message: the slot of the part, how often
 * the slot was used before, the step. So an arrival is looked up by index. All the state of a
 * running part is two flat arrays from a pool.
 */
class TaskTable
{
  public:
    static constexpr uint32_t NONE = ProgramTemplate::NONE;

    /// The most parts that can run at once.
    static constexpr std::size_t MAX_TASKS = std::size_t{1} << 20;

    /// A started part of a chunk. Slots of this kind are used again.
    struct Task
    {
        ChunkPart what;
        uint32_t generation{0}; //!< how many parts used the slot before
        uint32_t membersLeft{0};
        ProgramTemplate::UnitSize unitSize{};
        const ProgramTemplate* program{nullptr};
        const ProgramTemplate::Step* steps{nullptr}; //!< of the part
        const ProgramTemplate::Place* places{nullptr};
        const Rank* ranks{nullptr};      //!< of the group
        std::vector<uint32_t> pending;   //!< per step, see ProgramTemplate::GetPending
        std::vector<uint32_t> stepsLeft; //!< per place, of the program's
        std::vector<uint32_t> bundles;   //!< per step that receives; only of a BundleNetwork
        std::vector<uint64_t> sentAt;    //!< per place: when its last SEND is done; likewise [ps]
    };

    /// A step of a running part.
    struct StepRef
    {
        uint32_t task;
        uint32_t step;
    };

    /**
     * Start a part of a chunk.
     *
     * @param what which one
     * @param collective its collective; must outlive the task
     * @param program the template of its program; must outlive the task
     * @return its task, or NONE if there are MAX_TASKS already
     */
    uint32_t Start(const ChunkPart& what,
                   const Collective& collective,
                   const ProgramTemplate& program);

    /**
     * A part is done: no step and no message refers to it any more.
     *
     * @param id its task
     */
    void Release(uint32_t id)
    {
        ++m_tasks[id].generation;
        m_tasks.Return(id);
    }

    /// @return a task
    Task& Get(uint32_t id)
    {
        return m_tasks[id];
    }

    /**
     * @param task a task
     * @param step the step of it that receives
     * @return the tag of the message
     */
    uint64_t GetTag(uint32_t task, uint32_t step) const
    {
        return static_cast<uint64_t>(task) << TASK_SHIFT |
               static_cast<uint64_t>(m_tasks[task].generation & GENERATION_MASK)
                   << GENERATION_SHIFT |
               step;
    }

    /// @return the step that receives a message, as its tag says; see IsAwaited
    static StepRef GetReceiver(uint64_t tag)
    {
        return {static_cast<uint32_t>(tag >> TASK_SHIFT), static_cast<uint32_t>(tag)};
    }

    /**
     * @param src the sending rank
     * @param dst the receiving rank
     * @param tag the tag of a message
     * @return whether the step that the tag names waits for this message (or for another to the
     * same rank, if it receives several)
     */
    bool IsAwaited(Rank src, Rank dst, uint64_t tag) const
    {
        const StepRef receiver = GetReceiver(tag);
        if (receiver.task >= m_tasks.GetSlots().size())
        {
            return false;
        }
        const Task& task = m_tasks[receiver.task];
        const uint32_t step = receiver.step;
        const auto generation = static_cast<uint32_t>(tag >> GENERATION_SHIFT) & GENERATION_MASK;
        return task.membersLeft != 0 && (task.generation & GENERATION_MASK) == generation &&
               step < task.pending.size() && task.pending[step] >= ProgramTemplate::ONE_MESSAGE &&
               task.ranks[task.steps[step].member] == dst &&
               (task.ranks[task.steps[step].peer] == src || task.steps[step].steps != 1);
    }

    /**
     * Say how far a member is with a running chunk.
     *
     * @param collective the id of a collective
     * @param member a member of its group
     * @return part of a sentence, or nothing if the member has none
     */
    std::string Describe(uint32_t collective, uint32_t member) const;

  private:
    static constexpr int TASK_SHIFT = 44;
    static constexpr int GENERATION_SHIFT = 32;
    static constexpr uint32_t GENERATION_MASK = 0xfff;
    static_assert(MAX_TASKS == std::size_t{1} << (64 - TASK_SHIFT));

    static std::string DescribePlace(const Task& task, uint32_t place);

    SlotPool<Task, std::deque<Task>> m_tasks;
};

} // namespace cosim

#endif // COSIM_TASK_TABLE_H
