/*
 * SPDX-License-Identifier: GPL-2.0-only
 */

#include "circuits/circuit-switch.h"

#include "stream/path-table.h"

#include "ns3/simulator.h"

#include <algorithm>

namespace cosim
{

using namespace ns3;

CircuitSwitch::CircuitSwitch(const Topology& topology,
                             LinkControl& control,
                             const RunObservers& observers)
    : m_topology(topology),
      m_control(control),
      m_links(topology),
      m_bytes(topology.pathSource.size()),
      m_observers(observers)
{
    m_control.SetDemandListener(this);
}

CircuitSwitch::~CircuitSwitch()
{
    m_control.SetDemandListener(nullptr);
}

void
CircuitSwitch::OnDemand()
{
    if (!m_isMeasuring)
    {
        ScheduleMeasurement();
    }
}

void
CircuitSwitch::ScheduleMeasurement()
{
    m_isMeasuring = true;
    const uint64_t interval = m_topology.reconfiguration.intervalPs;
    const auto passed = static_cast<uint64_t>(Simulator::Now().GetTimeStep()) % interval;
    Simulator::Schedule(TimeStep(interval - passed), &CircuitSwitch::OnMeasurement, this);
}

void
CircuitSwitch::OnMeasurement()
{
    const Reconfiguration& settings = m_topology.reconfiguration;
    m_isMeasuring = false;
    std::fill(m_bytes.begin(), m_bytes.end(), 0);
    const bool isMoreToCome = m_control.MeasureDemand(m_bytes);
    const std::vector<Demand> demand = GetDemand(m_bytes);
    if (demand.empty())
    {
        if (isMoreToCome)
        {
            ScheduleMeasurement();
        }
        return;
    }
    const uint32_t added = m_links.Plan(ChooseCircuits(m_topology.ranks,
                                                       settings.degree,
                                                       settings.discount,
                                                       settings.forwarding,
                                                       demand));
    if (added == 0)
    {
        ScheduleMeasurement();
        return;
    }
    Report(demand, added);
    m_isMeasuring = true;
    m_control.Pause();
    Simulator::Schedule(TimeStep(settings.latencyPs), &CircuitSwitch::OnPauseEnd, this);
}

/// Report to the observers a change of the links that begins now.
void
CircuitSwitch::Report(const std::vector<Demand>& demand, uint32_t newCircuits)
{
    LinkChange change{static_cast<uint64_t>(Simulator::Now().GetTimeStep()),
                      newCircuits,
                      static_cast<uint32_t>(demand.size()),
                      0,
                      0};
    for (const Demand& one : demand)
    {
        change.distantPairs += m_links.IsPlanned(one.pair) ? 0 : 1;
        change.demandBytes += static_cast<uint64_t>(one.bytes);
    }
    for (RunObserver* observer : m_observers[RunObserver::LINKS])
    {
        observer->OnLinkPauseBegun(change);
    }
}

/// @return the demand of each pair of ranks, summed over its routes
std::vector<Demand>
CircuitSwitch::GetDemand(const std::vector<uint64_t>& bytes) const
{
    std::vector<Demand> demand;
    for (uint32_t path = 0; path < bytes.size(); ++path)
    {
        if (bytes[path] > 0)
        {
            const Circuit pair{m_topology.pathSource[path], m_topology.pathTarget[path]};
            demand.push_back({pair, static_cast<double>(bytes[path])});
        }
    }
    const auto byPair = [](const Demand& a, const Demand& b) {
        return PairOf(a.pair.source, a.pair.target) < PairOf(b.pair.source, b.pair.target);
    };
    if (!std::is_sorted(demand.begin(), demand.end(), byPair))
    {
        std::stable_sort(demand.begin(), demand.end(), byPair);
    }
    std::size_t pairs = 0;
    for (const Demand& one : demand)
    {
        if (pairs > 0 && demand[pairs - 1].pair == one.pair)
        {
            demand[pairs - 1].bytes += one.bytes;
        }
        else
        {
            demand[pairs++] = one;
        }
    }
    demand.resize(pairs);
    return demand;
}

void
CircuitSwitch::OnPauseEnd()
{
    m_control.ApplyLinks(m_links.Set());
    for (RunObserver* observer : m_observers[RunObserver::LINKS])
    {
        observer->OnLinksChanged(static_cast<uint64_t>(Simulator::Now().GetTimeStep()));
    }
    ScheduleMeasurement();
    m_control.Resume();
}

std::unique_ptr<CircuitSwitch>
MakeCircuitSwitch(const Topology& topology, Fabric& fabric, const RunObservers& observers)
{
    return topology.reconfiguration.intervalPs == 0
               ? nullptr
               : std::make_unique<CircuitSwitch>(topology, *fabric.GetLinkControl(), observers);
}

} // namespace cosim
