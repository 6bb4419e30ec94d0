/*
 * SPDX-License-Identifier: GPL-2.0-only
 */

#include "workload/compute-speeds.h"

#include "support/flat-map.h"
#include "support/wide-arithmetic.h"

#include "ns3/simulator.h"

#include <algorithm>
#include <cmath>
#include <limits>
#include <numbers>

namespace cosim
{

namespace
{

constexpr uint64_t USUAL_PPM = 1'000'000;
constexpr uint32_t WHOLE_RANK = std::numeric_limits<uint32_t>::max(); //!< instead of a node

/// @return a number of (0, 1) from a hash
double
Uniform(uint64_t hash)
{
    return (static_cast<double>(hash >> 11) + 0.5) * 0x1p-53;
}

/// @return parts of 10^6 of the usual time: a lognormal factor with a mean of 1
uint64_t
DrawPpm(uint64_t seed, Rank rank, uint32_t node, uint32_t deviationPpm)
{
    const uint64_t place = uint64_t{rank} << 32 | node;
    const uint64_t first = MixHash(seed, place);
    // Box and Muller's transform of two uniform numbers.
    const double normal = std::sqrt(-2 * std::log(Uniform(first))) *
                          std::cos(2 * std::numbers::pi * Uniform(MixHash(first, place)));
    const double deviation = deviationPpm * 1e-6;
    const double factor = std::exp(deviation * normal - deviation * deviation / 2);
    return std::max<uint64_t>(1, static_cast<uint64_t>(std::llround(factor * 1e6)));
}

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
        m_jitterPpm.resize(m_topology.ranks, 0);
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
    const NetworkEvent& happens = m_topology.events[event];
    for (const uint32_t rank : happens.ranks)
    {
        m_factorPpm[rank] = happens.factorPpm;
        m_jitterPpm[rank] = happens.jitterPpm;
        if (happens.spreadPpm > 0)
        {
            const uint64_t own = DrawPpm(m_topology.lossSeed, rank, WHOLE_RANK, happens.spreadPpm);
            m_factorPpm[rank] = MultiplyDivide(happens.factorPpm, own, USUAL_PPM);
        }
    }
    const auto now = static_cast<uint64_t>(m_network.SimGetTime().GetTimeStep());
    for (RunObserver* observer : m_observers[RunObserver::LINKS])
    {
        observer->OnNetworkEvent({now, happens.text, false, 0, 0});
    }
}

uint64_t
ComputeSpeeds::GetDuration(Rank rank, uint32_t node, uint64_t durationPs) const
{
    if (m_factorPpm.empty())
    {
        return durationPs;
    }
    const uint64_t slowed = MultiplyDivide(durationPs, m_factorPpm[rank], USUAL_PPM);
    if (m_jitterPpm[rank] == 0)
    {
        return slowed;
    }
    const uint64_t ppm = DrawPpm(m_topology.lossSeed, rank, node, m_jitterPpm[rank]);
    return MultiplyDivide(slowed, ppm, USUAL_PPM);
}

} // namespace cosim
