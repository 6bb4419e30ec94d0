/*
 * SPDX-License-Identifier: GPL-2.0-only
 */

#include "transport/tcp/tcp-trail.h"

#include "transport/endpoint.h"
#include "transport/tcp/express-receiver.h"

#include <optional>

namespace cosim
{

bool
TcpTrail::Fits(const FlowSender& sender) const
{
    const std::optional<SilentState> state = static_cast<const TcpSender&>(sender).GetSilent();
    if (!state || state->window != m_begin.window || state->uncounted != m_begin.uncounted ||
        state->isAnswered != m_begin.isAnswered)
    {
        return false;
    }
    if (!m_hasEnd || m_isLimited)
    {
        return state->congestionWindow == m_begin.congestionWindow &&
               state->slowStartThreshold == m_begin.slowStartThreshold;
    }
    return state->congestionWindow >= m_begin.congestionWindow &&
           uint64_t{state->congestionWindow} + GetGrowth() < state->slowStartThreshold;
}

bool
TcpTrail::End(const FlowSender& sender)
{
    const auto& own = static_cast<const TcpSender&>(sender);
    const std::optional<SilentState> state = own.GetSilent();
    const uint64_t mostGrowth = uint64_t{GetRoundTrips().size()} * m_segmentBytes;
    if (!state || own.GetState().slowPs > m_beginPs ||
        m_begin.congestionWindow + mostGrowth >= m_begin.slowStartThreshold)
    { // slow start ends, or the window of 32 bits overflows
        return false;
    }
    m_end = *state;
    m_isLimited = own.GetState().limitedPs > m_beginPs;
    m_hasEnd = true;
    return true;
}

void
TcpTrail::Advance(const FlowEnds& ends, int64_t startPs)
{
    const auto bytes = static_cast<uint32_t>(m_end.head - m_begin.head);
    static_cast<TcpSender*>(ends.sender)
        ->Advance(bytes, GetGrowth(), m_end, GetRoundTrips(), startPs, m_memo);
    const RoundTrip& last = GetRoundTrips().back();
    static_cast<ExpressReceiver*>(ends.receiver)
        ->Advance(bytes, startPs + last.atPs - int64_t{last.oldestPs});
}

} // namespace cosim
