/*
 * SPDX-License-Identifier: GPL-2.0-only
 */

#include "workload/compute-speeds.h"

#include "support/wide-arithmetic.h"

#include "ns3/simulator.h"

namespace cosim
{

namespace
{

constexpr uint64_t USUAL_PPM = 1'000'000;

} // namespace

ComputeSpeeds::ComputeSpeeds(const Topology& topology,
                             const NetworkApi& network,
                             const RunObservers& observers)
    : m_topology(topology),
      m_network(network),
      m_observers(observers)
{
}

void
ComputeSpeeds::Start()
{
    for (uint32_t event = 0; event < m_topology.events.size(); ++event)
    {
        if (m_topology.events[event].kind != EventKind::COMPUTE)
        {
            continue;
        }
        m_factorPpm.resize(m_topology.ranks, USUAL_PPM);
        if (m_topology.events[event].timePs == 0)
        { // the first computations begin at this time, too
            Happen(event);
            continue;
        }
        ns3::Simulator::Schedule(ns3::Time(static_cast<int64_t>(m_topology.events[event].timePs)),
                                 &ComputeSpeeds::Happen,
                                 this,
                                 event);
    }
}

void
ComputeSpeeds::Happen(uint32_t event)
{
    for (const uint32_t rank : m_topology.events[event].ranks)
    {
        m_factorPpm[rank] = m_topology.events[event].factorPpm;
    }
    const auto now = static_cast<uint64_t>(m_network.SimGetTime().GetTimeStep());
    for (RunObserver* observer : m_observers[RunObserver::LINKS])
    {
        observer->OnNetworkEvent({now, m_topology.events[event].text, false, 0, 0});
    }
}

uint64_t
ComputeSpeeds::GetDuration(Rank rank, uint64_t durationPs) const
{
    return m_factorPpm.empty() ? durationPs
                               : MultiplyDivide(durationPs, m_factorPpm[rank], USUAL_PPM);
}

} // namespace cosim
