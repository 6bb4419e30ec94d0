/*
 * SPDX-License-Identifier: GPL-2.0-only
 */

#include "transport/tcp/tcp-trail.h"

#include "transport/endpoint.h"
#include "transport/tcp/express-receiver.h"

#include <optional>

namespace cosim
{

namespace
{

/// @return the packets that both ends of a flow have sent
PacketCounts
CountSent(const FlowEnds& ends)
{
    PacketCounts sent = static_cast<const TcpSender&>(*ends.sender).GetSent();
    AddCounters(sent, static_cast<const ExpressReceiver&>(*ends.receiver).GetSent());
    return sent;
}

} // namespace

TcpTrail::TcpTrail(const FlowEnds& ends, uint32_t segmentBytes, int64_t nowPs)
    : m_begin(*static_cast<const TcpSender&>(*ends.sender).GetSilent()),
      m_sentBefore(CountSent(ends)),
      m_segmentBytes(segmentBytes),
      m_beginPs(nowPs)
{
}

PacketCounts
TcpTrail::CountPackets(const FlowEnds& ends) const
{
    return GetDelta(CountSent(ends), m_sentBefore);
}

bool
TcpTrail::Fits(const FlowSender& sender) const
{
    const std::optional<SilentState> state = static_cast<const TcpSender&>(sender).GetSilent();
    if (!state || state->isAnswered != m_begin.isAnswered)
    { // the first ACK brings the scaled window of the peer
        return false;
    }
    if (!m_hasEnd || m_needsSameWindow)
    {
        return state->congestionWindow == m_begin.congestionWindow &&
               state->slowStartThreshold == m_begin.slowStartThreshold &&
               state->uncounted == m_begin.uncounted;
    }
    return state->congestionWindow >= m_begin.congestionWindow && StaysInSlowStart(*state);
}

/// @return true if the congestion window of a flow stays below its threshold, and below 2^32
bool
TcpTrail::StaysInSlowStart(const SilentState& begin) const
{
    const uint64_t most = uint64_t{m_wholeAcks} + m_remainders.size();
    return begin.congestionWindow + most * m_segmentBytes < begin.slowStartThreshold;
}

void
TcpTrail::OnAcked(uint64_t bytes)
{
    const auto remainder = static_cast<uint32_t>(bytes % m_segmentBytes);
    m_wholeAcks += bytes >= m_segmentBytes ? 1 : 0;
    if (remainder > 0)
    {
        m_remainders.push_back({remainder, bytes < m_segmentBytes});
    }
}

bool
TcpTrail::End(const FlowSender& sender)
{
    const auto& own = static_cast<const TcpSender&>(sender);
    const std::optional<SilentState> state = own.GetSilent();
    if (!state || own.GetState().slowPs > m_beginPs)
    {
        return false;
    }
    m_end = *state;
    m_needsSameWindow = own.GetState().limitedPs > m_beginPs || !StaysInSlowStart(m_begin);
    m_hasEnd = true;
    return true;
}

/// @return the end of the trail for a flow with another window and another uncounted remainder
SilentState
TcpTrail::GetEnd(const SilentState& begin) const
{
    SilentState end = m_end;
    if (m_needsSameWindow)
    {
        return end;
    }
    uint32_t steps = m_wholeAcks;
    end.uncounted = begin.uncounted;
    for (const Remainder& one : m_remainders)
    {
        end.uncounted += one.bytes;
        if (end.uncounted >= m_segmentBytes)
        {
            end.uncounted -= m_segmentBytes;
            steps += one.isAlone ? 1 : 0;
        }
    }
    end.congestionWindow = begin.congestionWindow + steps * m_segmentBytes;
    return end;
}

void
TcpTrail::Advance(const FlowEnds& ends, int64_t startPs)
{
    auto& sender = static_cast<TcpSender&>(*ends.sender);
    const auto bytes = static_cast<uint32_t>(m_end.head - m_begin.head);
    sender.Advance(bytes, GetEnd(*sender.GetSilent()), GetRoundTrips(), startPs, m_memo);
    const RoundTrip& last = GetRoundTrips().back();
    static_cast<ExpressReceiver&>(*ends.receiver)
        .Advance(bytes, startPs + last.atPs - int64_t{last.oldestPs});
}

} // namespace cosim
