/*
 * SPDX-License-Identifier: GPL-2.0-only
 */

#ifndef COSIM_TASK_TABLE_H
#define COSIM_TASK_TABLE_H

#include "network/network-api.h"
#include "stream/stream.h"
#include "support/slot-pool.h"
#include "system/admission.h"
#include "system/program-template.h"
#include "system/step-states.h"

#include <cstddef>
#include <cstdint>
#include <string>
#include <unordered_map>
#include <vector>

namespace cosim
{

/**
 * The running parts of chunks, and the tags of their messages.
 *
 * A tag identifies the step that receives the message. It combines the slot of the running part,
 * the generation of the slot, and the step, so the receiver of an arrived message is found by
 * index. A pool reuses the memory of parts and of the pages of their steps' states.
 */
class TaskTable
{
  public:
    static constexpr uint32_t NONE = ProgramTemplate::NONE;

    /// The largest number of parts that can run at the same time.
    static constexpr std::size_t MAX_TASKS = std::size_t{1} << 20;

    /// A running part of a chunk. The pool reuses the slots of tasks.
    struct Task
    {
        ChunkPart what;
        uint32_t generation{0}; //!< number of parts that have used the slot before
        uint32_t membersLeft{0};
        uint32_t toAdmit{0}; //!< number of members that have not been admitted
        ProgramTemplate::UnitSize unitSize{};
        const ProgramTemplate* program{nullptr};
        const PartShape* shape{nullptr}; //!< steps of the part
        uint32_t firstUnit{0};           //!< added to the addresses of the shape
        uint32_t firstOrder{0};          //!< added to the places in the program of its steps
        const ProgramTemplate::Place* places{nullptr};
        const Rank* ranks{nullptr}; //!< ranks of the group
        StepStates states;
        std::vector<uint32_t> stepsLeft; //!< per place: number of program steps that are not done
        std::vector<bool> isAdmitted;    //!< per place
        std::vector<uint64_t> sentAt;    //!< per place: time at which its last SEND step is done;
                                         //!< used only with a BundleNetwork [ps]

        /// @return whether a step waits for nothing
        bool IsReady(uint32_t step) const
        {
            return states.GetPending(step) == 0 &&
                   (!shape->GetStep(step).isRoot || isAdmitted[shape->GetPlace(step)]);
        }

        /// @return the member of the group at a place
        uint32_t GetMember(uint32_t place) const
        {
            return places[place].member;
        }

        /// @return the rank at a place
        Rank GetRank(uint32_t place) const
        {
            return ranks[places[place].member];
        }

        /// @return the size of units of a step [bytes]
        uint64_t GetBytes(const PartShape::Address& first, uint32_t turn, uint32_t count) const
        {
            return unitSize.rest == 0 ? unitSize.whole * count
                                      : program->GetBytes(unitSize,
                                                          firstUnit + shape->GetUnit(first, turn),
                                                          count);
        }
    };

    /// A step of a running part.
    struct StepRef
    {
        uint32_t task;
        uint32_t step;
    };

    /**
     * Admit members to a part of a chunk. The first of them starts the task.
     *
     * @param what the part
     * @param collective the collective; must outlive the task
     * @param program the template of the collective's program; must outlive the task
     * @param placeBegin the first member that is admitted, as an index in the template's places
     * @param placeEnd the end of the members
     * @return the id of the task, or NONE if MAX_TASKS tasks are already running
     */
    uint32_t Admit(const ChunkPart& what,
                   const Collective& collective,
                   const ProgramTemplate& program,
                   uint32_t placeBegin,
                   uint32_t placeEnd);

    /**
     * Release a task. Call it when no step and no message refers to the task any more.
     *
     * @param id id of the task
     */
    void Release(uint32_t id)
    {
        ++m_tasks[id].generation;
        m_tasks.Return(id);
    }

    /// @return a running task
    Task& Get(uint32_t id)
    {
        return m_tasks[id];
    }

    /**
     * @param task id of a task
     * @param step a receiving step of the task
     * @return the tag of the messages that the step receives
     */
    uint64_t GetTag(uint32_t task, uint32_t step) const
    {
        return static_cast<uint64_t>(task) << TASK_SHIFT |
               static_cast<uint64_t>(m_tasks[task].generation & GENERATION_MASK)
                   << GENERATION_SHIFT |
               step;
    }

    /// @return the step that a tag names; the step waits for the message only if IsAwaited
    static StepRef GetReceiver(uint64_t tag)
    {
        return {static_cast<uint32_t>(tag >> TASK_SHIFT), static_cast<uint32_t>(tag)};
    }

    /**
     * Check an arrived message against the step that its tag names.
     *
     * @param src the sending rank
     * @param dst the receiving rank
     * @param tag tag of the message
     * @return true if the step waits for this message. If the step receives several messages, only
     * the receiving rank is checked.
     */
    bool IsAwaited(Rank src, Rank dst, uint64_t tag) const
    {
        const StepRef receiver = GetReceiver(tag);
        if (receiver.task >= m_tasks.GetCount())
        {
            return false;
        }
        const Task& task = m_tasks[receiver.task];
        const uint32_t step = receiver.step;
        const auto generation = static_cast<uint32_t>(tag >> GENERATION_SHIFT) & GENERATION_MASK;
        if (task.membersLeft == 0 || (task.generation & GENERATION_MASK) != generation ||
            !task.shape->GetIds().Has(step) ||
            task.states.GetPending(step) < PartShape::ONE_MESSAGE)
        {
            return false;
        }
        const PartShape::Step& awaiting = task.shape->GetStep(step);
        const uint32_t turn = task.shape->GetTurn(step);
        return task.GetRank(task.shape->GetPlace(step)) == dst &&
               (awaiting.steps != 1 ||
                task.GetRank(task.shape->GetPeer(awaiting.peer, turn)) == src);
    }

    /// @return the state of a step of a running part that is not done
    StepStates::State& GetState(Task& task, uint32_t step)
    {
        return task.states.Get(step, m_spare);
    }

    /// Record that a step waits for one other step less.
    void Advance(Task& task, uint32_t step)
    {
        task.states.Advance(step, m_spare);
    }

    /// Record that a step is ready: its state is not needed any more.
    void Finish(Task& task, uint32_t step)
    {
        task.states.Finish(step, m_spare);
    }

    /**
     * Describe the progress of a member in the running part of a collective.
     *
     * @param collective id of the collective
     * @param member index of a member in its group
     * @return part of a sentence; empty if no part of the member runs
     */
    std::string Describe(uint32_t collective, uint32_t member) const;

  private:
    static constexpr int TASK_SHIFT = 44;
    static constexpr int GENERATION_SHIFT = 32;
    static constexpr uint32_t GENERATION_MASK = 0xfff;
    static_assert(MAX_TASKS == std::size_t{1} << (64 - TASK_SHIFT));

    /// The hash of a part of a chunk.
    struct Hash
    {
        std::size_t operator()(const ChunkPart& part) const;
    };

    uint32_t Start(const ChunkPart& what,
                   const Collective& collective,
                   const ProgramTemplate& program);
    static std::string DescribePlace(const Task& task, uint32_t place);

    SlotPool<Task> m_tasks;
    StepStates::Spare m_spare; //!< memory for the states of steps
    /// the tasks that some members have been admitted to, and others have not
    std::unordered_map<ChunkPart, uint32_t, Hash> m_partial;
};

} // namespace cosim

#endif // COSIM_TASK_TABLE_H
