/*
 * SPDX-License-Identifier: GPL-2.0-only
 */

#include "workload/compute-nodes.h"

#include "support/wide-arithmetic.h"

#include "ns3/nstime.h"
#include "ns3/simulator.h"

#include <algorithm>
#include <utility>

namespace cosim
{

namespace
{

bool
Slows(const Collective& collective)
{
    return collective.slowsPpm != 0;
}

} // namespace

ComputeNodes::ComputeNodes(const Stream& stream,
                           const TraceWorkers& workers,
                           const NetworkApi& network,
                           const RunObservers& observers,
                           Done done)
    : m_stream(stream),
      m_workers(workers),
      m_network(network),
      m_done(std::move(done)),
      m_speeds(stream.topology, network, observers)
{
    if (std::ranges::any_of(stream.collectives, Slows))
    {
        m_processors.resize(workers.GetCount());
    }
}

void
ComputeNodes::Start()
{
    m_speeds.Start();
}

bool
ComputeNodes::Begin(uint32_t worker, uint32_t node)
{
    const TraceWorker& of = m_workers.Get(worker);
    const uint64_t usualPs = of.plan->trace->durationPs[node];
    const uint64_t durationPs = m_speeds.GetDuration(of.rank, node, usualPs);
    if (durationPs == 0)
    {
        return false;
    }
    ++m_running;
    Computation computation{node, durationPs, Now(), {}};
    ScheduleEnd(worker, computation);
    if (!m_processors.empty())
    {
        m_processors[worker].computations.push_back(computation);
    }
    return true;
}

void
ComputeNodes::BeginCollective(uint32_t worker, uint32_t collective)
{
    if (const Collective& what = m_stream.collectives[collective]; Slows(what))
    {
        m_processors[worker].slowsPpm.push_back(what.slowsPpm);
        Adapt(worker);
    }
}

void
ComputeNodes::EndCollective(uint32_t worker, uint32_t collective)
{
    if (const Collective& what = m_stream.collectives[collective]; Slows(what))
    {
        std::vector<uint32_t>& running = m_processors[worker].slowsPpm;
        running.erase(std::ranges::find(running, what.slowsPpm));
        Adapt(worker);
    }
}

/// Let what is left of the computations of a rank take what the running collectives let it take.
void
ComputeNodes::Adapt(uint32_t worker)
{
    Processor& of = m_processors[worker];
    const uint64_t slows = of.slowsPpm.empty() ? 0 : std::ranges::max(of.slowsPpm);
    const uint64_t before = std::exchange(of.factorPpm, USUAL_PPM + slows);
    if (before == of.factorPpm)
    {
        return;
    }
    const uint64_t now = Now();
    for (Computation& each : of.computations)
    {
        const uint64_t donePs = MultiplyDivide(now - each.sincePs, USUAL_PPM, before);
        each.leftPs -= std::min(each.leftPs, donePs);
        each.sincePs = now;
        each.end.Cancel();
        ScheduleEnd(worker, each);
    }
}

void
ComputeNodes::ScheduleEnd(uint32_t worker, Computation& computation)
{
    const uint64_t factor = m_processors.empty() ? USUAL_PPM : m_processors[worker].factorPpm;
    const uint64_t leftPs = MultiplyDivide(computation.leftPs, factor, USUAL_PPM);
    computation.end = ns3::Simulator::Schedule(ns3::Time(static_cast<int64_t>(leftPs)),
                                               &ComputeNodes::OnEnd,
                                               this,
                                               worker,
                                               computation.node);
}

void
ComputeNodes::OnEnd(uint32_t worker, uint32_t node)
{
    --m_running;
    if (!m_processors.empty())
    {
        std::erase_if(m_processors[worker].computations,
                      [node](const Computation& each) { return each.node == node; });
    }
    m_done(worker, node);
}

uint64_t
ComputeNodes::Now() const
{
    return static_cast<uint64_t>(m_network.SimGetTime().GetTimeStep());
}

} // namespace cosim
