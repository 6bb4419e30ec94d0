/*
 * SPDX-License-Identifier: GPL-2.0-only
 */

#include "fabrics/packet/packet-fabric.h"

#include <algorithm>

namespace cosim
{

bool
PacketFabric::IsDelivered() const
{
    return std::ranges::all_of(m_flows, [](const Flow& flow) { return flow.messages.IsEmpty(); }) &&
           std::ranges::all_of(m_answers, [](const Answers& answers) {
               return !answers.awaited || answers.awaited->IsEmpty();
           });
}

NetworkCounters
PacketFabric::GetPacketCounters() const
{
    NetworkCounters counters = GetSharedCounters();
    counters.roundTrips.reserve(m_flows.size());
    for (const Flow& flow : m_flows)
    {
        counters.roundTrips.push_back({flow.rttSumNs, flow.rttSamples});
    }
    for (uint32_t link = 0; link < m_liveLinks.GetCount(); ++link)
    {
        counters.links.push_back(GetLink(link));
    }
    counters.loggedRoundTrips = m_trimmed + m_roundTrips.size();
    return counters;
}

void
PacketFabric::RepeatPackets(const NetworkCounters& from, uint64_t times, uint64_t periodPs)
{
    if (m_isLogging)
    { // the intervals of the samples are those of the clock, so their phase differs each time
        const std::size_t begin = from.loggedRoundTrips - m_trimmed;
        for (uint64_t i = 1; i <= times; ++i)
        {
            const auto shift = static_cast<int64_t>(i * periodPs);
            for (std::size_t entry = begin; entry < m_roundTrips.size(); ++entry)
            {
                const LoggedRoundTrip& logged = m_roundTrips[entry];
                SampleRoundTrip(logged.flow, logged.timePs + shift, logged.rttNs);
            }
        }
    }
    else
    {
        for (FlowId id = 0; id < GetFlowCount(); ++id)
        {
            Flow& flow = m_flows[id];
            const NetworkCounters::RoundTrips& before = from.roundTrips[id];
            flow.rttSumNs += static_cast<double>(times) * (flow.rttSumNs - before.sumNs);
            flow.rttSamples += static_cast<uint32_t>(times) * (flow.rttSamples - before.samples);
        }
    }
    RepeatShared(from, times, periodPs);
}

void
PacketFabric::TrimRoundTripLog(std::size_t count)
{
    if (count > m_trimmed)
    {
        m_roundTrips.erase(m_roundTrips.begin(),
                           m_roundTrips.begin() + static_cast<std::ptrdiff_t>(count - m_trimmed));
        m_trimmed = count;
    }
}

} // namespace cosim
