/*
 * SPDX-License-Identifier: GPL-2.0-only
 */

#include "fabrics/message/message-fabric.h"

#include "clock/causal-simulator.h"
#include "fabrics/message/loss-risk.h"
#include "stream/stream-validator.h"
#include "support/wide-arithmetic.h"

#include "ns3/simulator.h"

#include <algorithm>
#include <cstdint>
#include <span>
#include <stdexcept>
#include <utility>

namespace cosim
{

MessageFabric::MessageFabric(const Topology& topology, const Settings& settings)
    : FabricBase(topology, settings),
      m_parcels(topology.pathSource.size(), m_formats),
      m_agenda(*this),
      m_lastSends(topology.folding.Exists() ? topology.linkSource.size() : 0)
{
}

void
MessageFabric::Start()
{
    StartClock();
}

NetworkStatistics
MessageFabric::GetStatistics() const
{
    const uint64_t copies = m_topology.folding.copies;
    NetworkStatistics result = GetMessageStatistics();
    result.messages *= copies;
    result.payloadBytes *= copies;
    result.wireBytes *= copies;
    result.packets *= copies;
    result.dataPackets = result.packets;
    result.flows = m_parcels.CountUsedPaths() * copies;
    LinkSummary summary(m_topology, GetElapsedPs(), result);
    const std::vector<LinkCounters> counters = GetLinks();
    for (uint32_t link = 0; link < counters.size(); ++link)
    {
        summary.Add(m_liveLinks.Get(link), counters[link]);
    }
    summary.Finish();
    result.lossRisk = FindLossRisk(m_topology, m_settings, m_liveLinks, m_flowRecord);
    return result;
}

std::vector<LinkCounters>
MessageFabric::GetLinks() const
{
    std::vector<LinkCounters> counters = CountLinks();
    if (IsFolded())
    {
        for (std::size_t link = counters.size(); link-- > 0;)
        { // the first link of an orbit has the lowest index
            counters[link] = counters[m_topology.folding.linkOf[link]];
        }
    }
    return counters;
}

void
MessageFabric::SimSend(Rank src,
                       Rank dst,
                       uint64_t bytes,
                       uint64_t tag,
                       uint32_t route,
                       Callback sent)
{
    LaunchAlone(m_pathIndex.Find(src, dst, route), bytes, tag, false, std::move(sent));
}

void
MessageFabric::SimPut(Rank src, Rank dst, uint64_t bytes, uint64_t tag, uint32_t route)
{
    LaunchAlone(m_pathIndex.Find(src, dst, route), bytes, tag, true, {});
}

BundleNetwork*
MessageFabric::GetBundleNetwork()
{
    return this;
}

void
MessageFabric::SimFinish()
{
    m_agenda.Close();
    FabricBase::SimFinish();
}

void
MessageFabric::SetBundleHandler(BundleHandler* handler)
{
    m_bundleHandler = handler;
}

uint32_t
MessageFabric::OpenBundle(uint64_t tag, uint32_t messages, ns3::Time delay)
{
    const uint32_t id = MakeBundle();
    Bundle& bundle = m_bundles[id];
    bundle.tag = tag;
    bundle.delay = static_cast<uint64_t>(delay.GetTimeStep());
    bundle.messages = bundle.unplaced = messages;
    bundle.isLogged = !m_observers[RunObserver::MESSAGES].empty();
    return id;
}

void
MessageFabric::PutIntoBundles(Rank src,
                              std::span<const BundledMessage> messages,
                              ns3::Time delay,
                              uint32_t group)
{
    const uint64_t now = Now();
    const uint64_t at = now + static_cast<uint64_t>(delay.GetTimeStep());
    if (!m_observers[RunObserver::MESSAGES].empty())
    {
        LogSent(src, messages, at);
    }
    for (const BundledMessage& message : messages)
    {
        const uint32_t path = m_pathIndex.Find(src, message.dst, message.route);
        m_parcels.Add(path, message.bytes, message.bundle, at);
        if (IsFolded())
        {
            NoteSend(path, at, group);
        }
    }
    RequestService(now);
}

void
MessageFabric::NoteSend(uint32_t path, uint64_t at, uint32_t group)
{
    LastSend& last = m_lastSends[m_liveLinks.GetPath(path).front()];
    if (last.at == at && (last.group != group || group == NONE))
    {
        EndAmbiguous();
    }
    last = {at, group};
}

void
MessageFabric::EndAmbiguous()
{
    m_isAmbiguous = true;
    SimFinish();
}

/// Report bundled messages as sent to the observers, and record them until they arrive.
void
MessageFabric::LogSent(Rank src, std::span<const BundledMessage> messages, uint64_t at)
{
    for (const BundledMessage& message : messages)
    {
        const uint32_t path = m_pathIndex.Find(src, message.dst, message.route);
        Report(&RunObserver::OnMessageSent, at, path, message.bytes, m_bundles[message.bundle].tag);
        m_log.Add(message.bundle, {path, message.bytes, at});
    }
}

/// Report the messages of a bundle as delivered to the observers.
void
MessageFabric::ReportDelivered(uint32_t bundle)
{
    for (const BundleLog::Message& message : m_log.Take(bundle))
    {
        Report(&RunObserver::OnMessageDelivered,
               message.arrivesAt,
               message.path,
               message.bytes,
               m_bundles[bundle].tag);
    }
}

/// Make a bundle for each cargo of a parcel, which stands for the messages that arrive with it.
void
MessageFabric::Board(std::span<const Parcels::Passenger> passengers)
{
    for (std::size_t i = passengers.size(); i-- > 0;)
    {
        const Parcels::Passenger& passenger = passengers[i];
        uint32_t& bundle = m_cargo[passenger.cargo].bundle;
        if (bundle == NONE)
        {
            bundle = MakeBundle();
        }
        const uint32_t slot = m_passengers.Take();
        m_passengers[slot] = {passenger.bundle, m_bundles[bundle].passengers, passenger.bytes};
        m_bundles[bundle].passengers = slot;
    }
}

/// Give the collected messages to the estimator.
inline void
MessageFabric::OnPass(uint64_t now)
{
    while (!m_parcels.IsEmpty())
    {
        const uint64_t at = m_parcels.Take(m_cargo, m_boarding);
        Board(m_boarding);
        for (const Cargo& cargo : m_cargo)
        {
            m_counters.packets += cargo.size.packets;
            m_counters.wireBytes += cargo.size.wireBytes;
        }
        Launch(m_cargo, at, now);
    }
}

void
MessageFabric::LaunchAlone(uint32_t path, uint64_t bytes, uint64_t tag, bool isPut, Callback sent)
{
    ReportSent(path, bytes, tag);
    const uint32_t id = MakeBundle();
    Bundle& bundle = m_bundles[id];
    bundle.tag = tag;
    bundle.messages = bundle.unplaced = 1;
    bundle.path = path;
    bundle.isPut = isPut;
    bundle.isAwaited = static_cast<bool>(sent);
    if (sent)
    {
        m_sent.emplace(id, std::move(sent));
    }
    const uint64_t now = Now();
    m_parcels.Add(path, bytes, id, now);
    if (IsFolded())
    {
        NoteSend(path, now, NONE);
    }
    RequestService(now);
}

void
MessageFabric::OnServed(uint64_t /* now */)
{
}

void
MessageFabric::Prepare(uint32_t /* subject */, std::size_t /* before */) const
{
}

/// Prepare a planned event.
inline void
MessageFabric::OnNear(uint32_t subject, std::size_t before) const
{
    if ((subject & BUNDLE) != 0)
    {
        PrepareBundle(subject & ~BUNDLE);
    }
    else
    {
        Prepare(subject, before);
    }
}

uint32_t
MessageFabric::MakeBundle()
{
    const uint32_t id = m_bundles.Take();
    m_bundles[id] = {};
    return id;
}

/// Set the arrival time of messages that share packets.
void
MessageFabric::PlacePassengers(uint32_t id, const BundleLog::Message& message)
{
    for (uint32_t i = m_bundles[id].passengers; i != NONE; i = m_passengers[i].next)
    {
        const Passenger& passenger = m_passengers[i];
        PlaceOne(passenger.bundle,
                 {message.path, passenger.bytes, message.sentAt, message.arrivesAt});
    }
    m_bundles[id].dueAt = message.arrivesAt;
    Plan(message.arrivesAt, id | BUNDLE);
}

void
MessageFabric::Postpone(uint32_t id, uint32_t path, uint64_t sentAt, uint64_t before, uint64_t at)
{
    if (m_bundles[id].passengers == NONE)
    {
        PostponeOne(id, path, sentAt, before, at);
        return;
    }
    for (uint32_t i = m_bundles[id].passengers; i != NONE; i = m_passengers[i].next)
    {
        PostponeOne(m_passengers[i].bundle, path, sentAt, before, at);
    }
    m_bundles[id].dueAt = at;
}

/// Move the arrival time of one message to a later time.
void
MessageFabric::PostponeOne(uint32_t id,
                           uint32_t path,
                           uint64_t sentAt,
                           uint64_t before,
                           uint64_t at)
{
    if (at >= 2 * MAX_TIME_PS)
    {
        Fail("a message takes longer than the " + std::to_string(MAX_TIME_PS) +
             " ps that can be simulated");
        return;
    }
    m_completionPs.Replace(before - sentAt, at - sentAt);
    m_flowRecord.Replace(path, before - sentAt, at - sentAt);
    Bundle& bundle = m_bundles[id];
    bundle.dueAt = std::max(bundle.dueAt, at + bundle.delay);
    if (bundle.isLogged)
    {
        m_log.Postpone(id, path, before, at);
    }
}

void
MessageFabric::OnBundleDue(uint32_t id, uint64_t now)
{
    Bundle& bundle = m_bundles[id];
    if (bundle.dueAt > now)
    { // one of its messages was postponed
        Plan(bundle.dueAt, id | BUNDLE);
        return;
    }
    if (bundle.passengers != NONE)
    { // they cannot be postponed any more
        for (uint32_t i = bundle.passengers; i != NONE; i = m_passengers[i].next)
        {
            m_passengers.Return(i);
        }
        m_bundles.Return(id);
        return;
    }
    m_counters.messages += bundle.messages;
    m_counters.payloadBytes += bundle.bytes;
    m_bundles.Return(id);
    if (bundle.isLogged)
    {
        ReportDelivered(id);
    }
    if (bundle.path != NONE)
    {
        Arrive(id);
    }
    else if (m_bundleHandler != nullptr)
    {
        m_bundleHandler->OnBundle(bundle.tag);
    }
    CausalSimulator::Get().Poll(); // one event can serve many messages
}

/// Deliver a single message at its target.
void
MessageFabric::Arrive(uint32_t id)
{
    const Bundle bundle = m_bundles[id];
    if (bundle.isAwaited)
    {
        const auto sent = m_sent.find(id);
        const uint64_t delay = AcknowledgementPs(bundle.path);
        ns3::Simulator::Schedule(ns3::Time(static_cast<int64_t>(delay)),
                                 [callback = std::move(sent->second)] { callback(); });
        m_sent.erase(sent);
    }
    HandOver(bundle.path, bundle.bytes, bundle.tag, bundle.isPut);
}

void
MessageFabric::Plan(uint64_t at, uint32_t subject)
{
    m_agenda.Plan(at, subject);
}

void
MessageFabric::RequestService(uint64_t now)
{
    m_agenda.RequestService(now);
}

/// Handle a planned event.
inline void
MessageFabric::OnPlanned(uint32_t subject, uint64_t now)
{
    if ((subject & BUNDLE) != 0)
    {
        OnBundleDue(subject & ~BUNDLE, now);
    }
    else
    {
        OnDue(subject, now);
    }
}

void
MessageFabric::Abandon(uint64_t bytes, uint32_t path)
{
    Fail("a message of " + std::to_string(bytes) + " bytes from rank " +
         std::to_string(m_topology.pathSource[path]) + " to rank " +
         std::to_string(m_topology.pathTarget[path]) + " takes longer than the " +
         std::to_string(MAX_TIME_PS) + " ps that can be simulated");
}

uint64_t
MessageFabric::Now() const
{
    return static_cast<uint64_t>(NowPs());
}

template class Agenda<MessageFabric>;

// Times that links and paths take.

uint64_t
MessageFabric::TransmissionPs(uint64_t bytes, uint32_t link) const
{
    return MultiplyDivideUp(bytes, BYTE_PS, GetGoodRateBps(m_liveLinks.Get(link)), MAX_TIME_PS);
}

uint64_t
MessageFabric::ForwardingPs(uint32_t link) const
{
    return m_liveLinks.Get(link).source < m_topology.ranks ? m_topology.forwardingDelayPs : 0;
}

/// @return the path that stands for the one from the target of a path to its source
uint32_t
MessageFabric::GetBack(uint32_t path) const
{
    return m_topology.folding.GetPath(
        m_pathIndex.Find(m_topology.pathTarget[path], m_topology.pathSource[path]));
}

uint32_t
MessageFabric::GetAckLink(uint32_t path) const
{
    if (m_topology.reconfiguration.controlNetwork)
    {
        return NONE;
    }
    const std::span<const uint32_t> links = m_liveLinks.GetPath(GetBack(path));
    return links.empty() ? NONE : links.front();
}

uint64_t
MessageFabric::AcknowledgementPs(uint32_t path) const
{
    const Reconfiguration& circuit = m_topology.reconfiguration;
    const uint32_t bytes = m_formats.Get(path).ackBytes;
    if (circuit.controlNetwork)
    {
        return MultiplyDivideUp(bytes, BYTE_PS, circuit.circuitRateBps, MAX_TIME_PS) +
               circuit.circuitLatencyPs;
    }
    const uint32_t back = GetBack(path);
    // Without a path in the reverse direction, assume that it takes as long as the forward path.
    const bool isThere = !m_liveLinks.GetPath(back).empty();
    uint64_t sum = 0;
    bool isFirst = true;
    for (const uint32_t link : m_liveLinks.GetPath(isThere ? back : path))
    {
        sum = Later(sum, TransmissionPs(bytes, link));
        sum = Later(sum, m_liveLinks.Get(link).latencyPs);
        sum = Later(sum, isFirst ? 0 : ForwardingPs(link));
        isFirst = false;
    }
    return sum;
}

} // namespace cosim
