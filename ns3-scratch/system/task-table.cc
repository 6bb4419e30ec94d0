/*
 * SPDX-License-Identifier: GPL-2.0-only
 */

#include "system/task-table.h"

#include <sstream>

namespace cosim
{

std::size_t
TaskTable::Hash::operator()(const ChunkPart& part) const
{
    uint64_t hash = uint64_t{part.collective} << 32 | part.chunk;
    hash = (hash ^ uint64_t{part.part} << 24) * 0x9e3779b97f4a7c15U;
    return hash ^ hash >> 32;
}

uint32_t
TaskTable::Admit(const ChunkPart& what,
                 const Collective& collective,
                 const ProgramTemplate& program,
                 uint32_t placeBegin,
                 uint32_t placeEnd)
{
    const auto known = m_partial.find(what);
    const bool isNew = known == m_partial.end();
    const uint32_t id = isNew ? Start(what, collective, program) : known->second;
    if (id == NONE)
    {
        return NONE;
    }
    Task& task = m_tasks[id];
    const uint32_t first = program.GetParts()[what.part].memberBegin;
    for (uint32_t place = placeBegin; place < placeEnd; ++place)
    {
        task.isAdmitted[place - first] = true;
    }
    task.toAdmit -= placeEnd - placeBegin;
    if (isNew && task.toAdmit != 0)
    {
        m_partial.emplace(what, id);
    }
    else if (!isNew && task.toAdmit == 0)
    {
        m_partial.erase(known);
    }
    return id;
}

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
    task.toAdmit = task.membersLeft;
    task.isAdmitted.assign(task.membersLeft, false);
    task.bundles.clear();
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
            if (task.places[place].member == member && task.isAdmitted[place] &&
                task.stepsLeft[place] != 0)
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
