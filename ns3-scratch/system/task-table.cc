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
    task.sentAt.assign(task.membersLeft, 0);
    task.unitSize =
        program.GetUnitSize(GetChunkBytes(collective.bytes, collective.chunks, what.chunk));
    task.program = &program;
    task.shape = &program.GetShape(part);
    task.firstUnit = part.firstUnit;
    task.firstOrder = part.firstOrder;
    task.places = program.GetPlaces().data() + part.memberBegin;
    task.ranks = collective.ranks.data();
    task.states.Begin(task.shape->GetPending().data(), task.shape->GetIds());
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
    for (uint32_t id = 0; id < m_tasks.GetCount(); ++id)
    {
        const Task& task = m_tasks[id];
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
    const StepIds& ids = task.shape->GetIds();
    for (uint32_t step = 0; step < ids.GetEnd(); ++step)
    {
        const uint32_t pending = ids.Has(step) ? task.states.GetPending(step) : 0;
        if (pending != 0 && pending % PartShape::ONE_MESSAGE == 0 &&
            task.shape->GetPlace(step) == place)
        {
            const PartShape::Step& waiting = task.shape->GetStep(step);
            text << ", waiting for ";
            if (waiting.steps == 1)
            {
                text << "rank "
                     << task.GetRank(task.shape->GetPeer(waiting.peer, task.shape->GetTurn(step)));
            }
            else
            {
                text << pending / PartShape::ONE_MESSAGE << " of " << waiting.steps << " messages";
            }
            break;
        }
    }
    return text.str();
}

} // namespace cosim
