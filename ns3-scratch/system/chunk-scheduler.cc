/*
 * SPDX-License-Identifier: GPL-2.0-only
 */

#include "system/chunk-scheduler.h"

#include <algorithm>
#include <functional>
#include <utility>

namespace cosim
{

ChunkScheduler::ChunkScheduler(uint32_t ranks,
                               const std::vector<uint32_t>& limits,
                               const SystemSettings& settings,
                               ChunkStarter& starter)
    : m_ranks(ranks),
      m_lifo(settings.scheduling == Scheduling::LIFO),
      m_byArrival(settings.chunkOrder == ChunkOrder::ARRIVAL),
      m_limits(limits),
      m_maxOutstanding(m_limits.size()),
      m_starter(starter),
      m_slots(m_limits.size() * ranks)
{
    for (uint32_t pool = 0; pool < m_limits.size(); ++pool)
    {
        for (Rank rank = 0; rank < ranks; ++rank)
        {
            At(pool, rank).free = m_limits[pool];
        }
    }
}

uint32_t
ChunkScheduler::GetLane(uint32_t pool, std::vector<Rank> ranks)
{
    std::sort(ranks.begin(), ranks.end());
    const auto id = static_cast<uint32_t>(m_lanes.size());
    const auto [known, isNew] = m_laneIds.try_emplace({pool, std::move(ranks)}, id);
    if (isNew)
    {
        Lane& lane = m_lanes.emplace_back();
        lane.pool = pool;
        lane.ranks = known->first.second;
        for (const Rank rank : lane.ranks)
        {
            Slots& slots = At(pool, rank);
            slots.lanes.push_back(id);
            lane.full += slots.free == 0;
        }
        m_clustered = false;
    }
    return known->second;
}

void
ChunkScheduler::Enqueue(uint32_t lane,
                        uint32_t priorityClass,
                        uint32_t issue,
                        uint32_t phase,
                        const ChunkPart& first,
                        uint32_t count)
{
    if (!m_clustered)
    {
        FormClusters();
    }
    std::vector<Waiting>& queue = m_lanes[lane].queue;
    queue.push_back({priorityClass,
                     m_lifo ? ~issue : issue,
                     m_byArrival ? m_arrivals++ : 0,
                     first.chunk,
                     ~phase,
                     first.collective,
                     first.part,
                     count});
    std::push_heap(queue.begin(), queue.end(), std::greater<>());
    Scan(m_lanes[lane].cluster);
}

void
ChunkScheduler::Release(Rank rank, uint32_t pool)
{
    Slots& slots = At(pool, rank);
    if (++slots.free == 1)
    {
        for (const uint32_t lane : slots.lanes)
        {
            --m_lanes[lane].full;
        }
    }
    for (const uint32_t lane : slots.lanes)
    {
        if (m_lanes[lane].full == 0 && !m_lanes[lane].queue.empty())
        {
            Scan(m_lanes[lane].cluster);
            return; // all lanes of a rank belong to the same cluster
        }
    }
}

uint32_t
ChunkScheduler::GetMaxOutstanding(uint32_t pool) const
{
    return m_maxOutstanding[pool];
}

ChunkScheduler::Slots&
ChunkScheduler::At(uint32_t pool, Rank rank)
{
    return m_slots[std::size_t{pool} * m_ranks + rank];
}

void
ChunkScheduler::FormClusters()
{
    m_clustered = true;
    m_clusters.clear();
    std::vector<bool> seen(m_lanes.size());
    for (uint32_t start = 0; start < m_lanes.size(); ++start)
    {
        if (seen[start])
        {
            continue;
        }
        std::vector<uint32_t> cluster{start};
        seen[start] = true;
        for (std::size_t i = 0; i < cluster.size(); ++i)
        {
            Lane& lane = m_lanes[cluster[i]];
            lane.cluster = static_cast<uint32_t>(m_clusters.size());
            for (const Rank rank : lane.ranks)
            {
                for (const uint32_t other : At(lane.pool, rank).lanes)
                {
                    if (!seen[other])
                    {
                        seen[other] = true;
                        cluster.push_back(other);
                    }
                }
            }
        }
        std::sort(cluster.begin(), cluster.end());
        m_clusters.push_back(std::move(cluster));
    }
}

void
ChunkScheduler::Scan(uint32_t cluster)
{
    const std::vector<uint32_t>& lanes = m_clusters[cluster];
    if (lanes.size() > 1)
    {
        ScanShared(lanes);
        return;
    }
    Lane& lane = m_lanes[lanes.front()];
    while (lane.full == 0 && !lane.queue.empty())
    {
        StartFirst(lane);
    }
}

void
ChunkScheduler::ScanShared(const std::vector<uint32_t>& lanes)
{
    // The first entry of each lane, with the smallest entry at the front. Starting a part only
    // takes slots, so a lane that could not start before cannot start afterwards. One pass is
    // therefore enough.
    std::vector<std::pair<Waiting, uint32_t>> heads;
    for (const uint32_t id : lanes)
    {
        if (!m_lanes[id].queue.empty())
        {
            heads.emplace_back(m_lanes[id].queue.front(), id);
        }
    }
    std::make_heap(heads.begin(), heads.end(), std::greater<>());
    std::vector<uint32_t> keeping;
    while (!heads.empty())
    {
        std::pop_heap(heads.begin(), heads.end(), std::greater<>());
        const uint32_t id = heads.back().second;
        heads.pop_back();
        Lane& lane = m_lanes[id];
        if (CanStart(lane))
        {
            StartFirst(lane);
            if (!lane.queue.empty())
            {
                heads.emplace_back(lane.queue.front(), id);
                std::push_heap(heads.begin(), heads.end(), std::greater<>());
            }
            continue;
        }
        keeping.push_back(id);
        for (const Rank rank : lane.ranks)
        {
            ++At(lane.pool, rank).kept;
        }
    }
    for (const uint32_t id : keeping)
    {
        for (const Rank rank : m_lanes[id].ranks)
        {
            At(m_lanes[id].pool, rank).kept = 0;
        }
    }
}

bool
ChunkScheduler::CanStart(const Lane& lane)
{
    return lane.full == 0 &&
           std::all_of(lane.ranks.begin(), lane.ranks.end(), [this, &lane](Rank rank) {
               const Slots& slots = At(lane.pool, rank);
               return slots.free > slots.kept;
           });
}

void
ChunkScheduler::StartFirst(Lane& lane)
{
    const Waiting first = lane.queue.front();
    std::pop_heap(lane.queue.begin(), lane.queue.end(), std::greater<>());
    if (first.count > 1)
    {
        Waiting& rest = lane.queue.back();
        ++rest.chunk;
        --rest.count;
        std::push_heap(lane.queue.begin(), lane.queue.end(), std::greater<>());
    }
    else
    {
        lane.queue.pop_back();
    }
    for (const Rank rank : lane.ranks)
    {
        Slots& slots = At(lane.pool, rank);
        if (--slots.free == 0)
        {
            for (const uint32_t other : slots.lanes)
            {
                ++m_lanes[other].full;
            }
        }
        uint32_t& most = m_maxOutstanding[lane.pool];
        most = std::max(most, m_limits[lane.pool] - slots.free);
    }
    m_starter.StartPart({first.collective, first.part, first.chunk});
}

} // namespace cosim
