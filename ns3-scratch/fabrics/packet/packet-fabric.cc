/*
 * SPDX-License-Identifier: GPL-2.0-only
 */

#include "fabrics/packet/packet-fabric.h"

#include "support/quantile.h"

#include "ns3/simulator.h"

#include <algorithm>
#include <functional>
#include <iterator>
#include <numeric>
#include <stdexcept>
#include <string>
#include <utility>

namespace cosim
{

using namespace ns3;

namespace
{

constexpr double PS_PER_NS = 1000.0;

} // namespace

PacketFabric::PacketFabric(const Topology& topology,
                           const Settings& settings,
                           const DatapathMaker& make)
    : FabricBase(topology, settings),
      m_flows(topology.pathSource.size()),
      m_answers(topology.pathSource.size()),
      m_zones(topology, m_pathIndex),
      m_datapath(make({topology,
                       settings,
                       m_formats,
                       m_pathIndex,
                       m_liveLinks,
                       m_zones,
                       CausalSimulator::Get()},
                      *this))
{
}

void
PacketFabric::SimSend(Rank src,
                      Rank dst,
                      uint64_t bytes,
                      uint64_t tag,
                      uint32_t route,
                      Callback sent)
{
    SubmitMessage(m_pathIndex.Find(src, dst, route), bytes, tag, false, std::move(sent));
}

void
PacketFabric::SimPut(Rank src, Rank dst, uint64_t bytes, uint64_t tag, uint32_t route)
{
    SubmitMessage(m_pathIndex.Find(src, dst, route), bytes, tag, true, {});
}

void
PacketFabric::Start()
{
    m_handshakes.emplace(m_topology, m_liveLinks, m_pathIndex, m_formats);
    m_datapath->Open(*m_handshakes);
    StartClock();
    m_isStarted = true;
}

void
PacketFabric::Finish()
{
    FabricBase::Finish();
    m_datapath->Finish();
}

void
PacketFabric::SubmitMessage(FlowId id, uint64_t bytes, uint64_t tag, bool isPut, Callback sent)
{
    ReportSent(id, bytes, tag);
    Flow& flow = m_flows[id];
    const uint64_t streamBytes = std::max<uint64_t>(bytes, 1);
    if (flow.isAbandoned)
    {
        m_arrivals.push_back({id, {0, bytes, tag, NowPs(), isPut}});
        m_deliver.Request();
        if (sent)
        {
            m_answered.push_back({id, std::move(sent)});
        }
        return;
    }
    flow.submitted += streamBytes;
    flow.messages.Push({flow.submitted, bytes, tag, NowPs(), isPut});
    const bool isAwaited{sent};
    if (isAwaited)
    {
        auto& awaited = m_answers[id].awaited;
        if (!awaited)
        {
            awaited = std::make_unique<RingBuffer<AwaitedAck>>();
        }
        awaited->Push({flow.submitted, std::move(sent)});
    }
    m_submissions.push_back({id, isAwaited, streamBytes});
    m_submit.Request();
}

/// Let what was sent in this picosecond enter its flows.
void
PacketFabric::SubmitAll()
{
    m_datapath->Submit(m_submissions);
    m_submissions.clear();
}

/// Hand over what was delivered or acknowledged in this picosecond.
void
PacketFabric::DeliverAll()
{
    TakeByZone(m_arrivals, [this](const Arrival& arrival) {
        const Message& message = arrival.message;
        if (!m_flows[arrival.flow].isAbandoned)
        {
            Deliver(arrival.flow, message.bytes, message.tag, message.isPut, message.sentPs);
        }
        else if (message.isPut)
        {
            HandOver(arrival.flow, message.bytes, message.tag, true);
        }
    });
    TakeByZone(m_answered, [](const Answer& answer) { answer.sent(); });
}

/// Take each item out of a list and use it: in the order of the zones, and of one zone in the order
/// of the list. What has not been used yet stays in the list.
template <typename T, typename Use>
void
PacketFabric::TakeByZone(std::vector<T>& items, const Use& use)
{
    std::ranges::reverse(items);
    if (items.size() > 1 && m_zones.GetCount() > 1)
    {
        std::ranges::stable_sort(items, std::ranges::greater(), [this](const T& item) {
            return m_zones.Get(item.flow);
        });
    }
    while (!items.empty())
    {
        const T item = std::move(items.back());
        items.pop_back();
        use(item);
    }
}

void
PacketFabric::Abandon(uint32_t path)
{
    Flow& flow = m_flows[path];
    flow.isAbandoned = true;
    flow.submitted = flow.delivered;
    while (!flow.messages.IsEmpty())
    {
        m_arrivals.push_back({path, flow.messages.Pop()});
    }
    Answers& answers = m_answers[path];
    while (answers.awaited && !answers.awaited->IsEmpty())
    {
        m_answered.push_back({path, answers.awaited->Pop().sent});
    }
    std::erase_if(m_submissions, [path](const Submission& one) { return one.flow == path; });
    m_datapath->Abandon(path);
    m_deliver.Request();
}

void
PacketFabric::OnDelivered(FlowId id, uint64_t bytes)
{
    Flow& flow = m_flows[id];
    flow.delivered += bytes;
    while (!flow.messages.IsEmpty() && flow.messages.Front().streamEnd <= flow.delivered)
    {
        m_arrivals.push_back({id, flow.messages.Pop()});
        m_deliver.Request();
    }
}

void
PacketFabric::OnAcked(FlowId id, uint64_t bytes)
{
    Answers& answers = m_answers[id];
    answers.acked += bytes;
    while (answers.awaited && !answers.awaited->IsEmpty() &&
           answers.awaited->Front().streamEnd <= answers.acked)
    {
        m_answered.push_back({id, answers.awaited->Pop().sent});
        m_deliver.Request();
    }
}

void
PacketFabric::OnRetransmitted(FlowId id, uint32_t payloadBytes)
{
    ++m_counters.retransmissions;
    m_flowRecord.AddRetransmission(id);
    for (RunObserver* observer : m_observers[RunObserver::LOSSES])
    {
        observer->OnPacketRetransmitted(MakeEvent(id), payloadBytes);
    }
}

void
PacketFabric::OnRepeated(FlowId /* flow */)
{
    ++m_counters.repeatedPackets;
}

void
PacketFabric::OnDropped(uint32_t link, uint32_t wireBytes)
{
    for (RunObserver* observer : m_observers[RunObserver::LOSSES])
    {
        const LinkState& state = m_liveLinks.Get(link);
        observer->OnPacketDropped(
            {static_cast<uint64_t>(NowPs()), link, state.source, state.target, wireBytes});
    }
}

void
PacketFabric::OnPortPause(uint32_t link, uint8_t trafficClass, uint32_t hops, bool isPaused)
{
    for (RunObserver* observer : m_observers[RunObserver::PAUSES])
    {
        const LinkState& state = m_liveLinks.Get(link);
        const PortPauseEvent event{static_cast<uint64_t>(NowPs()),
                                   link,
                                   state.source,
                                   state.target,
                                   trafficClass,
                                   hops};
        isPaused ? observer->OnPortPaused(event) : observer->OnPortResumed(event);
    }
}

FlowEvent
PacketFabric::MakeEvent(FlowId id) const
{
    return {static_cast<uint64_t>(NowPs()),
            m_topology.pathSource[id],
            m_topology.pathTarget[id],
            m_pathIndex.GetRoute(id)};
}

void
PacketFabric::OnRttSample(FlowId id, Time rtt, Time /* oldest */)
{
    if (m_settings.rttSampleIntervalPs == 0 || !m_isStarted)
    {
        return;
    }
    SampleRoundTrip(id, NowPs(), static_cast<double>(rtt.GetTimeStep()) / PS_PER_NS);
}

void
PacketFabric::OnReplayed(FlowId id, int64_t startPs, std::span<const RoundTrip> roundTrips)
{
    const auto intervalPs = static_cast<int64_t>(m_settings.rttSampleIntervalPs);
    if (intervalPs == 0 || !m_isStarted)
    {
        return;
    }
    const int64_t shiftPs = NowPs() - Simulator::Now().GetTimeStep() + startPs;
    while (!roundTrips.empty())
    { // the last one of each interval
        const int64_t endPs = ((shiftPs + roundTrips.front().atPs) / intervalPs + 1) * intervalPs;
        const auto next = std::ranges::lower_bound(roundTrips,
                                                   endPs - shiftPs,
                                                   std::ranges::less(),
                                                   &RoundTrip::atPs);
        const RoundTrip& last = *std::prev(next);
        SampleRoundTrip(id, shiftPs + last.atPs, static_cast<double>(last.latestPs) / PS_PER_NS);
        roundTrips = {next, roundTrips.end()};
    }
}

/// Let a round trip count for the interval of its time.
void
PacketFabric::SampleRoundTrip(FlowId id, int64_t timePs, double rttNs)
{
    // The sample of an interval is its latest round trip, which a reader finds at the end of the
    // interval. The next round trip shows that the interval has ended, so this needs no timer.
    const int64_t index = timePs / static_cast<int64_t>(m_settings.rttSampleIntervalPs);
    Answers& answers = m_answers[id];
    if (index != answers.rttInterval && answers.rttInterval >= 0)
    {
        m_flows[id].rttSumNs += answers.rttLatestNs;
        ++m_flows[id].rttSamples;
    }
    answers.rttInterval = index;
    answers.rttLatestNs = rttNs;
}

void
PacketFabric::OnTimeout(FlowId flow, Time waited)
{
    ++m_counters.rtoEvents;
    const int64_t since = std::max(m_timeoutPs, NowPs() - waited.GetTimeStep());
    m_timeoutPs = NowPs();
    m_counters.rtoWaitPs += static_cast<uint64_t>(m_timeoutPs - since);
    m_flowRecord.AddTimeout(flow);
    for (RunObserver* observer : m_observers[RunObserver::LOSSES])
    {
        observer->OnFlowTimedOut(MakeEvent(flow), static_cast<uint64_t>(waited.GetTimeStep()));
    }
}

void
PacketFabric::OnClosed(FlowId flow)
{
    Fail("the flow from rank " + std::to_string(m_topology.pathSource[flow]) + " to rank " +
         std::to_string(m_topology.pathTarget[flow]) + " was closed after " +
         std::to_string(GetMostTimeouts(m_settings.GetTransport(m_topology.GetTransport(flow)))) +
         " retransmission timeouts in a row");
}

void
PacketFabric::OnFailure(const std::string& failure)
{
    Fail(failure);
}

void
PacketFabric::AddUndelivered(std::vector<uint64_t>& bytes) const
{
    for (FlowId flow = 0; flow < GetFlowCount(); ++flow)
    {
        bytes[flow] += m_flows[flow].GetUndelivered();
    }
}

uint64_t
PacketFabric::GetDeliveredBytes() const
{
    uint64_t sum = FabricBase::GetDeliveredBytes() + m_datapath->CountUntold();
    for (const Flow& flow : m_flows)
    {
        if (!flow.messages.IsEmpty())
        {
            const Message& message = flow.messages.Front();
            const uint64_t begin = message.streamEnd - std::max<uint64_t>(message.bytes, 1);
            sum += flow.delivered - begin;
        }
    }
    for (const Arrival& arrival : m_arrivals)
    {
        sum += arrival.message.bytes;
    }
    return sum;
}

uint64_t
PacketFabric::GetSentPackets() const
{
    return m_datapath->GetSent().packets;
}

NetworkStatistics
PacketFabric::GetStatistics() const
{
    m_datapath->Update();
    NetworkStatistics statistics = GetMessageStatistics();
    const PacketCounts sent = m_datapath->GetSent();
    statistics.packets = sent.packets;
    statistics.dataPackets = sent.dataPackets;
    statistics.wireBytes = sent.wireBytes;
    AddRttStatistics(statistics);
    AddLinkStatistics(statistics);
    m_datapath->AddStatistics(statistics);
    return statistics;
}

void
PacketFabric::AddRttStatistics(NetworkStatistics& statistics) const
{
    std::vector<double> averages;
    for (FlowId id = 0; id < GetFlowCount(); ++id)
    {
        const Flow& flow = m_flows[id];
        const Answers& answers = m_answers[id];
        statistics.flows += flow.submitted > 0 ? 1 : 0;
        if (answers.rttInterval >= 0)
        { // the end of the run ends an interval
            averages.push_back((flow.rttSumNs + answers.rttLatestNs) / (flow.rttSamples + 1));
        }
    }
    std::sort(averages.begin(), averages.end());
    statistics.rttFlows = averages.size();
    statistics.rttP50Ns = GetQuantile(averages, 0.5);
    statistics.rttP99Ns = GetQuantile(averages, 0.99);
    if (!averages.empty())
    {
        statistics.rttMeanNs = std::accumulate(averages.begin(), averages.end(), 0.0) /
                               static_cast<double>(averages.size());
    }
}

FlowState
PacketFabric::GetFlowState(uint32_t path) const
{
    m_datapath->Update();
    return {m_flows[path].delivered,
            m_datapath->GetWindow(path),
            m_answers[path].rttLatestNs,
            m_flows[path].GetUndelivered(),
            m_datapath->GetRateBps(path)};
}

LinkCounters
PacketFabric::GetLink(uint32_t link) const
{
    m_datapath->Update();
    return m_datapath->GetLink(link);
}

std::vector<LinkCounters>
PacketFabric::GetLinks() const
{
    m_datapath->Update();
    std::vector<LinkCounters> links;
    for (uint32_t link = 0; link < m_liveLinks.GetCount(); ++link)
    {
        links.push_back(m_datapath->GetLink(link));
    }
    return links;
}

void
PacketFabric::AddLinkStatistics(NetworkStatistics& statistics) const
{
    LinkSummary summary(m_topology, std::max<int64_t>(GetElapsedPs(), 1), statistics);
    const std::vector<LinkCounters> links = GetLinks();
    for (uint32_t link = 0; link < links.size(); ++link)
    {
        summary.Add(m_liveLinks.Get(link), links[link]);
    }
    summary.Finish();
}

LinkControl*
PacketFabric::GetLinkControl()
{
    return m_datapath->GetLinkControl();
}

} // namespace cosim
