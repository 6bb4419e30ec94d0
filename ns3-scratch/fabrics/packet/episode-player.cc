/*
 * SPDX-License-Identifier: GPL-2.0-only
 */

#include "fabrics/packet/episode-player.h"

#include "support/flat-map.h"

#include "ns3/assert.h"

#include <algorithm>
#include <limits>
#include <map>
#include <utility>

namespace cosim
{

using namespace ns3;

namespace
{

/// An episode of more round trips or flows gets no tape, unless another zone follows it.
constexpr uint64_t MOST_ROUND_TRIPS = uint64_t{1} << 19;
constexpr std::size_t MOST_FLOWS = std::size_t{1} << 15;

/// If another episode has done the same when it becomes too long, it may be so many times longer.
constexpr uint64_t LONG = 4;

/// All tapes that are being made and not followed have at most so many round trips.
constexpr uint64_t MOST_AT_ONCE = uint64_t{1} << 21;

/// After so many round trips on tapes of which none was played, there are no further tapes.
constexpr uint64_t HOPELESS_ROUND_TRIPS = uint64_t{1} << 21;

/// Tapes with the same beginning that are compared, those used last first.
constexpr std::size_t MOST_ATTEMPTS = 256;

/// Add what was played to the counters of a link.
void
AddPlayed(LinkCounters& counters, const LinkCounters& played)
{
    AddCounters(counters, played);
    counters.maxQueueBytes = std::max(counters.maxQueueBytes, played.maxQueueBytes);
}

} // namespace

/// How much of a flow's messages has come out in an episode that is simulated.
struct EpisodePlayer::Progress
{
    static constexpr uint64_t NONE = UINT64_MAX;

    struct Message
    {
        uint64_t end; //!< in the bytes of the flow in the episode
        bool isAwaited;
    };

    std::vector<Message> messages;
    std::size_t deliveries{0}; //!< messages that are delivered
    std::size_t answers{0};    //!< messages that are acknowledged
    uint64_t delivered{0};     //!< bytes; so are the others
    uint64_t acked{0};
    uint64_t nextDelivery{NONE}; //!< end of the next message
    uint64_t nextAnswer{NONE};
    uint64_t ackedOnTape{0};
    uint64_t toldDelivered{0}; //!< what the client has heard of
    uint64_t toldAcked{0};
    std::size_t toldRoundTrips{0};

    /// @return the bytes of the messages that are delivered
    uint64_t GetDeliveredOnTape() const
    {
        return deliveries == 0 ? 0 : messages[deliveries - 1].end;
    }

    /// @return the end of a message, or NONE if it has not entered
    uint64_t GetEnd(std::size_t message) const
    {
        return message < messages.size() ? messages[message].end : NONE;
    }

    /// Note that a message has entered.
    void Push(uint64_t bytes, bool isAwaited)
    {
        messages.push_back({bytes + (messages.empty() ? 0 : messages.back().end), isAwaited});
        nextDelivery = GetEnd(deliveries);
        nextAnswer = GetEnd(answers);
    }
};

/// A zone. It is the event of its next item, if it is played.
struct EpisodePlayer::Zone final : public CausalEvent
{
    enum class State : uint8_t
    {
        SILENT,
        SIMULATED,
        PLAYED,
    };

    Zone(EpisodePlayer& owner, uint32_t number)
        : player(owner),
          id(number)
    {
    }

    void Become(State next)
    {
        player.m_playing -= state == State::PLAYED ? 1 : 0;
        player.m_playing += next == State::PLAYED ? 1 : 0;
        state = next;
    }

    // CausalEvent
    void Happen() override
    {
        if (state != State::PLAYED || duePs != player.m_clock.GetNowPs())
        { // the episode was taken back, or has another tape
            player.m_clock.NoteIdleEvent();
            return;
        }
        player.Play(*this);
    }

