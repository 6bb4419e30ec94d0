/*
 * SPDX-License-Identifier: GPL-2.0-only
 */

#include "system/task-table.h"

#include <sstream>

namespace cosim
{

uint32_t
TaskTable::Start(const ChunkPart& what,
                 const Collective& collective,
                 const ProgramTemplate& program)
{
    if (m_tasks.GetTaken() == MAX_TASKS)
    {
        return NONE;
    }
    const uint32_t id = m_tasks.Take();
    const ProgramTemplate::Part& part = program.GetParts()[what.part];
    Task& task = m_tasks[id];
    task.what = what;
    task.membersLeft = part.memberEnd - part.memberBegin;
    task.unitSize =
        program.GetUnitSize(GetChunkBytes(collective.bytes, collective.chunks, what.chunk));
    task.program = &program;
    task.steps = program.GetSteps().data() + part.stepBegin;
    task.places = program.GetPlaces().data() + part.memberBegin;
    task.ranks = collective.ranks.data();
    const uint32_t* pending = program.GetPending().data();
    task.pending.assign(pending + part.stepBegin, pending + part.stepEnd);
    task.stepsLeft.resize(task.membersLeft);
    for (uint32_t place = 0; place < task.membersLeft; ++place)
    {
        task.stepsLeft[place] = task.places[place].steps;
    }
    return id;
}

std::string
TaskTable::Describe(uint32_t collective, uint32_t member) const
{
    for (const Task& task : m_tasks.GetSlots())
    {
        if (task.membersLeft == 0 || task.what.collective != collective)
        {
            continue;
        }
        for (uint32_t place = 0; place < task.stepsLeft.size(); ++place)
        {
            if (task.places[place].member == member && task.stepsLeft[place] != 0)
            {
                return DescribePlace(task, place);
            }
        }
    }
    return {};
}

std::string
TaskTable::DescribePlace(const Task& task, uint32_t place)
{
    std::ostringstream text;
    const uint32_t steps = task.places[place].steps;
    text << ", chunk " << task.what.chunk << " with " << steps - task.stepsLeft[place] << " of "
         << steps << " steps done in phase " << task.program->GetParts()[task.what.part].phase;
    for (uint32_t step = 0; step < task.pending.size(); ++step)
    {
        const uint32_t pending = task.pending[step];
        if (task.steps[step].place == place && pending != 0 &&
            pending % ProgramTemplate::ONE_MESSAGE == 0)
        {
            const uint32_t messages = pending / ProgramTemplate::ONE_MESSAGE;
            text << ", waiting for ";
            if (task.steps[step].steps == 1)
            {
                text << "rank " << task.ranks[task.steps[step].peer];
            }
            else
            {
                text << messages << " of " << task.steps[step].steps << " messages";
            }
            break;
        }
    }
    return text.str();
}

} // namespace cosim
