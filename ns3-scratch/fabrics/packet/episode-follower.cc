/*
 * SPDX-License-Identifier: GPL-2.0-only
 */

// EpisodePlayer: an episode that is played from a tape, and taken back if it differs.

#include "fabrics/packet/episode-player.h"
#include "fabrics/packet/episode-zone.h"

#include <algorithm>
#include <ranges>
#include <utility>

namespace cosim
{

namespace
{

/// Tapes with the same beginning that are compared, those used last first.
constexpr std::size_t MOST_ATTEMPTS = 256;

} // namespace

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
    Beginning beginning;
    uint64_t digest = 0;
    for (std::size_t i = 0; i < inputs.size(); ++i)
    {
        digest = Extend(zone, digest, inputs[i]);
        if (i + 1 == inputs.size() || inputs[i + 1].atPs != inputs[i].atPs)
        {
            beginning.Extend(digest);
        }
    }
    std::size_t attempts = 0;
    for (const Tape& tape : std::views::reverse(m_tapes.Find(beginning)))
    {
        if (beginning.IsOf(*tape) &&
            (tape->hasEnd || m_zones[tape->leader]->startPs <= zone.startPs) &&
            attempts++ < MOST_ATTEMPTS && Matches(zone, *tape, inputs))
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
        item.flow != m_flowUse[id].number || (isNew && !FitsFlow(tape, item.flow, id)))
    {
        return false;
    }
    ++zone.cursor;
    return true;
}

/// @return true if a flow can do what a flow does on a tape
bool
EpisodePlayer::FitsFlow(const EpisodeTape& tape, uint32_t number, FlowId id)
{
    const EpisodeTape::Flow& flow = tape.flows[number];
    if (flow.shape != m_shapes.Get(id) || !flow.trail)
    {
        return false;
    }
    m_parts.clear();
    m_shapes.GetParts(id, m_parts); // as many as of the flow on the tape
    const auto isSame = [this](uint32_t part, uint32_t onTape) {
        return m_partUse[part].number == onTape;
    };
    return std::equal(m_parts.begin(),
                      m_parts.end(),
                      tape.pathParts.begin() + flow.firstPart,
                      isSame) &&
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

} // namespace cosim
