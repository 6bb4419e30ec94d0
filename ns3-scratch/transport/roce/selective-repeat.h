/*
 * SPDX-License-Identifier: GPL-2.0-only
 */

#ifndef COSIM_SELECTIVE_REPEAT_H
#define COSIM_SELECTIVE_REPEAT_H

#include "transport/roce/loss-recovery.h"

#include <cstdint>
#include <map>
#include <set>

namespace cosim
{

/**
 * Selective repeat: only what is missing is sent again.
 *
 * Each packet that arrives behind a gap is reported. What lies between the highest packet that was
 * reported before and this one is sent again, once. If that is lost, too, the timeout sends again
 * everything that is not known to have arrived.
 *
 * Source: R. Mittal et al., "Revisiting network support for RDMA" (IRN), SIGCOMM 2018, section 3.
 */
class SelectiveSender final : public SendOrder
{
  public:
    // SendOrder
    bool HasNext(const MessageStream& stream) const override;
    uint64_t TakeNext(const MessageStream& stream) override;
    void OnAck(uint64_t acked) override;
    void OnNack(const MessageStream& stream, uint64_t acked, uint64_t arrived) override;
    void OnTimeout(const MessageStream& stream) override;
    uint64_t GetInFlight() const override;

  private:
    void RepeatUntil(const MessageStream& stream, uint64_t end);

    std::map<uint64_t, uint32_t> m_arrived; //!< packets behind a gap: first byte and payload
    uint64_t m_arrivedBytes{0};             //!< their payload
    std::set<uint64_t> m_repeats;           //!< first bytes of the packets to send again
    uint64_t m_seen{0};                     //!< up to here it is decided what is sent again
};

/// Keeps what arrives behind a gap.
class SelectiveReceiver final : public ReceiveOrder
{
  public:
    // ReceiveOrder
    Verdict Take(uint64_t begin, uint32_t bytes) override;

    bool ReportsAll() const override
    {
        return true;
    }

  private:
    std::map<uint64_t, uint32_t> m_kept; //!< packets behind a gap: first byte and payload
};

} // namespace cosim

#endif // COSIM_SELECTIVE_REPEAT_H
