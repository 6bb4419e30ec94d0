/*
 * SPDX-License-Identifier: GPL-2.0-only
 */

#include "fabrics/analytical/piece-link-control.h"

#include "fabrics/analytical/piece-fabric.h"
#include "support/wide-arithmetic.h"

#include <algorithm>
#include <utility>

namespace cosim
{

PieceLinkControl::PieceLinkControl(const Topology& topology, PieceFabric& fabric)
    : m_fabric(fabric),
      m_routes(MakeLinkRoutes(topology, fabric.m_liveLinks))
{
}

bool
PieceLinkControl::MeasureDemand(std::vector<uint64_t>& bytes) const
{
    for (const PieceFabric::Piece& piece : m_fabric.m_pieces.GetSlots())
    {
        if (piece.message == PieceFabric::NONE)
        {
            continue;
        }
        const PieceFabric::Message& message = m_fabric.m_messages[piece.message];
        uint64_t left = piece.wireBytes;
        if (!piece.passages.empty() && piece.node == m_fabric.m_topology.pathTarget[message.path])
        {
            left -= PieceFabric::GetSent(piece.passages.back(), piece.wireBytes, m_fabric.Now());
        }
        const uint64_t payload = std::max<uint64_t>(message.size.bytes, 1);
        // Round up, so that an unfinished message always counts as demand.
        bytes[message.path] +=
            payload -
            MultiplyDivide(payload, message.size.wireBytes - left, message.size.wireBytes);
    }
    return false;
}

void
PieceLinkControl::Pause()
{
    m_isPaused = true;
    const uint64_t now = m_fabric.Now();
    const auto pieces = static_cast<uint32_t>(m_fabric.m_pieces.GetSlots().size());
    for (uint32_t id = 0; id < pieces; ++id)
    {
        if (m_fabric.m_pieces[id].message != PieceFabric::NONE &&
            !m_fabric.m_pieces[id].passages.empty())
        {
            TakeApart(id, now);
        }
    }
    for (PieceFabric::Link& link : m_fabric.m_links)
    {
        link.free = 0;
        link.expected.clear();
    }
}

/// Let the bytes of a piece that have left its last link arrive, and return the others to its
/// source.
void
PieceLinkControl::TakeApart(uint32_t id, uint64_t now)
{
    const PieceFabric::Piece piece = m_fabric.m_pieces[id];
    PieceFabric::Message& message = m_fabric.m_messages[piece.message];
    const PieceFabric::Passage& last = piece.passages.back();
    const bool isLast = piece.node == m_fabric.m_topology.pathTarget[message.path];
    const uint64_t sent = isLast ? PieceFabric::GetSent(last, piece.wireBytes, now) : 0;
    const uint64_t left = piece.wireBytes - sent;
    for (const PieceFabric::Passage& passage : piece.passages)
    {
        PieceFabric::Link& link = m_fabric.m_links[passage.link];
        link.wireBytes -= left;
        link.busy -= MultiplyDivide(passage.transmission, left, piece.wireBytes);
    }
    if (sent > 0)
    {
        const uint64_t arrival = now + m_fabric.m_liveLinks.Get(last.link).latencyPs;
        message.lastByte = std::max(message.lastByte, arrival);
    }
    if (left > 0)
    {
        const uint32_t source = m_fabric.m_topology.pathSource[message.path];
        const uint32_t rest = m_fabric.MakePiece(piece.message, source, left, now);
        m_fabric.m_waiting.push_back(rest);
        if (sent == 0)
        {
            m_fabric.m_pieces[rest].firstBytes = piece.firstBytes;
            m_fabric.m_pieces[rest].lastBytes = piece.lastBytes;
        }
    }
    m_fabric.FreePiece(id);
    m_fabric.Complete(piece.message, now);
}

void
PieceLinkControl::ApplyLinks(std::span<const LinkUpdate> updates)
{
    m_routes->Apply(updates);
    m_fabric.m_links.resize(m_fabric.m_liveLinks.GetCount());
}

uint32_t
PieceLinkControl::Reroute()
{
    return m_routes->Reroute();
}

std::vector<uint32_t>
PieceLinkControl::GetBrokenPaths() const
{
    return m_routes->GetBrokenPaths();
}

void
PieceLinkControl::Resume()
{
    m_isPaused = false;
    std::vector<uint32_t> waiting = std::exchange(m_fabric.m_waiting, {});
    std::stable_sort(waiting.begin(), waiting.end(), [this](uint32_t a, uint32_t b) {
        return m_fabric.m_messages[m_fabric.m_pieces[a].message].number <
               m_fabric.m_messages[m_fabric.m_pieces[b].message].number;
    });
    const uint64_t now = m_fabric.Now();
    for (const uint32_t id : waiting)
    {
        m_fabric.m_pieces[id].arrival = std::max(m_fabric.m_pieces[id].arrival, now);
        m_fabric.Enter(id, now);
    }
}

} // namespace cosim
