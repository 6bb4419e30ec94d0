/*
 * SPDX-License-Identifier: GPL-2.0-only
 */

// The part of SendWindows that describes and changes its whole state.

#include "fabrics/analytical/send-windows.h"
#include "fabrics/message/message-fabric.h"

#include <algorithm>
#include <utility>

namespace cosim
{

void
SendWindows::Forget(uint64_t now)
{
    for (uint32_t path = 0; path < m_paths.size(); ++path)
    {
        Path& state = m_paths[path];
        state.ackedAt = 0;
        state.returnPs = 0;
        state.unplaced = 0;
        Rest(path);
        if (state.busy != NONE)
        {
            Busy& busy = m_busy[state.busy];
            state.acked += std::exchange(busy.wireBytes, 0);
            busy.sent.Clear();
            busy.placed = 0;
            busy.waitedUntil = 0;
            busy.plannedAt = now;
            m_fabric.Plan(now, path | SUBJECT);
        }
    }
}

uint64_t
SendWindows::GetPayload(const WireSize& size) const
{
    return size.wireBytes - size.packets * (m_packet - m_segment);
}

void
SendWindows::AddHeld(std::vector<uint64_t>& bytes) const
{
    for (std::size_t path = 0; m_held > 0 && path < m_paths.size(); ++path)
    {
        const uint32_t busy = m_paths[path].busy;
        for (std::size_t i = 0; busy != NONE && i < m_busy[busy].held.GetSize(); ++i)
        {
            bytes[path] += GetPayload(m_busy[busy].held.At(i).cargo.size);
        }
    }
}

uint64_t
SendWindows::AddState(StateDigest& digest, uint64_t at) const
{
    uint64_t longest = 0;
    for (std::size_t path = 0; path < m_paths.size(); ++path)
    {
        const Path& state = m_paths[path];
        if (state.ackedAt <= at)
        {
            continue; // it rests
        }
        digest.Add(path);
        digest.Add(state.ackedAt - at);
        digest.Add(state.wireBytes);
        if (state.busy == NONE)
        {
            continue;
        }
        longest = std::max(longest, state.returnPs);
        const Busy& busy = m_busy[state.busy];
        digest.Add(busy.waitedUntil - std::min(busy.waitedUntil, at));
        for (std::size_t i = 0; i < busy.sent.GetSize(); ++i)
        {
            digest.Add(busy.sent.At(i).wireBytes);
            digest.Add(busy.sent.At(i).ackedFrom - at); // modulo 2^64
            digest.Add(busy.sent.At(i).ackedAt - at);
        }
    }
    return longest;
}

void
SendWindows::Shift(uint64_t ps)
{
    for (Path& state : m_paths)
    {
        state.ackedAt = MessageFabric::Later(state.ackedAt, ps);
        if (state.busy == NONE)
        {
            continue;
        }
        Busy& busy = m_busy[state.busy];
        busy.waitedUntil += ps;
        for (std::size_t i = 0; i < busy.sent.GetSize(); ++i)
        {
            busy.sent.At(i).ackedFrom += ps;
            busy.sent.At(i).ackedAt += ps;
        }
    }
}

} // namespace cosim
