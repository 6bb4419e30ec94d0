/*
 * SPDX-License-Identifier: GPL-2.0-only
 */

#include "system/collective-progress.h"

#include <algorithm>
#include <sstream>

namespace cosim
{

CollectiveProgress::CollectiveProgress(std::size_t collectives,
                                       const CollectivePlans& plans,
                                       ChunkScheduler& scheduler)
    : m_plans(plans),
      m_scheduler(scheduler),
      m_running(collectives)
{
}

bool
CollectiveProgress::Issue(uint32_t collective, uint32_t member)
{
    Running& running = GetRunning(collective);
    running.issued[member] = true;
    const uint32_t part = m_plans.GetProgram(collective).GetFirstPart(member);
    if (part == NONE)
    {
        running.chunksLeft[member] = 1;
        return false;
    }
    ReachFirst(collective, part);
    return true;
}

CollectiveProgress::Running&
CollectiveProgress::GetRunning(uint32_t collective)
{
    if (!m_running[collective])
    {
        m_running[collective] = std::make_unique<Running>();
        const Collective& what = m_plans.GetCollective(collective);
        Running& running = *m_running[collective];
        running.issue = m_issues++;
        running.issued.resize(what.ranks.size());
        running.chunksLeft.assign(what.ranks.size(), what.chunks);
        running.reached.resize(m_plans.GetProgram(collective).GetParts().size());
    }
    return *m_running[collective];
}

void
CollectiveProgress::ReachFirst(uint32_t collective, uint32_t part)
{
    Running& running = *m_running[collective];
    const ProgramTemplate::Part& first = m_plans.GetPart(collective, part);
    const uint32_t members = first.memberEnd - first.memberBegin;
    const uint32_t reached = ++running.reached[part];
    if (first.firsts == members)
    {
        if (reached == members)
        {
            Enqueue(collective, part, 0, m_plans.GetCollective(collective).chunks);
        }
        return;
    }
    // The other members reach this part from earlier phases. Check the chunks in which some have
    // done so.
    for (uint32_t chunk = 0; chunk < running.chunks.size(); ++chunk)
    {
        const uint32_t id = running.chunks[chunk];
        if (id != NONE && m_chunks[id].reached[part] + reached == members)
        {
            Count(collective, chunk, part);
        }
    }
}

void
CollectiveProgress::Reach(uint32_t collective, uint32_t chunk, uint32_t part)
{
    ++GetChunk(collective, chunk).reached[part];
    Count(collective, chunk, part);
}

CollectiveProgress::ChunkProgress&
CollectiveProgress::GetChunk(uint32_t collective, uint32_t chunk)
{
    Running& running = *m_running[collective];
    if (running.chunks.empty())
    {
        running.chunks.assign(m_plans.GetCollective(collective).chunks, NONE);
    }
    uint32_t& id = running.chunks[chunk];
    if (id == NONE)
    {
        id = m_chunks.Take();
        const auto& parts = m_plans.GetProgram(collective).GetParts();
        ChunkProgress& progress = m_chunks[id];
        progress.reached.assign(parts.size(), 0);
        progress.partsLeft = static_cast<uint32_t>(
            std::count_if(parts.begin(), parts.end(), [](const ProgramTemplate::Part& part) {
                return part.firsts != part.memberEnd - part.memberBegin;
            }));
    }
    return m_chunks[id];
}

void
CollectiveProgress::Count(uint32_t collective, uint32_t chunk, uint32_t part)
{
    Running& running = *m_running[collective];
    const ProgramTemplate::Part& what = m_plans.GetPart(collective, part);
    ChunkProgress& progress = GetChunk(collective, chunk);
    if (progress.reached[part] + running.reached[part] == what.memberEnd - what.memberBegin)
    {
        if (--progress.partsLeft == 0)
        {
            m_chunks.Return(running.chunks[chunk]);
            running.chunks[chunk] = NONE;
        }
        Enqueue(collective, part, chunk, 1);
    }
}

void
CollectiveProgress::Enqueue(uint32_t collective, uint32_t part, uint32_t chunk, uint32_t count)
{
    m_scheduler.Enqueue(m_plans.GetLane(collective, part),
                        m_plans.GetCollective(collective).priorityClass,
                        m_running[collective]->issue,
                        m_plans.GetPart(collective, part).phase,
                        {collective, part, chunk},
                        count);
}

bool
CollectiveProgress::FinishChunk(uint32_t collective, uint32_t member)
{
    Running& running = *m_running[collective];
    if (--running.chunksLeft[member] != 0)
    {
        return false;
    }
    if (++running.membersDone == running.issued.size())
    {
        m_running[collective].reset();
    }
    return true;
}

std::string
CollectiveProgress::Describe(uint32_t collective, uint32_t member) const
{
    if (!m_running[collective])
    {
        return {};
    }
    const Running& running = *m_running[collective];
    const Collective& what = m_plans.GetCollective(collective);
    std::ostringstream text;
    text << ": " << what.chunks - running.chunksLeft[member] << " of " << what.chunks
         << " chunks done";
    const auto missing = std::count(running.issued.begin(), running.issued.end(), false);
    if (missing != 0)
    {
        const auto first = std::find(running.issued.begin(), running.issued.end(), false);
        text << ", not issued by " << missing << " of " << what.ranks.size()
             << " ranks, the first of them rank "
             << what.ranks[static_cast<std::size_t>(first - running.issued.begin())];
    }
    return text.str();
}

} // namespace cosim
