/*
 * SPDX-License-Identifier: GPL-2.0-only
 */

#include "fabrics/packet/episode-player.h"

#include "fabrics/packet/episode-zone.h"
#include "support/flat-map.h"

#include "ns3/assert.h"

#include <algorithm>
#include <map>
#include <utility>

namespace cosim
{

namespace
{

/// Add what was played to the counters of a link.
void
AddPlayed(LinkCounters& counters, const LinkCounters& played)
{
    AddCounters(counters, played);
    counters.maxQueueBytes = std::max(counters.maxQueueBytes, played.maxQueueBytes);
}

} // namespace

EpisodePlayer::EpisodePlayer(const DatapathSetup& setup,
                             DatapathClient& client,
                             const DatapathMaker& make)
    : m_zoneOf(setup.zones),
      m_client(client),
      m_clock(setup.clock),
      m_shapes(setup.topology, setup.paths),
      m_packets(make(setup, *this)),
      m_replayable(m_packets->GetReplayable()),
      m_zones(setup.zones.GetCount()),
      m_flowUse(setup.topology.pathSource.size()),
      m_partUse(m_shapes.GetPartCount()),
      m_played(setup.links.GetCount())
{
    NS_ASSERT_MSG(m_replayable != nullptr, "the datapath cannot take flows along trails");
}

EpisodePlayer::~EpisodePlayer() = default;

void
EpisodePlayer::Open(const HandshakePlan& handshakes)
{
    m_packets->Open(handshakes);
}

uint64_t
EpisodePlayer::CountUntold() const
{
    uint64_t bytes = 0;
    for (const std::unique_ptr<Zone>& zone : m_zones)
    {
        if (zone && zone->state == Zone::State::SIMULATED)
        {
            for (const Progress& progress : zone->progress)
            {
                bytes += progress.delivered - progress.toldDelivered;
            }
        }
    }
    return bytes;
}

uint32_t
EpisodePlayer::GetWindow(FlowId flow) const
{
    return m_packets->GetWindow(flow);
}

LinkCounters
EpisodePlayer::GetLink(uint32_t link) const
{
    LinkCounters counters = m_packets->GetLink(link);
    AddPlayed(counters, m_played[link]);
    return counters;
}

PacketCounts
EpisodePlayer::GetSent() const
{
    PacketCounts sent = m_packets->GetSent();
    AddCounters(sent, m_sent);
    return sent;
}

void
EpisodePlayer::AddStatistics(NetworkStatistics& statistics) const
{
    m_packets->AddStatistics(statistics);
    statistics.replay = m_counts;
}

LinkControl*
EpisodePlayer::GetLinkControl()
{
    return m_packets->GetLinkControl();
}

/// @return the zone of a flow, which is made if nothing has entered it yet
EpisodePlayer::Zone&
EpisodePlayer::FindZone(FlowId flow)
{
    Use& use = m_flowUse[flow];
    if (use.zone == nullptr)
    {
        const uint32_t id = m_zoneOf.Get(flow);
        if (!m_zones[id])
        {
            m_zones[id] = std::make_unique<Zone>(*this, id);
        }
        use.zone = m_zones[id].get();
    }
    return *use.zone;
}

/**
 * Number a flow that something enters, and the parts of its path, in the order of first use.
 *
 * @param zone its zone
 * @param id the flow
 * @return true if nothing has entered it before in this episode; then m_parts has its parts
 */
bool
EpisodePlayer::Number(Zone& zone, FlowId id)
{
    Use& use = m_flowUse[id];
    if (use.episode == zone.episode)
    {
        return false;
    }
    use = {&zone, zone.episode, static_cast<uint32_t>(zone.flows.size())};
    zone.flows.push_back(id);
    m_parts.clear();
    m_shapes.GetParts(id, m_parts);
    for (const uint32_t part : m_parts)
    {
        Use& partUse = m_partUse[part];
        if (partUse.episode != zone.episode)
        {
            partUse = {&zone, zone.episode, static_cast<uint32_t>(zone.parts.size())};
            zone.parts.push_back(part);
        }
    }
    return true;
}

/**
 * Number the flow that something enters.
 *
 * @param zone its zone
 * @param digest digest of what has entered before
 * @param input what enters
 * @return the digest with what enters
 */
uint64_t
EpisodePlayer::Extend(Zone& zone, uint64_t digest, const Input& input)
{
    const FlowId id = input.what.flow;
    const bool isNew = Number(zone, id);
    digest = MixHash(digest, static_cast<uint64_t>(input.atPs));
    digest = MixHash(digest, input.what.bytes << 1 | (input.what.isAwaited ? 1 : 0));
    digest = MixHash(digest, m_flowUse[id].number);
    if (isNew)
    {
        digest = MixHash(digest, m_shapes.Get(id));
        for (const uint32_t part : m_parts)
        {
            digest = MixHash(digest, m_partUse[part].number);
        }
    }
    return digest;
}

void
EpisodePlayer::Submit(std::span<const Submission> submissions)
{
    const auto zoneOf = [this](const Submission& one) { return m_zoneOf.Get(one.flow); };
    if (!std::ranges::is_sorted(submissions, std::ranges::less(), zoneOf))
    {
        m_sorted.assign(submissions.begin(), submissions.end());
        std::ranges::stable_sort(m_sorted, std::ranges::less(), zoneOf);
        submissions = m_sorted;
    }
    m_groups.clear();
    for (auto begin = submissions.begin(); begin != submissions.end();)
    {
        Zone& zone = FindZone(begin->flow);
        const auto end = std::find_if(begin, submissions.end(), [&](const Submission& one) {
            return &FindZone(one.flow) != &zone;
        });
        const Group group{&zone, {begin, end}};
        begin = end;
        // What is simulated comes first, so that a tape that is being made has all that enters now.
        if (group.zone->state == Zone::State::SIMULATED)
        {
            Feed(*group.zone, group.messages);
        }
        else
        {
            m_groups.push_back(group);
        }
    }
    for (const Group& group : m_groups)
    {
        if (group.zone->state == Zone::State::PLAYED)
        {
            Compare(*group.zone, group.messages);
        }
        else
        {
            Begin(*group.zone, group.messages);
        }
    }
}

/// Begin an episode of a silent zone.
void
EpisodePlayer::Begin(Zone& zone, std::span<const Submission> messages)
{
    ++m_counts.episodes;
    zone.startPs = m_clock.GetNowPs();
    if (!zone.isDisturbed && !m_tapes.IsEmpty())
    {
        m_inputs.clear();
        for (const Submission& message : messages)
        {
            m_inputs.push_back({0, message});
        }
        if (Follow(zone, m_inputs))
        {
            Play(zone);
            return;
        }
    }
    Lead(zone);
    Feed(zone, messages);
}

/// Count what a tape says that packets have done.
void
EpisodePlayer::Count(const Zone& zone, const EpisodeTape& tape)
{
    m_counts.messages += tape.messages;
    m_counts.packets += tape.packets.packets;
    AddCounters(m_sent, tape.packets);
    for (std::size_t number = 0; number < zone.flows.size(); ++number)
    {
        m_client.OnReplayed(zone.flows[number],
                            zone.startPs,
                            tape.flows[number].trail->GetRoundTrips());
    }
    for (std::size_t number = 0; number < zone.parts.size(); ++number)
    {
        if (m_shapes.IsLink(zone.parts[number]))
        {
            AddPlayed(m_played[zone.parts[number]], tape.parts[number]);
        }
    }
}

void
EpisodePlayer::Update()
{
    for (const std::unique_ptr<Zone>& zone : m_zones)
    {
        if (!zone || zone->state == Zone::State::SILENT)
        {
            continue;
        }
        if (zone->state == Zone::State::PLAYED)
        {
            Detach(*zone);
            TakeBack(*zone, GetInputs(*zone));
        }
        TellBytes(*zone);
        TellRoundTrips(*zone);
    }
}

void
EpisodePlayer::Finish()
{
    // Zones at the same place of a tape have counted the same, so one of them is simulated.
    std::map<std::pair<Tape, int64_t>, Zone*> models;
    std::vector<std::pair<Zone*, Zone*>> copies;
    for (const std::unique_ptr<Zone>& zone : m_zones)
    {
        if (!zone || zone->state != Zone::State::PLAYED)
        {
            continue;
        }
        const Tape tape = zone->tape;
        Zone*& model = models[{tape, zone->startPs}];
        if (Zone& leader = *m_zones[tape->leader]; model == nullptr && !tape->hasEnd &&
                                                   leader.tape == tape &&
                                                   leader.startPs == zone->startPs)
        {
            model = &leader;
        }
        if (model != nullptr && !model->tape->isBroken)
        {
            copies.emplace_back(zone.get(), model);
            continue;
        }
        Detach(*zone);
        TakeBack(*zone, GetInputs(*zone));
        if (zone->tape)
        {
            model = zone.get();
        }
    }
    for (const auto& [place, model] : models)
    {
        if (model != nullptr && !model->tape->isBroken)
        {
            Summarize(*model, *model->tape);
        }
    }
    for (const auto& [zone, model] : copies)
    {
        zone->Become(Zone::State::SILENT);
        Count(*zone, *model->tape);
        for (std::size_t number = 0; number < zone->flows.size(); ++number)
        { // parts of messages
            const Progress& progress = model->progress[number];
            m_client.OnDelivered(zone->flows[number],
                                 progress.delivered - progress.GetDeliveredOnTape());
            m_client.OnAcked(zone->flows[number], progress.acked - progress.ackedOnTape);
        }
    }
    Update();
}

} // namespace cosim
