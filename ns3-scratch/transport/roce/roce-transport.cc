/*
 * SPDX-License-Identifier: GPL-2.0-only
 */

#include "transport/roce/roce-transport.h"

#include "support/quantile.h"

#include <algorithm>
#include <limits>
#include <numeric>
#include <utility>
#include <vector>

namespace cosim
{

RoceTransport::RoceTransport(std::vector<RoceSettings> settings,
                             std::span<const uint32_t> kinds,
                             CausalSimulator& clock)
    : m_settings(std::move(settings)),
      m_kinds(kinds)
{
    for (const RoceSettings& one : m_settings)
    {
        m_setups.push_back({one, clock, m_packets, m_counters, m_sent});
    }
}

void
RoceTransport::Attach(PacketCarrier& carrier, FlowObserver& observer)
{
    for (RoceSetup& setup : m_setups)
    {
        setup.carrier = &carrier;
        setup.observer = &observer;
    }
}

void
RoceTransport::SetPuller(PacketPuller& puller)
{
    for (RoceSetup& setup : m_setups)
    {
        setup.puller = &puller;
    }
}

FlowEnds
RoceTransport::Connect(FlowId flow, const Handshake& handshake)
{
    constexpr double bytePs = 8e12; // of a byte at 1 bit/s
    const RoceSetup& setup = GetSetup(flow);
    const RoceSettings& settings = setup.settings;
    const int64_t baseRttPs = handshake.baseRtt.GetTimeStep();
    const double product =
        static_cast<double>(handshake.slowestBps) * static_cast<double>(baseRttPs) / bytePs;
    const double window = settings.windowBytes > 0 ? static_cast<double>(settings.windowBytes)
                                                   : std::max(1.0, product);
    const bool isLimited = settings.windowBytes > 0 || settings.productWindow;
    const PathFacts path{static_cast<double>(handshake.firstBps),
                         baseRttPs,
                         window,
                         settings.payloadBytes};
    return {&m_senders.emplace_back(setup,
                                    flow,
                                    path,
                                    isLimited ? window : std::numeric_limits<double>::infinity()),
            &m_receivers.emplace_back(setup, flow)};
}

void
RoceTransport::Release(Packet* packet)
{
    m_packets.Return(static_cast<RocePacket*>(packet));
}

PacketCounts
RoceTransport::GetSent() const
{
    return m_sent;
}

void
RoceTransport::AddStatistics(NetworkStatistics& statistics) const
{
    Rdma& rdma = statistics.rdma.emplace(m_counters);
    std::vector<double> rates;
    for (const QueuePairSender& sender : m_senders)
    {
        if (const double rate = sender.GetMeanRateBps(); rate > 0)
        {
            rates.push_back(rate);
        }
    }
    if (rates.empty())
    {
        return;
    }
    std::sort(rates.begin(), rates.end());
    rdma.rateMeanBps =
        std::accumulate(rates.begin(), rates.end(), 0.0) / static_cast<double>(rates.size());
    rdma.rateP01Bps = GetQuantile(rates, 0.01);
    rdma.rateP50Bps = GetQuantile(rates, 0.5);
    rdma.rateP99Bps = GetQuantile(rates, 0.99);
}

} // namespace cosim
