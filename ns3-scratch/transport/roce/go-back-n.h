/*
 * SPDX-License-Identifier: GPL-2.0-only
 */

#ifndef COSIM_GO_BACK_N_H
#define COSIM_GO_BACK_N_H

#include "transport/roce/loss-recovery.h"

#include <algorithm>

namespace cosim
{

/// Go-back-N: after a loss, everything is sent again from the missing packet on.
class GoBackNSender final : public SendOrder
{
  public:
    // SendOrder
    bool HasNext(const MessageStream& stream) const override
    {
        return m_next < stream.GetEnd();
    }

    uint64_t TakeNext(const MessageStream& stream) override
    {
        const uint64_t begin = m_next;
        m_next += stream.GetPart(begin).bytes;
        m_sent = std::max(m_sent, m_next);
        return begin;
    }

    void OnAck(uint64_t acked) override
    {
        m_acked = std::max(m_acked, acked);
        m_next = std::max(m_next, m_acked);
    }

    void OnNack(const MessageStream& /* stream */, uint64_t acked, uint64_t /* arrived */) override
    {
        if (acked >= m_acked)
        { // an older one is about a packet that has arrived since
            m_acked = acked;
            m_next = m_acked;
        }
    }

    void OnTimeout(const MessageStream& /* stream */) override
    {
        m_next = m_acked;
    }

    uint64_t GetInFlight() const override
    {
        return m_next - m_acked;
    }

  private:
    uint64_t m_next{0};
};

/// Throws away what arrives after a gap.
class GoBackNReceiver final : public ReceiveOrder
{
  public:
    // ReceiveOrder
    Verdict Take(uint64_t begin, uint32_t bytes) override
    {
        if (begin != m_expected)
        {
            return begin > m_expected ? Verdict::MISSING : Verdict::REPEATED;
        }
        m_expected += bytes;
        return Verdict::TAKEN;
    }
};

} // namespace cosim

#endif // COSIM_GO_BACK_N_H