    EpisodePlayer& player;
    const uint32_t id;
    State state{State::SILENT};
    Tape tape;                        //!< that is made, or played; null: none
    int64_t startPs{0};               //!< start of the episode
    int64_t duePs{-1};                //!< PLAYED: time of the pending event; -1: none
    uint64_t episode{0};              //!< see Use
    std::size_t cursor{0};            //!< PLAYED: next item of the tape
    bool isDisturbed{false};          //!< true if it is always simulated from now on
    uint64_t beginning{0};            //!< SIMULATED: digest of all that has entered
    uint64_t unacked{0};              //!< SIMULATED: bytes that are not acknowledged
    std::vector<FlowId> flows;        //!< the flows of the tape
    std::vector<uint32_t> parts;      //!< the parts of the tape
    std::vector<Progress> progress;   //!< SIMULATED: per flow
    std::vector<LinkCounters> before; //!< SIMULATED: per part
};

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

// An episode that is simulated.

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

/// Put a flow on the tape of its zone, and the parts of its path.
void
EpisodePlayer::AddFlow(Zone& zone, FlowId id)
{
    zone.progress.emplace_back();
    EpisodeTape::Flow& flow = zone.tape->flows.emplace_back();
    flow.shape = m_shapes.Get(id);
    m_shapes.GetParts(id, flow.parts);
    for (uint32_t& part : flow.parts)
    {
        part = m_partUse[part].number;
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

/// @return true if a tape that has had a round trip is too long
bool
EpisodePlayer::IsTooLong(const Zone& zone)
{
    const uint64_t roundTrips = zone.tape->roundTrips;
    if (!zone.tape->followers.empty())
    {
        return false;
    }
    if (roundTrips < MOST_ROUND_TRIPS)
    {
        return m_roundTripsOfMade > MOST_AT_ONCE;
    }
    if (roundTrips == MOST_ROUND_TRIPS)
    {
        zone.tape->isRepeated = !m_tapes.NoteLong(zone.beginning);
    }
    return !zone.tape->isRepeated || roundTrips == LONG * MOST_ROUND_TRIPS;
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
    m_roundTripsOfMade -= tape->roundTrips;
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
    m_roundTripsOfMade -= tape->roundTrips;
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
        ++m_roundTripsOfMade;
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

// An episode that is played.

/**
 * Find a tape on which the same has entered up to now.
 *
 * @param zone the zone
 * @param inputs what has entered since the start of its episode
 * @return false if there is none
 */
bool
EpisodePlayer::Follow(Zone& zone, std::span<const Input> inputs)
{
    zone.episode = ++m_episode;
    zone.flows.clear();
    zone.parts.clear();
    uint64_t beginning = 0;
    for (const Input& input : inputs)
    {
        beginning = Extend(zone, beginning, input);
    }
    const std::span<const Tape> tapes = m_tapes.Find(beginning);
    const std::size_t attempts = std::min(tapes.size(), MOST_ATTEMPTS);
    for (std::size_t i = 1; i <= attempts; ++i)
    {
        const Tape& tape = tapes[tapes.size() - i];
        if ((tape->hasEnd || m_zones[tape->leader]->startPs <= zone.startPs) &&
            Matches(zone, *tape, inputs))
        {
            zone.Become(Zone::State::PLAYED);
            zone.tape = tape;
            zone.duePs = -1;
            if (!tape->hasEnd)
            {
                tape->followers.push_back(zone.id);
            }
            m_tapes.Use(zone.tape, beginning);
            return true;
        }
    }
    return false;
}

/// @return true if the same has entered on a tape; then the zone is at its place
bool
EpisodePlayer::Matches(Zone& zone, const EpisodeTape& tape, std::span<const Input> inputs)
{
    zone.cursor = 0;
    uint32_t flows = 0; // that something has entered
    for (const Input& input : inputs)
    {
        while (zone.cursor < tape.items.size() && !tape.items[zone.cursor].IsInput())
        {
            ++zone.cursor;
        }
        const bool isNew = m_flowUse[input.what.flow].number == flows;
        if (!MatchItem(zone, tape, input, isNew))
        {
            return false;
        }
        flows += isNew ? 1 : 0;
    }
    const int64_t nowPs = m_clock.GetNowPs() - zone.startPs;
    for (; zone.cursor < tape.items.size() && tape.items[zone.cursor].atPs <= nowPs; ++zone.cursor)
    { // what has come out by now
        if (const Item& item = tape.items[zone.cursor]; item.IsInput() || item.kind == Kind::END)
        {
            return false;
        }
    }
    return true;
}

/**
 * Pass what enters a zone on a tape.
 *
 * @param zone the zone, at its place on the tape
 * @param tape the tape
 * @param input what enters; its flow has a number
 * @param isNew true if nothing has entered the flow before in this episode
 * @return true if it is the next item, and the flow can do what is on the tape
 */
bool
EpisodePlayer::MatchItem(Zone& zone, const EpisodeTape& tape, const Input& input, bool isNew)
{
    if (zone.cursor == tape.items.size())
    {
        return false;
    }
    const Item& item = tape.items[zone.cursor];
    const Kind kind = input.what.isAwaited ? Kind::SUBMIT_AWAITED : Kind::SUBMIT;
    const FlowId id = input.what.flow;
    if (item.kind != kind || item.atPs != input.atPs || item.bytes != input.what.bytes ||
        item.flow != m_flowUse[id].number || (isNew && !FitsFlow(tape.flows[item.flow], id)))
    {
        return false;
    }
    ++zone.cursor;
    return true;
}

/// @return true if a flow can do what a flow does on a tape
bool
EpisodePlayer::FitsFlow(const EpisodeTape::Flow& flow, FlowId id)
{
    m_parts.clear();
    m_shapes.GetParts(id, m_parts);
    const auto numberOf = [this](uint32_t part) { return m_partUse[part].number; };
    return flow.shape == m_shapes.Get(id) && flow.trail &&
           std::ranges::equal(m_parts, flow.parts, std::ranges::equal_to(), numberOf) &&
           m_replayable->Fits(id, *flow.trail);
}

/// Compare what enters a zone that is played with its tape.
void
EpisodePlayer::Compare(Zone& zone, std::span<const Submission> messages)
{
    const int64_t atPs = m_clock.GetNowPs() - zone.startPs;
    for (std::size_t i = 0; i < messages.size(); ++i)
    {
        const bool isNew = Number(zone, messages[i].flow);
        if (!MatchItem(zone, *zone.tape, {atPs, messages[i]}, isNew))
        {
            Leave(zone, messages.subspan(i));
            return;
        }
    }
    Play(zone);
}

/// Let all happen in a zone that its tape has up to now.
void
EpisodePlayer::Play(Zone& zone)
{
    const int64_t now = m_clock.GetNowPs();
    const Tape tape = zone.tape;
    while (zone.cursor < tape->items.size())
    {
        const Item& item = tape->items[zone.cursor];
        if (const int64_t duePs = zone.startPs + item.atPs; duePs > now)
        {
            Schedule(zone, duePs);
            return;
        }
        switch (item.kind)
        {
        case Kind::DELIVER:
            ++zone.cursor;
            m_client.OnDelivered(zone.flows[item.flow], item.bytes);
            break;
        case Kind::ACKNOWLEDGE:
            ++zone.cursor;
            m_client.OnAcked(zone.flows[item.flow], item.bytes);
            break;
        case Kind::END:
            EndPlay(zone);
            return;
        case Kind::SUBMIT:
        case Kind::SUBMIT_AWAITED:
            m_expecting.push_back(&zone);
            m_check.Request();
            return;
        }
    }
}

void
EpisodePlayer::Schedule(Zone& zone, int64_t duePs)
{
    zone.duePs = duePs;
    m_clock.Schedule(duePs, zone, m_clock.MakeOrigin());
}

/// A zone that is played has become silent.
void
EpisodePlayer::EndPlay(Zone& zone)
{
    zone.Become(Zone::State::SILENT);
    const Tape tape = std::exchange(zone.tape, nullptr);
    for (std::size_t number = 0; number < zone.flows.size(); ++number)
    {
        m_replayable->Advance(zone.flows[number], *tape->flows[number].trail, zone.startPs);
    }
    Count(zone, *tape);
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

/// After all that enters in a picosecond: leave tapes on which something else enters, or that have
/// broken.
void
EpisodePlayer::Check()
{
    while (!m_expecting.empty() || !m_broken.empty())
    {
        for (Zone* zone : std::exchange(m_expecting, {}))
        {
            if (zone->state == Zone::State::PLAYED && zone->cursor < zone->tape->items.size() &&
                zone->tape->items[zone->cursor].IsInput() &&
                zone->startPs + zone->tape->items[zone->cursor].atPs == m_clock.GetNowPs())
            {
                Leave(*zone, {});
            }
        }
        for (const Tape& tape : std::exchange(m_broken, {}))
        {
            if (Zone& leader = *m_zones[tape->leader]; leader.tape == tape)
            {
                StopTape(leader);
            }
            for (const uint32_t id : std::exchange(tape->followers, {}))
            {
                Leave(*m_zones[id], {});
            }
        }
    }
}

/**
 * Leave the tape that a zone has followed.
 *
 * @param zone the zone
 * @param messages what enters now and is not on the tape
 */
void
EpisodePlayer::Leave(Zone& zone, std::span<const Submission> messages)
{
    Detach(zone);
    const std::vector<Input> before = GetInputs(zone);
    std::vector<Input> inputs = before;
    for (const Submission& message : messages)
    {
        inputs.push_back({m_clock.GetNowPs() - zone.startPs, message});
    }
    if (Follow(zone, inputs))
    {
        Play(zone);
        return;
    }
    TakeBack(zone, before);
    if (messages.empty())
    {
        return;
    }
    if (zone.state == Zone::State::SILENT)
    {
        Begin(zone, messages);
    }
    else
    {
        Feed(zone, messages);
    }
}

/// Let a zone not follow its tape any more.
void
EpisodePlayer::Detach(const Zone& zone)
{
    std::erase(zone.tape->followers, zone.id);
}

/// @return what has entered a zone that is played since its episode began
std::vector<EpisodePlayer::Input>
EpisodePlayer::GetInputs(const Zone& zone) const
{
    std::vector<Input> inputs;
    for (std::size_t i = 0; i < zone.cursor; ++i)
    {
        if (const Item& item = zone.tape->items[i]; item.IsInput())
        {
            inputs.push_back(
                {item.atPs,
                 {zone.flows[item.flow], item.kind == Kind::SUBMIT_AWAITED, item.bytes}});
        }
    }
    return inputs;
}

/**
 * Simulate an episode from its start up to now. What came out of it is known, so the client does
 * not hear of it again.
 *
 * @param zone the zone
 * @param inputs what has entered
 */
void
EpisodePlayer::TakeBack(Zone& zone, std::span<const Input> inputs)
{
    ++m_counts.takenBack;
    m_aside = &zone;
    Lead(zone);
    {
        CausalSimulator::Aside aside(m_clock, zone.startPs);
        std::vector<Submission> messages;
        for (auto input = inputs.begin(); input != inputs.end();)
        {
            const int64_t atPs = input->atPs;
            messages.clear();
            for (; input != inputs.end() && input->atPs == atPs; ++input)
            {
                messages.push_back(input->what);
            }
            aside.RunTo(zone.startPs + atPs);
            Feed(zone, messages);
        }
        aside.RunTo(aside.GetPresentPs());
    }
    m_aside = nullptr;
    if (!m_broken.empty())
    {
        m_check.Request();
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
