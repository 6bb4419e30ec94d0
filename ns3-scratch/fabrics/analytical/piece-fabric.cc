/*
 * SPDX-License-Identifier: GPL-2.0-only
 */

#include "fabrics/analytical/piece-fabric.h"

#include "stream/stream-validator.h"
#include "support/wide-arithmetic.h"

#include <algorithm>
#include <utility>

namespace cosim
{

PieceFabric::PieceFabric(const Topology& topology, const Settings& settings)
    : MessageFabric(topology, settings),
      m_control(topology, *this),
      m_stalls(*this, GetWindowLimits(settings)),
      m_links(topology.linkSource.size()),
      m_underWay(topology.pathSource.size()),
      m_lastArrival(topology.pathSource.size())
{
}

LinkControl*
PieceFabric::GetLinkControl()
{
    return &m_control;
}

void
PieceFabric::Launch(std::span<const Cargo> cargo, uint64_t at, uint64_t now)
{
    m_control.NoteDemand();
    m_stalls.Announce(cargo, at);
    for (const Cargo& one : cargo)
    {
        const uint32_t message = MakeMessage(one, at);
        const uint32_t source = m_topology.pathSource[one.path];
        const uint32_t piece = MakePiece(message, source, one.size.wireBytes, at);
        m_pieces[piece].firstBytes = one.size.firstBytes;
        m_pieces[piece].lastBytes = one.size.lastBytes;
        Enter(piece, now);
    }
}

uint32_t
PieceFabric::MakeMessage(const Cargo& cargo, uint64_t at)
{
    const uint32_t id = m_messages.Take();
    m_messages[id] = {cargo.size, m_sent++, at, 0, cargo.path, cargo.bundle, 0};
    m_underWay[cargo.path].Push(id);
    return id;
}

/// @return a new piece that is at a node, or arrives there later
uint32_t
PieceFabric::MakePiece(uint32_t message, uint32_t node, uint64_t wireBytes, uint64_t arrival)
{
    const uint32_t id = m_pieces.Take();
    Piece& piece = m_pieces[id];
    piece.message = message;
    piece.node = node;
    piece.wireBytes = wireBytes;
    piece.arrival = arrival;
    piece.lastByte = 0;
    piece.passages.clear();
    const uint64_t packet = m_format.GetFullBytes();
    piece.firstBytes = static_cast<uint32_t>(std::min(wireBytes, packet));
    piece.lastBytes = static_cast<uint32_t>((wireBytes - 1) % packet + 1);
    ++m_messages[message].pieces;
    return id;
}

void
PieceFabric::FreePiece(uint32_t id)
{
    CancelPlan(id);
    --m_messages[m_pieces[id].message].pieces;
    m_pieces[id].message = NONE;
    m_pieces.Return(id);
}

/// Put a piece into the queue of its next link, if there is such a link.
void
PieceFabric::Enter(uint32_t id, uint64_t now)
{
    const Piece& piece = m_pieces[id];
    const uint32_t path = m_messages[piece.message].path;
    const uint32_t link = m_control.GetNext(piece.node, path);
    if (link == LinkRoutes::NONE)
    {
        m_waiting.push_back(id);
        return;
    }
    if (piece.arrival > now)
    {
        EnterExpected(link, piece.arrival);
    }
    Carry(id, link);
}

/**
 * Enter the expected pieces of a link that arrive before a time, because they are ahead of a piece
 * that arrives then.
 */
void
PieceFabric::EnterExpected(uint32_t link, uint64_t before)
{
    std::vector<uint32_t> expected = std::exchange(m_links[link].expected, {});
    const auto isLater = [this, before](uint32_t id) { return m_pieces[id].arrival > before; };
    const auto later = std::stable_partition(expected.begin(), expected.end(), isLater);
    std::vector<uint32_t> ahead(later, expected.end());
    expected.erase(later, expected.end());
    m_links[link].expected = std::move(expected);
    std::stable_sort(ahead.begin(), ahead.end(), [this](uint32_t a, uint32_t b) {
        return m_pieces[a].arrival < m_pieces[b].arrival;
    });
    for (const uint32_t id : ahead)
    {
        CancelPlan(id);
        Carry(id, link);
    }
}

/// Transmit a piece on a link after all pieces that have arrived there, and forward it.
void
PieceFabric::Carry(uint32_t id, uint32_t linkId)
{
    Piece& piece = m_pieces[id];
    const Message& message = m_messages[piece.message];
    Link& link = m_links[linkId];
    const bool isFirst = piece.lastByte == 0;
    const uint64_t latency = m_liveLinks.Get(linkId).latencyPs;
    Passage passage;
    passage.link = linkId;
    passage.transmission = TransmissionPs(piece.wireBytes, linkId);
    passage.start = std::max(piece.arrival, link.free);
    const uint64_t stall = isFirst ? m_stalls.Get(message.path, piece.wireBytes, piece.arrival) : 0;
    const uint32_t target = m_liveLinks.Get(linkId).target;
    const uint64_t pause = target == m_topology.pathTarget[message.path] ? stall : 0;
    passage.end =
        std::max(Later(passage.start, passage.transmission + pause),
                 isFirst ? 0 : Later(piece.lastByte, TransmissionPs(piece.lastBytes, linkId)));
    link.free = passage.end;
    link.busy += passage.transmission;
    link.wireBytes += piece.wireBytes;
    if (!isFirst)
    {
        link.longestWait = std::max(link.longestWait, passage.start - piece.arrival);
    }
    piece.passages.push_back(passage);
    piece.node = m_liveLinks.Get(linkId).target;
    if (passage.end >= 2 * MAX_TIME_PS - latency)
    {
        Abandon(message.size.bytes, message.path);
        return;
    }
    if (piece.node == m_topology.pathTarget[message.path])
    {
        PlanPiece(id, passage.end);
        return;
    }
    const uint64_t delay = latency + m_topology.forwardingDelayPs;
    piece.arrival = Later(passage.start, TransmissionPs(piece.firstBytes, linkId) + delay);
    piece.lastByte = Later(passage.end + stall, delay);
    PlanPiece(id, piece.arrival);
    const uint32_t next = m_control.GetNext(piece.node, message.path);
    if (m_liveLinks.Get(next).target == m_topology.pathTarget[message.path])
    {
        m_links[next].expected.push_back(id);
    }
}

void
PieceFabric::PlanPiece(uint32_t id, uint64_t at)
{
    const uint32_t due = m_due.Take();
    m_due[due] = id;
    m_pieces[id].due = due;
    Plan(at, due);
}

void
PieceFabric::CancelPlan(uint32_t id)
{
    if (m_pieces[id].due != NONE)
    {
        m_due[std::exchange(m_pieces[id].due, NONE)] = NONE;
    }
}

void
PieceFabric::OnDue(uint32_t subject, uint64_t now)
{
    const uint32_t id = m_due[subject];
    m_due.Return(subject);
    if (id == NONE)
    {
        return;
    }
    Piece& piece = m_pieces[id];
    piece.due = NONE;
    Message& message = m_messages[piece.message];
    if (piece.node != m_topology.pathTarget[message.path])
    {
        const uint32_t link = m_control.GetNext(piece.node, message.path);
        std::erase(m_links[link].expected, id);
        Enter(id, now);
        return;
    }
    const uint64_t latency = m_liveLinks.Get(piece.passages.back().link).latencyPs;
    message.lastByte = std::max(message.lastByte, now + latency);
    const uint32_t owner = piece.message;
    FreePiece(id);
    Complete(owner, now);
}

/**
 * Deliver a message when all its pieces have arrived and all earlier messages of its path are
 * delivered.
 */
void
PieceFabric::Complete(uint32_t id, uint64_t now)
{
    const uint32_t path = m_messages[id].path;
    RingBuffer<uint32_t>& underWay = m_underWay[path];
    while (!underWay.IsEmpty() && m_messages[underWay.Front()].pieces == 0)
    {
        const uint32_t first = underWay.Front();
        const Message& message = m_messages[first];
        underWay.Pop();
        m_lastArrival[path] = std::max({m_lastArrival[path], message.lastByte, now});
        Place(message.bundle, {path, message.size.bytes, message.sentAt, m_lastArrival[path]});
        m_messages.Return(first);
    }
}

/// @return the amount of a piece that a link has sent by now [bytes on the wire]
uint64_t
PieceFabric::GetSent(const Passage& passage, uint64_t wireBytes, uint64_t now)
{
    if (now <= passage.start)
    {
        return 0;
    }
    return now >= passage.end
               ? wireBytes
               : MultiplyDivide(wireBytes, now - passage.start, passage.end - passage.start);
}

std::vector<LinkCounters>
PieceFabric::GetLinks() const
{
    std::vector<LinkCounters> uses;
    uses.reserve(m_links.size());
    for (uint32_t i = 0; i < m_links.size(); ++i)
    {
        const Link& link = m_links[i];
        LinkCounters& use = uses.emplace_back();
        use.busyPs = static_cast<int64_t>(std::min(link.busy, MAX_TIME_PS));
        use.wireBytes = link.wireBytes;
        use.maxQueueBytes = MultiplyDivide(link.longestWait, m_liveLinks.Get(i).rateBps, BYTE_PS);
    }
    return uses;
}

} // namespace cosim
