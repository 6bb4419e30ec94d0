/*
 * SPDX-License-Identifier: GPL-2.0-only
 */

#include "transport/roce/selective-repeat.h"

#include <algorithm>

namespace cosim
{

bool
SelectiveSender::HasNext(const MessageStream& stream) const
{
    return !m_repeats.empty() || m_sent < stream.GetEnd();
}

uint64_t
SelectiveSender::TakeNext(const MessageStream& stream)
{
    if (!m_repeats.empty())
    {
        const uint64_t begin = *m_repeats.begin();
        m_repeats.erase(m_repeats.begin());
        return begin;
    }
    const uint64_t begin = m_sent;
    m_sent += stream.GetPart(begin).bytes;
    return begin;
}

void
SelectiveSender::OnAck(uint64_t acked)
{
    m_acked = std::max(m_acked, acked);
    m_seen = std::max(m_seen, m_acked);
    m_repeats.erase(m_repeats.begin(), m_repeats.lower_bound(m_acked));
    while (!m_arrived.empty() && m_arrived.begin()->first < m_acked)
    {
        m_arrivedBytes -= m_arrived.begin()->second;
        m_arrived.erase(m_arrived.begin());
    }
}

void
SelectiveSender::OnNack(const MessageStream& stream, uint64_t acked, uint64_t arrived)
{
    OnAck(acked);
    if (arrived < m_acked)
    {
        return;
    }
    const uint32_t bytes = stream.GetPart(arrived).bytes;
    if (m_arrived.emplace(arrived, bytes).second)
    {
        m_arrivedBytes += bytes;
    }
    m_repeats.erase(arrived);
    RepeatUntil(stream, arrived);
    m_seen = std::max(m_seen, arrived + bytes);
}

/// Send again what is not known to have arrived, from what is decided up to some place.
void
SelectiveSender::RepeatUntil(const MessageStream& stream, uint64_t end)
{
    while (m_seen < end)
    {
        if (!m_arrived.contains(m_seen))
        {
            m_repeats.insert(m_seen);
        }
        m_seen += stream.GetPart(m_seen).bytes;
    }
}

void
SelectiveSender::OnTimeout(const MessageStream& stream)
{
    m_seen = m_acked;
    RepeatUntil(stream, m_sent);
}

uint64_t
SelectiveSender::GetInFlight() const
{
    return m_sent - m_acked - m_arrivedBytes;
}

ReceiveOrder::Verdict
SelectiveReceiver::Take(uint64_t begin, uint32_t bytes)
{
    if (begin < m_expected)
    {
        return Verdict::REPEATED;
    }
    if (begin > m_expected)
    {
        return m_kept.emplace(begin, bytes).second ? Verdict::MISSING : Verdict::REPEATED;
    }
    m_expected += bytes;
    while (!m_kept.empty() && m_kept.begin()->first == m_expected)
    {
        m_expected += m_kept.begin()->second;
        m_kept.erase(m_kept.begin());
    }
    return Verdict::TAKEN;
}

} // namespace cosim
