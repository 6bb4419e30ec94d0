/*
 * SPDX-License-Identifier: GPL-2.0-only
 */

#include "system/local-admission.h"

#include "support/number-ranges.h"

#include <algorithm>
#include <set>
#include <sstream>

namespace cosim
{

LocalAdmission::LocalAdmission(const Stream& stream,
                               const CollectivePlans& plans,
                               AdmissionHandler& handler)
    : m_topology(stream.topology),
      m_plans(plans),
      m_pools(stream, plans),
      m_handler(handler),
      m_issues(m_topology.GetEndpoints()),
      m_maxOutstanding(m_topology.dimensions.size())
{
    const SystemSettings& settings = stream.settings.system;
    m_queues.reserve(m_pools.GetLimits().size() * m_topology.GetEndpoints());
    for (const uint32_t slots : m_pools.GetLimits())
    {
        m_queues.insert(m_queues.end(), m_topology.ranks, ChunkQueue(slots, settings.scheduling));
        m_queues.insert(m_queues.end(), // switches that reduce have no slots
                        m_topology.GetEndpoints() - m_topology.ranks,
                        ChunkQueue(UINT32_MAX, settings.scheduling));
    }
}

void
LocalAdmission::Begin(uint32_t collective, uint32_t member)
{
    const Collective& what = m_plans.GetCollective(collective);
    const ProgramTemplate& program = m_plans.GetProgram(collective);
    const uint32_t issue = m_issues[what.ranks[member]]++;
    const uint32_t first = program.GetFirstPlace(member);
    std::set<uint32_t> pools;
    for (uint32_t place = first; place != ProgramTemplate::NONE;
         place = program.GetPlaces()[place].next)
    {
        pools.insert(GetPool(collective, place));
    }
    for (const uint32_t pool : pools)
    {
        GetQueue(pool, what.ranks[member]).Add(collective, what.chunks, what.priorityClass, issue);
    }
    ChunkQueue& queue = GetQueue(collective, program.GetPlaces()[first]);
    const uint32_t part = program.GetPlaces()[first].part;
    queue.Wait(collective, 0, what.chunks, program.GetParts()[part].phase, first);
    Start(queue);
}

void
LocalAdmission::Reach(uint32_t collective, uint32_t chunk, uint32_t place)
{
    const ProgramTemplate::Place& what = GetPlace(collective, place);
    ChunkQueue& queue = GetQueue(collective, what);
    queue.Wait(collective, chunk, 1, m_plans.GetPart(collective, what.part).phase, place);
    Start(queue);
}

void
LocalAdmission::NoteData(const ChunkPart& part, uint32_t place)
{
    GetQueue(part.collective, GetPlace(part.collective, place))
        .NoteData(part.collective, part.chunk, place);
}

void
LocalAdmission::Leave(const ChunkPart& part, uint32_t place)
{
    ChunkQueue& queue = GetQueue(part.collective, GetPlace(part.collective, place));
    queue.Leave(part.collective, part.chunk, ReturnsTo(part.collective, place));
    Start(queue);
}

/// @return true if a member comes back to the slots of this place in a later phase
bool
LocalAdmission::ReturnsTo(uint32_t collective, uint32_t place) const
{
    const ProgramTemplate& program = m_plans.GetProgram(collective);
    const uint32_t pool = GetPool(collective, place);
    uint32_t later = program.GetPlaces()[place].next;
    while (later != ProgramTemplate::NONE && GetPool(collective, later) != pool)
    {
        later = program.GetPlaces()[later].next;
    }
    return later != ProgramTemplate::NONE;
}

void
LocalAdmission::Start(ChunkQueue& queue)
{
    while (const auto next = queue.TakeNext())
    {
        const uint32_t part = GetPlace(next->collective, next->place).part;
        uint32_t& most = m_maxOutstanding[m_plans.GetPart(next->collective, part).dimension];
        most = std::max(most, queue.GetTaken());
        m_handler.OnAdmitted({next->collective, part, next->chunk}, next->place, next->place + 1);
    }
}

const ProgramTemplate::Place&
LocalAdmission::GetPlace(uint32_t collective, uint32_t place) const
{
    return m_plans.GetProgram(collective).GetPlaces()[place];
}

uint32_t
LocalAdmission::GetPool(uint32_t collective, uint32_t place) const
{
    return m_pools.GetPool(m_plans.GetPart(collective, GetPlace(collective, place).part));
}

ChunkQueue&
LocalAdmission::GetQueue(uint32_t pool, Rank rank)
{
    return m_queues[std::size_t{pool} * m_topology.GetEndpoints() + rank];
}

ChunkQueue&
LocalAdmission::GetQueue(uint32_t collective, const ProgramTemplate::Place& place)
{
    return GetQueue(m_pools.GetPool(m_plans.GetPart(collective, place.part)),
                    m_plans.GetCollective(collective).ranks[place.member]);
}

uint32_t
LocalAdmission::GetMaxOutstanding(uint32_t dimension) const
{
    return m_maxOutstanding[dimension];
}

std::string
LocalAdmission::DescribeDeadlock() const
{
    std::ostringstream text;
    for (uint32_t pool = 0; pool < m_pools.GetLimits().size(); ++pool)
    {
        std::vector<Rank> ranks;
        std::set<uint32_t> collectives;
        for (Rank rank = 0; rank < m_topology.ranks; ++rank)
        {
            const ChunkQueue& queue =
                m_queues[std::size_t{pool} * m_topology.GetEndpoints() + rank];
            if (queue.IsWaiting())
            {
                ranks.push_back(rank);
                collectives.merge(queue.GetCollectives());
            }
        }
        if (!ranks.empty())
        {
            text << (text.tellp() == 0 ? "the slots" : ", and those") << " of "
                 << m_pools.Describe(m_topology, pool) << " on ranks " << DescribeRanges(ranks)
                 << " are taken by chunks of collectives "
                 << DescribeRanges({collectives.begin(), collectives.end()})
                 << " that wait for each other";
        }
    }
    if (text.tellp() != 0)
    {
        text << " because the ranks issue these collectives in different orders; let all ranks "
                "issue them in the same order, raise system.concurrent_chunks, or set "
                "system.admission to negotiated";
    }
    return text.str();
}

} // namespace cosim
