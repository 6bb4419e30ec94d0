/*
 * SPDX-License-Identifier: GPL-2.0-only
 */

#include "workload/job-failures.h"

#include "ns3/nstime.h"
#include "ns3/simulator.h"

namespace cosim
{

JobFailures::JobFailures(const Topology& topology,
                         Fabric& fabric,
                         TraceExecutor& executor,
                         const RunObservers& observers)
    : m_topology(topology),
      m_fabric(fabric),
      m_executor(executor),
      m_observers(observers)
{
}

void
JobFailures::Start()
{
    for (uint32_t event = 0; event < m_topology.events.size(); ++event)
    {
        if (m_topology.events[event].kind == EventKind::JOB_FAILURE)
        {
            ns3::Simulator::Schedule(
                ns3::Time(static_cast<int64_t>(m_topology.events[event].timePs)),
                &JobFailures::Happen,
                this,
                event);
        }
    }
}

void
JobFailures::Happen(uint32_t event)
{
    const NetworkEvent& happens = m_topology.events[event];
    for (const uint32_t path : happens.paths)
    {
        m_fabric.Abandon(path);
    }
    m_executor.Drop(happens.jobs);
    const auto now = static_cast<uint64_t>(m_fabric.SimGetTime().GetTimeStep());
    for (RunObserver* observer : m_observers[RunObserver::LINKS])
    {
        observer->OnNetworkEvent({now, happens.text, false, 0, 0});
    }
}

} // namespace cosim
