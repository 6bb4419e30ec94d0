/*
 * SPDX-License-Identifier: GPL-2.0-only
 */

#include "network/fabric-base.h"

#include <utility>

namespace cosim
{

using namespace ns3;

FabricBase::FabricBase(const Topology& topology, const Settings& settings)
    : m_topology(topology),
      m_settings(settings),
      m_formats(topology, settings),
      m_pathIndex(topology),
      m_liveLinks(topology),
      m_flowRecord(topology, m_formats, m_liveLinks)
{
}

void
FabricBase::SimRecv(Rank src, Rank dst, uint64_t bytes, uint64_t tag, Callback received)
{
    const uint32_t path = m_topology.folding.GetPath(m_pathIndex.Find(src, dst));
    m_matcher.Post(m_topology.pathSource[path],
                   m_topology.pathTarget[path],
                   bytes,
                   tag,
                   std::move(received));
}

void
FabricBase::SetArrivalHandler(ArrivalHandler* handler)
{
    m_arrivalHandler = handler;
}

void
FabricBase::SimSchedule(Time delay, Callback callback)
{
    Simulator::Schedule(delay, [callback = std::move(callback)] { callback(); });
}

Time
FabricBase::SimGetTime() const
{
    return Time(NowPs());
}

uint32_t
FabricBase::SimCommSize() const
{
    return m_topology.ranks;
}

void
FabricBase::SimFinish()
{
    Simulator::Stop();
}

void
FabricBase::StartClock()
{
    m_startPs = Simulator::Now().GetTimeStep();
}

void
FabricBase::Finish()
{
    m_finishPs = Simulator::Now().GetTimeStep();
}

int64_t
FabricBase::GetElapsedPs() const
{
    return m_finishPs >= 0 ? m_finishPs - m_startPs : NowPs();
}

void
FabricBase::Report(void (RunObserver::*what)(const MessageEvent&),
                   uint64_t timePs,
                   uint32_t path,
                   uint64_t bytes,
                   uint64_t tag) const
{
    const MessageEvent event{timePs,
                             m_topology.pathSource[path],
                             m_topology.pathTarget[path],
                             bytes,
                             tag,
                             m_pathIndex.GetRoute(path)};
    for (RunObserver* observer : m_observers[RunObserver::MESSAGES])
    {
        (observer->*what)(event);
    }
}

void
FabricBase::Deliver(uint32_t path, uint64_t bytes, uint64_t tag, bool isPut, int64_t sentPs)
{
    ++m_counters.messages;
    m_counters.payloadBytes += bytes;
    const auto completionPs = static_cast<uint64_t>(NowPs() - sentPs);
    m_completionPs.Add(completionPs);
    m_flowRecord.Add(path, bytes, completionPs);
    HandOver(path, bytes, tag, isPut);
}

void
FabricBase::HandOver(uint32_t path, uint64_t bytes, uint64_t tag, bool isPut)
{
    if (!m_observers[RunObserver::MESSAGES].empty())
    {
        Report(&RunObserver::OnMessageDelivered, static_cast<uint64_t>(NowPs()), path, bytes, tag);
    }
    const Rank src = m_topology.pathSource[path];
    const Rank dst = m_topology.pathTarget[path];
    if (!isPut)
    {
        m_matcher.Arrive(src, dst, bytes, tag);
    }
    else if (m_arrivalHandler != nullptr)
    {
        m_arrivalHandler->OnArrival(src, dst, bytes, tag);
    }
}

void
FabricBase::Fail(const std::string& failure)
{
    m_failure = failure;
    Simulator::Stop();
}

const LiveLinks&
FabricBase::GetLiveLinks() const
{
    return m_liveLinks;
}

uint64_t
FabricBase::GetElapsed() const
{
    return static_cast<uint64_t>(GetElapsedPs());
}

uint64_t
FabricBase::GetDeliveredBytes() const
{
    return m_counters.payloadBytes;
}

std::string
FabricBase::GetFailure() const
{
    return m_failure;
}

const FlowCounters&
FabricBase::GetFlow(uint32_t path) const
{
    return m_flowRecord.Get(path);
}

FlowState
FabricBase::GetFlowState(uint32_t path) const
{
    return {m_flowRecord.Get(path).bytes, 0, 0};
}

uint64_t
FabricBase::GetCompletionQuantilePs(double q) const
{
    return static_cast<uint64_t>(m_completionPs.GetQuantile(q));
}

void
FabricBase::SetObservers(const RunObservers& observers)
{
    m_observers = observers;
}

NetworkStatistics
FabricBase::GetMessageStatistics() const
{
    constexpr double psPerNs = 1000;
    NetworkStatistics statistics = m_counters;
    statistics.payloadBytes = GetDeliveredBytes();
    statistics.fctMeanNs = m_completionPs.GetMean() / psPerNs;
    statistics.fctP50Ns = m_completionPs.GetQuantile(0.5) / psPerNs;
    statistics.fctP99Ns = m_completionPs.GetQuantile(0.99) / psPerNs;
    statistics.fctMaxNs = static_cast<double>(m_completionPs.GetMax()) / psPerNs;
    return statistics;
}

} // namespace cosim
