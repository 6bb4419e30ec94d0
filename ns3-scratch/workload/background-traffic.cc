/*
 * SPDX-License-Identifier: GPL-2.0-only
 */

#include "workload/background-traffic.h"

#include "network/flow-hash.h"

#include "ns3/nstime.h"

#include <algorithm>
#include <cmath>
#include <string>

namespace cosim
{

BackgroundTraffic::BackgroundTraffic(const Topology& topology,
                                     Fabric& fabric,
                                     const RunObservers& observers)
    : m_topology(topology),
      m_fabric(fabric),
      m_observers(observers),
      m_draws(topology.traffic.size())
{
}

void
BackgroundTraffic::Start()
{
    for (uint32_t source = 0; source < m_topology.traffic.size(); ++source)
    {
        const Traffic& traffic = m_topology.traffic[source];
        const uint64_t first = traffic.burst ? 0 : GetDistance(source);
        ScheduleReport(traffic.beginPs, traffic.text);
        ScheduleNext(source, traffic.beginPs + first);
        const bool isSingle =
            traffic.burst && traffic.endPs <= traffic.beginPs + traffic.intervalPs;
        if (traffic.endPs != 0 && !isSingle)
        {
            ScheduleReport(traffic.endPs, traffic.text + " ends");
        }
    }
}

void
BackgroundTraffic::ScheduleReport(uint64_t atPs, const std::string& text)
{
    m_fabric.SimSchedule(ns3::Time(static_cast<int64_t>(atPs)), [this, atPs, text] {
        for (RunObserver* observer : m_observers[RunObserver::LINKS])
        {
            observer->OnNetworkEvent({atPs, text, false, 0, 0});
        }
    });
}

/// Schedule the next message or burst of a traffic source, unless it ends before.
void
BackgroundTraffic::ScheduleNext(uint32_t source, uint64_t atPs)
{
    const uint64_t endPs = m_topology.traffic[source].endPs;
    if (endPs == 0 || atPs < endPs)
    {
        const auto now = static_cast<uint64_t>(m_fabric.SimGetTime().GetTimeStep());
        m_fabric.SimSchedule(ns3::Time(static_cast<int64_t>(atPs - now)),
                             [this, source] { OnTurn(source); });
    }
}

void
BackgroundTraffic::OnTurn(uint32_t source)
{
    const Traffic& traffic = m_topology.traffic[source];
    if (traffic.burst)
    {
        for (std::size_t pair = 0; pair < traffic.sources.size(); ++pair)
        {
            Send(source, pair);
        }
    }
    else
    {
        Send(source, Draw(source) % traffic.sources.size());
    }
    if (m_waiting > MOST_WAITING)
    {
        GiveUp(source);
        return;
    }
    const auto now = static_cast<uint64_t>(m_fabric.SimGetTime().GetTimeStep());
    ScheduleNext(source, now + (traffic.burst ? traffic.intervalPs : GetDistance(source)));
}

void
BackgroundTraffic::Send(uint32_t source, std::size_t pair)
{
    constexpr uint64_t all = 1'000'000'000;
    const Traffic& traffic = m_topology.traffic[source];
    const auto part = static_cast<uint32_t>(Draw(source) % all) + 1;
    const auto found =
        std::lower_bound(traffic.cumulativePpb.begin(), traffic.cumulativePpb.end(), part);
    const auto index = static_cast<std::size_t>(found - traffic.cumulativePpb.begin());
    const uint64_t bytes = traffic.sizes[index];
    const uint64_t tag = TAG | m_messages++;
    ++m_waiting;
    m_fabric.SimRecv(traffic.sources[pair], traffic.targets[pair], bytes, tag, [this] {
        --m_waiting;
    });
    m_fabric.SimSend(traffic.sources[pair], traffic.targets[pair], bytes, tag, traffic.route, {});
}

/// End the run, because a traffic source has sent more than the network carries.
void
BackgroundTraffic::GiveUp(uint32_t source)
{
    m_fabric.Fail(m_topology.traffic[source].text + " is more than the network carries: over " +
                  std::to_string(MOST_WAITING) +
                  " messages of other traffic are on their way at the same time; lower its load, "
                  "or let it end earlier (until)");
}

/// @return an exponentially distributed time to the next message, at least 1 [ps]
uint64_t
BackgroundTraffic::GetDistance(uint32_t source)
{
    constexpr double range = 9223372036854775808.0; // 2^63
    const double uniform = (static_cast<double>(Draw(source)) + 0.5) / range;
    const auto mean = static_cast<double>(m_topology.traffic[source].intervalPs);
    return std::max<uint64_t>(1, static_cast<uint64_t>(-std::log(uniform) * mean));
}

/// @return a random number of 63 bits
uint64_t
BackgroundTraffic::Draw(uint32_t source)
{
    const auto seed = static_cast<uint32_t>(m_topology.traffic[source].seed);
    return HashFlow(seed, source, 1, m_draws[source]++);
}

} // namespace cosim
