/*
 * SPDX-License-Identifier: GPL-2.0-only
 */

// EpisodePlayer: an episode that is simulated, and put on a tape if it can be.

#include "fabrics/packet/episode-player.h"
#include "fabrics/packet/episode-zone.h"

#include <algorithm>
#include <limits>
#include <utility>

namespace cosim
{

using namespace ns3;

namespace
{

/// A longer episode gets no tape, unless another zone follows it (see EpisodeTape::GetLength). The
/// first limit holds while no tape has been played.
constexpr uint64_t UNPROVEN_LENGTH = uint64_t{1} << 16;
constexpr uint64_t PROVEN_LENGTH = uint64_t{1} << 19;

/// If another episode has done the same when it becomes too long, it may be so many times as long,
/// again and again up to a limit.
constexpr uint64_t KNOWN = 8;
constexpr uint64_t MOST_LENGTH = uint64_t{1} << 22;

/// All tapes that are being made and not followed may be so many times as long together.
constexpr uint64_t AT_ONCE = 4;

/// An episode of more flows gets no tape, unless another zone follows it.
constexpr std::size_t MOST_FLOWS = std::size_t{1} << 15;

/// After so many round trips on tapes of which none was played, there are no further tapes.
constexpr uint64_t HOPELESS_ROUND_TRIPS = uint64_t{1} << 21;

} // namespace

/// Begin to simulate an episode.
void
EpisodePlayer::Lead(Zone& zone)
{
    ++m_counts.simulated;
    zone.Become(Zone::State::SIMULATED);
    zone.episode = ++m_episode;
    zone.unacked = 0;
    zone.beginning = 0;
    zone.flows.clear();
    zone.parts.clear();
    zone.progress.clear();
    zone.before.clear();
    zone.tape.reset();
    const bool isHopeless = zone.isDisturbed || (m_tapes.GetRoundTrips() >= HOPELESS_ROUND_TRIPS &&
                                                 m_counts.packets == 0);
    if (!isHopeless || m_aside != nullptr)
    { // an episode that is taken back needs its progress
        zone.tape = std::make_shared<EpisodeTape>();
        zone.tape->leader = zone.id;
        zone.tape->mostLength = GetFirstLength();
    }
}

/// Let messages enter a zone that is simulated.
void
EpisodePlayer::Feed(Zone& zone, std::span<const Submission> messages)
{
    const int64_t atPs = m_clock.GetNowPs() - zone.startPs;
    for (const Submission& message : messages)
    {
        zone.unacked += message.bytes;
        if (zone.tape)
        {
            const Input input{atPs, message};
            zone.beginning = Extend(zone, zone.beginning, input);
            const uint32_t number = m_flowUse[message.flow].number;
            if (number == zone.tape->flows.size())
            {
                AddFlow(zone, message.flow);
            }
            if (zone.tape->isBroken && zone.tape->followers.empty() && m_aside == nullptr)
            {
                StopTape(zone);
                continue;
            }
            zone.progress[number].Push(message.bytes, message.isAwaited);
            ++zone.tape->messages;
            m_lengthOfMade += zone.tape->isBroken ? 0 : EpisodeTape::MESSAGE;
            Append(*zone.tape,
                   {atPs,
                    message.bytes,
                    number,
                    message.isAwaited ? Kind::SUBMIT_AWAITED : Kind::SUBMIT});
        }
    }
    if (zone.tape && !zone.tape->isBroken)
    {
        zone.tape->beginnings.push_back(zone.beginning);
        m_tapes.Keep(zone.tape);
    }
    m_packets->Submit(messages);
}

/// Put a flow on the tape of its zone, and the parts of its path.
void
EpisodePlayer::AddFlow(Zone& zone, FlowId id)
{
    zone.progress.emplace_back();
    EpisodeTape::Flow& flow = zone.tape->flows.emplace_back();
    std::vector<uint32_t>& pathParts = zone.tape->pathParts;
    flow.shape = m_shapes.Get(id);
    flow.firstPart = static_cast<uint32_t>(pathParts.size());
    m_parts.clear();
    m_shapes.GetParts(id, m_parts);
    for (const uint32_t part : m_parts)
    {
        pathParts.push_back(m_partUse[part].number);
    }
    for (std::size_t number = zone.before.size(); number < zone.parts.size(); ++number)
    {
        const uint32_t part = zone.parts[number];
        zone.before.emplace_back();
        if (m_shapes.IsLink(part))
        {
            zone.before.back() = m_packets->GetLink(part);
            uint64_t& longest = m_played[part].maxQueueBytes;
            longest = std::max(longest, m_replayable->TakeLongestQueue(part));
        }
    }
    flow.trail = m_replayable->BeginTrail(id);
    if (!flow.trail || (zone.flows.size() == MOST_FLOWS && zone.tape->followers.empty()))
    {
        Break(zone);
    }
}

/// @return the limit for a tape of which it is not known that it repeats
uint64_t
EpisodePlayer::GetFirstLength() const
{
    return m_counts.packets == 0 ? UNPROVEN_LENGTH : PROVEN_LENGTH;
}

/// @return true if a tape that is being made is too long
bool
EpisodePlayer::IsTooLong(const Zone& zone)
{
    EpisodeTape& tape = *zone.tape;
    if (!tape.followers.empty())
    {
        return false;
    }
    if (tape.GetLength() < tape.mostLength)
    {
        return m_lengthOfMade > AT_ONCE * GetFirstLength();
    }
    tape.mostLength *= KNOWN;
    return m_tapes.NoteLong(zone.beginning) || tape.mostLength > MOST_LENGTH;
}

/// Put something on a tape that is being made, and wake those that follow it.
void
EpisodePlayer::Append(EpisodeTape& tape, const Item& item)
{
    tape.items.push_back(item);
    for (const uint32_t id : tape.followers)
    {
        Zone& zone = *m_zones[id];
        if (zone.cursor + 1 == tape.items.size())
        {
            Schedule(zone, zone.startPs + item.atPs);
        }
    }
}

/// A zone that is simulated has become silent.
void
EpisodePlayer::EndLead(Zone& zone)
{
    zone.Become(Zone::State::SILENT);
    TellBytes(zone);
    TellRoundTrips(zone);
    const Tape tape = std::exchange(zone.tape, nullptr);
    if (!tape || tape->isBroken)
    {
        return;
    }
    for (uint32_t number = 0; number < zone.flows.size(); ++number)
    {
        if (!m_replayable->EndTrail(zone.flows[number], *tape->flows[number].trail))
        {
            Break(tape);
            return;
        }
    }
    const int64_t atPs = m_clock.GetNowPs() - zone.startPs;
    for (uint32_t number = 0; number < zone.flows.size(); ++number)
    { // that nobody waits for it makes no difference when
        const Progress& progress = zone.progress[number];
        if (progress.acked > progress.ackedOnTape)
        {
            Append(*tape, {atPs, progress.acked - progress.ackedOnTape, number, Kind::ACKNOWLEDGE});
        }
    }
    Summarize(zone, *tape);
    tape->hasEnd = true;
    Append(*tape, {atPs, 0, 0, Kind::END});
    m_lengthOfMade -= tape->GetLength();
    tape->Shrink();
    m_tapes.NoteEnd(*tape);
    tape->followers.clear();
}

/// Let a zone that is simulated have no tape any more.
void
EpisodePlayer::StopTape(Zone& zone)
{
    TellBytes(zone);
    zone.tape.reset();
    zone.progress = {};
    zone.before = {};
}

/// Put on a tape what flows and links have counted since the start of the episode.
void
EpisodePlayer::Summarize(const Zone& zone, EpisodeTape& tape)
{
    tape.packets = {};
    for (std::size_t number = 0; number < zone.flows.size(); ++number)
    {
        AddCounters(tape.packets,
                    m_replayable->CountPackets(zone.flows[number], *tape.flows[number].trail));
    }
    tape.parts.assign(zone.parts.size(), {});
    for (std::size_t number = 0; number < zone.parts.size(); ++number)
    {
        const uint32_t part = zone.parts[number];
        if (m_shapes.IsLink(part))
        {
            LinkCounters& counters = tape.parts[number];
            counters = GetDelta(m_packets->GetLink(part), zone.before[number]);
            counters.maxQueueBytes = m_replayable->TakeLongestQueue(part);
            uint64_t& longest = m_played[part].maxQueueBytes;
            longest = std::max(longest, counters.maxQueueBytes);
        }
    }
}

/// A packet of a zone was lost or repeated. Copies of it can be under way when all is acknowledged.
void
EpisodePlayer::Disturb(Zone& zone)
{
    zone.isDisturbed = true;
    Break(zone);
}

/// Something happened in a zone that cannot be played.
void
EpisodePlayer::Break(const Zone& zone)
{
    if (zone.tape && !zone.tape->isBroken)
    {
        Break(zone.tape);
    }
}

void
EpisodePlayer::Break(const Tape& tape)
{
    if (Zone& leader = *m_zones[tape->leader]; leader.tape == tape)
    {
        TellRoundTrips(leader);
    }
    tape->isBroken = true;
    m_lengthOfMade -= tape->GetLength();
    m_tapes.Forget(tape);
    m_broken.push_back(tape);
    if (m_aside == nullptr)
    {
        m_check.Request();
    }
}

// What is told of packets.

void
EpisodePlayer::OnDelivered(FlowId flow, uint64_t bytes)
{
    const Use& use = m_flowUse[flow];
    Zone& zone = *use.zone;
    if (!zone.tape)
    {
        m_client.OnDelivered(flow, bytes);
        return;
    }
    Progress& progress = zone.progress[use.number];
    progress.delivered += bytes;
    if (progress.nextDelivery <= progress.delivered)
    {
        Deliver(zone, use.number);
    }
}

/// Put the messages of a flow on the tape that are delivered now.
void
EpisodePlayer::Deliver(Zone& zone, uint32_t number)
{
    Progress& progress = zone.progress[number];
    while (progress.nextDelivery <= progress.delivered)
    {
        const uint64_t before = progress.GetDeliveredOnTape();
        const uint64_t end = progress.nextDelivery;
        progress.nextDelivery = progress.GetEnd(++progress.deliveries);
        const int64_t atPs = m_clock.GetNowPs() - zone.startPs;
        Append(*zone.tape, {atPs, end - before, number, Kind::DELIVER});
        TellDelivered(zone, number, end);
    }
}

void
EpisodePlayer::OnAcked(FlowId flow, uint64_t bytes)
{
    const Use& use = m_flowUse[flow];
    Zone& zone = *use.zone;
    if (!zone.tape)
    {
        m_client.OnAcked(flow, bytes);
    }
    else
    {
        Progress& progress = zone.progress[use.number];
        progress.acked += bytes;
        if (FlowTrail* trail = zone.tape->flows[use.number].trail.get(); trail != nullptr)
        {
            trail->OnAcked(bytes);
        }
        if (progress.nextAnswer <= progress.acked)
        {
            Answer(zone, use.number);
        }
    }
    zone.unacked -= bytes;
    if (zone.unacked == 0)
    {
        EndLead(zone);
    }
}

/// Put the messages of a flow on the tape that are acknowledged now, and are awaited.
void
EpisodePlayer::Answer(Zone& zone, uint32_t number)
{
    Progress& progress = zone.progress[number];
    while (progress.nextAnswer <= progress.acked)
    {
        const auto [end, isAwaited] = progress.messages[progress.answers];
        progress.nextAnswer = progress.GetEnd(++progress.answers);
        if (isAwaited)
        {
            const uint64_t before = std::exchange(progress.ackedOnTape, end);
            const int64_t atPs = m_clock.GetNowPs() - zone.startPs;
            Append(*zone.tape, {atPs, end - before, number, Kind::ACKNOWLEDGE});
            TellAcked(zone, number, end);
        }
    }
}

void
EpisodePlayer::OnRttSample(FlowId flow, Time rtt, Time oldest)
{
    const Use& use = m_flowUse[flow];
    const Zone& zone = *use.zone;
    if (zone.tape && !zone.tape->isBroken)
    {
        EpisodeTape& tape = *zone.tape;
        ++tape.roundTrips;
        ++m_lengthOfMade;
        if (oldest.GetTimeStep() <= std::numeric_limits<uint32_t>::max() && !IsTooLong(zone))
        {
            tape.flows[use.number].trail->Add({m_clock.GetNowPs() - zone.startPs,
                                               static_cast<uint32_t>(rtt.GetTimeStep()),
                                               static_cast<uint32_t>(oldest.GetTimeStep())});
            return; // the client hears of it at the end
        }
        Break(zone);
    }
    m_client.OnRttSample(flow, rtt, oldest);
}

/// Tell the client that a flow has delivered its bytes up to an end, unless it knows.
void
EpisodePlayer::TellDelivered(Zone& zone, uint32_t number, uint64_t end)
{
    const uint64_t before = std::exchange(zone.progress[number].toldDelivered, end);
    if (m_aside != &zone && end > before)
    {
        m_client.OnDelivered(zone.flows[number], end - before);
    }
}

/// Tell the client that the bytes of a flow are acknowledged up to an end, unless it knows.
void
EpisodePlayer::TellAcked(Zone& zone, uint32_t number, uint64_t end)
{
    const uint64_t before = std::exchange(zone.progress[number].toldAcked, end);
    if (m_aside != &zone && end > before)
    {
        m_client.OnAcked(zone.flows[number], end - before);
    }
}

/// Tell the client of all bytes of an episode that it has not heard of yet.
void
EpisodePlayer::TellBytes(Zone& zone)
{
    if (m_aside == &zone)
    {
        return; // only the present is news
    }
    for (uint32_t number = 0; number < zone.progress.size(); ++number)
    {
        TellDelivered(zone, number, zone.progress[number].delivered);
        TellAcked(zone, number, zone.progress[number].acked);
    }
}

/// Tell the client of all round trips on the tape of a zone that it has not heard of yet.
void
EpisodePlayer::TellRoundTrips(Zone& zone)
{
    if (!zone.tape)
    {
        return;
    }
    for (uint32_t number = 0; number < zone.progress.size(); ++number)
    {
        if (const FlowTrail* trail = zone.tape->flows[number].trail.get(); trail != nullptr)
        {
            const std::span<const RoundTrip> all = trail->GetRoundTrips();
            const std::size_t told =
                std::exchange(zone.progress[number].toldRoundTrips, all.size());
            if (all.size() > told)
            {
                m_client.OnReplayed(zone.flows[number], zone.startPs, all.subspan(told));
            }
        }
    }
}

void
EpisodePlayer::OnRetransmitted(FlowId flow, uint32_t payloadBytes)
{
    m_client.OnRetransmitted(flow, payloadBytes);
    Disturb(*m_flowUse[flow].zone);
}

void
EpisodePlayer::OnRepeated(FlowId flow)
{
    m_client.OnRepeated(flow);
    Disturb(*m_flowUse[flow].zone);
}

void
EpisodePlayer::OnTimeout(FlowId flow, Time waited)
{
    m_client.OnTimeout(flow, waited);
    Disturb(*m_flowUse[flow].zone);
}

void
EpisodePlayer::OnClosed(FlowId flow)
{
    m_client.OnClosed(flow);
}

void
EpisodePlayer::OnDropped(uint32_t link, uint32_t wireBytes)
{
    m_client.OnDropped(link, wireBytes);
    if (const Use& use = m_partUse[link]; use.zone != nullptr && use.episode == use.zone->episode)
    {
        Disturb(*use.zone);
    }
}

void
EpisodePlayer::AddUndelivered(std::vector<uint64_t>& bytes) const
{
    m_client.AddUndelivered(bytes);
}

void
EpisodePlayer::OnReplayed(FlowId flow, int64_t startPs, std::span<const RoundTrip> roundTrips)
{
    m_client.OnReplayed(flow, startPs, roundTrips);
}

} // namespace cosim
