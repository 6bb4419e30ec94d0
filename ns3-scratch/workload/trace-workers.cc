/*
 * SPDX-License-Identifier: GPL-2.0-only
 */

#include "workload/trace-workers.h"

#include <algorithm>

namespace cosim
{

TraceWorker::TraceWorker(Rank ofRank, const TracePlan& ofTrace)
    : rank(ofRank),
      plan(&ofTrace),
      pending(ofTrace.pending),
      state(ofTrace.pending.size(), NodeState::WAITING),
      nodesLeft(static_cast<uint32_t>(ofTrace.pending.size()))
{
    for (const uint32_t slots : plan->trace->laneSlots)
    {
        lanes.push_back({slots});
    }
}

TraceWorkers::TraceWorkers(const Stream& stream)
    : m_idOf(stream.topology.ranks, TraceWorker::NONE)
{
    m_plans.reserve(stream.traces.size()); // workers point to the plans, which must not move
    for (const Trace& trace : stream.traces)
    {
        const TracePlan& plan = m_plans.emplace_back(trace);
        for (const Rank rank : trace.ranks)
        {
            m_idOf[rank] = GetCount();
            m_workers.emplace_back(rank, plan);
        }
        for (std::size_t i = 0; i < trace.type.size(); ++i)
        {
            if (trace.type[i] == NodeType::SEND)
            {
                m_messageBytes += trace.bytes[i] * trace.ranks.size();
            }
        }
    }
}

// State, for repetition.

uint32_t
TraceWorker::GetFirstOpen() const
{
    while (firstOpen < state.size() && state[firstOpen] == NodeState::DONE)
    {
        ++firstOpen;
    }
    return firstOpen;
}

bool
TraceWorker::Waits() const
{
    for (uint32_t node = GetFirstOpen(); node <= highest && node < state.size(); ++node)
    {
        if (state[node] == NodeState::BEGUN && plan->trace->type[node] != NodeType::COMPUTE)
        {
            return true;
        }
    }
    return false;
}

void
TraceWorker::AddState(StateDigest& digest,
                      const IterationPattern::Places& places,
                      uint32_t iterations) const
{
    // Differences are modulo 2^32, which is as good as negative numbers.
    const uint32_t origin = places.nodesBegin + iterations * places.nodes;
    digest.Add(GetFirstOpen() - origin);
    digest.Add(highest - origin);
    for (uint32_t node = GetFirstOpen(); node <= highest && node < state.size(); ++node)
    {
        digest.Add(uint64_t{pending[node]} << 8 | static_cast<uint64_t>(state[node]));
    }
    digest.Add(nextCompute - places.computesBegin - iterations * places.computes);
    digest.Add(isComputing ? 1 : 0);
    for (const Lane& lane : lanes)
    {
        digest.Add(uint64_t{lane.freeSlots} << 32 | lane.ready.size());
        for (auto ready = lane.ready; !ready.empty(); ready.pop())
        {
            digest.Add(ready.top() - origin);
        }
    }
}

void
TraceWorker::Skip(const IterationPattern::Places& places, uint32_t iterations)
{
    const uint32_t shift = iterations * places.nodes;
    const uint32_t first = GetFirstOpen();
    for (uint32_t node = highest + 1; node-- > first;)
    {
        state[node + shift] = state[node];
        pending[node + shift] = pending[node];
    }
    std::fill_n(state.begin() + first, shift, NodeState::DONE);
    highest += shift;
    nodesLeft -= shift;
    nextCompute += iterations * places.computes;
    for (Lane& lane : lanes)
    {
        decltype(lane.ready) moved;
        for (; !lane.ready.empty(); lane.ready.pop())
        {
            moved.push(lane.ready.top() + shift);
        }
        lane.ready = std::move(moved);
    }
}

} // namespace cosim
