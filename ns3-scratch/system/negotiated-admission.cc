/*
 * SPDX-License-Identifier: GPL-2.0-only
 */

#include "system/negotiated-admission.h"

#include <algorithm>
#include <utility>

namespace cosim
{

NegotiatedAdmission::NegotiatedAdmission(const Stream& stream,
                                         const CollectivePlans& plans,
                                         AdmissionHandler& handler)
    : m_topology(stream.topology),
      m_plans(plans),
      m_pools(stream, plans),
      m_handler(handler),
      m_scheduler(stream.topology.ranks, m_pools.GetLimits(), stream.settings.system, *this),
      m_running(stream.collectives.size())
{
    for (const CollectivePlans::Placement& placement : plans.GetPlacements())
    {
        std::vector<uint32_t>& lanes = m_lanes.emplace_back();
        for (const ProgramTemplate::Part& part : placement.program->GetParts())
        {
            std::vector<Rank> ranks;
            for (uint32_t p = part.memberBegin; p < part.memberEnd; ++p)
            {
                const Rank rank = (*placement.ranks)[placement.program->GetPlaces()[p].member];
                if (m_topology.IsRank(rank))
                {
                    ranks.push_back(rank);
                }
            }
            lanes.push_back(m_scheduler.GetLane(m_pools.GetPool(part), std::move(ranks)));
        }
    }
}

void
NegotiatedAdmission::Begin(uint32_t collective, uint32_t member)
{
    Running& running = GetRunning(collective);
    const ProgramTemplate& program = m_plans.GetProgram(collective);
    const uint32_t part = program.GetPlaces()[program.GetFirstPlace(member)].part;
    const ProgramTemplate::Part& first = program.GetParts()[part];
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
    const std::vector<uint32_t> chunks = running.chunks; // Count may change it
    for (uint32_t chunk = 0; chunk < chunks.size(); ++chunk)
    {
        const uint32_t id = chunks[chunk];
        if (id != NONE && m_chunks[id].reached[part] + reached == members)
        {
            Count(collective, chunk, part);
        }
    }
}

NegotiatedAdmission::Running&
NegotiatedAdmission::GetRunning(uint32_t collective)
{
    if (!m_running[collective])
    {
        m_running[collective] = std::make_unique<Running>();
        Running& running = *m_running[collective];
        const std::size_t parts = m_plans.GetProgram(collective).GetParts().size();
        running.issue = m_issues++;
        running.toQueue = uint64_t{m_plans.GetCollective(collective).chunks} * parts;
        running.reached.resize(parts);
    }
    return *m_running[collective];
}

void
NegotiatedAdmission::Reach(uint32_t collective, uint32_t chunk, uint32_t place)
{
    const uint32_t part = m_plans.GetProgram(collective).GetPlaces()[place].part;
    ++GetChunk(collective, chunk).reached[part];
    Count(collective, chunk, part);
}

NegotiatedAdmission::ChunkProgress&
NegotiatedAdmission::GetChunk(uint32_t collective, uint32_t chunk)
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
NegotiatedAdmission::Count(uint32_t collective, uint32_t chunk, uint32_t part)
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
NegotiatedAdmission::Enqueue(uint32_t collective, uint32_t part, uint32_t chunk, uint32_t count)
{
    Running& running = *m_running[collective];
    const uint32_t issue = running.issue;
    running.toQueue -= count;
    if (running.toQueue == 0)
    {
        m_running[collective].reset();
    }
    m_scheduler.Enqueue(m_lanes[m_plans.GetPlacement(collective)][part],
                        m_plans.GetCollective(collective).priorityClass,
                        issue,
                        m_plans.GetPart(collective, part).phase,
                        {collective, part, chunk},
                        count);
}

void
NegotiatedAdmission::StartPart(const ChunkPart& part)
{
    const ProgramTemplate::Part& what = m_plans.GetPart(part.collective, part.part);
    m_handler.OnAdmitted(part, what.memberBegin, what.memberEnd);
}

/// Members start together, so the data of one does not matter.
void
NegotiatedAdmission::NoteData(const ChunkPart& /* part */, uint32_t /* place */)
{
}

void
NegotiatedAdmission::Leave(const ChunkPart& part, uint32_t place)
{
    const uint32_t member = m_plans.GetProgram(part.collective).GetPlaces()[place].member;
    const Rank rank = m_plans.GetCollective(part.collective).ranks[member];
    if (m_topology.IsRank(rank))
    {
        m_scheduler.Release(rank, m_pools.GetPool(m_plans.GetPart(part.collective, part.part)));
    }
}

uint32_t
NegotiatedAdmission::GetMaxOutstanding(uint32_t dimension) const
{
    uint32_t most = 0;
    for (uint32_t pool = 0; pool < m_pools.GetLimits().size(); ++pool)
    {
        if (m_pools.GetDimension(pool) == dimension)
        {
            most = std::max(most, m_scheduler.GetMaxOutstanding(pool));
        }
    }
    return most;
}

std::string
NegotiatedAdmission::DescribeDeadlock() const
{
    return {}; // a part takes the slots of all its members or none, so slots cannot block a run
}

} // namespace cosim
