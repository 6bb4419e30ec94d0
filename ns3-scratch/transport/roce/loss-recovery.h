/*
 * SPDX-License-Identifier: GPL-2.0-only
 */

#ifndef COSIM_ROCE_LOSS_RECOVERY_H
#define COSIM_ROCE_LOSS_RECOVERY_H

#include "stream/stream.h"
#include "transport/roce/message-stream.h"

#include <cstdint>
#include <memory>

namespace cosim
{

/// The sending half of a loss recovery: it decides which packet is sent next.
class SendOrder
{
  public:
    virtual ~SendOrder() = default;

    /// @return true if there is a packet to send
    virtual bool HasNext(const MessageStream& stream) const = 0;

    /// @return the sequence number of the packet to send next; it is sent now
    virtual uint64_t TakeNext(const MessageStream& stream) = 0;

    /**
     * An acknowledgment has arrived.
     *
     * @param acked everything before it has arrived
     */
    virtual void OnAck(uint64_t acked) = 0;

    /**
     * The receiver says that a packet is missing.
     *
     * @param stream what is sent
     * @param acked everything before it has arrived, and the packet that begins there is missing
     * @param arrived the first byte of the packet that arrived instead
     */
    virtual void OnNack(const MessageStream& stream, uint64_t acked, uint64_t arrived) = 0;

    /// Nothing was acknowledged for too long.
    virtual void OnTimeout(const MessageStream& stream) = 0;

    /// @return the sequence number before which all is acknowledged
    uint64_t GetAcked() const
    {
        return m_acked;
    }

    /// @return one more than the last byte that was ever sent
    uint64_t GetSent() const
    {
        return m_sent;
    }

    /// @return the bytes that may be on their way
    virtual uint64_t GetInFlight() const = 0;

  protected:
    uint64_t m_acked{0};
    uint64_t m_sent{0};
};

/// The receiving half of a loss recovery.
class ReceiveOrder
{
  public:
    /// What became of a packet.
    enum class Verdict : uint8_t
    {
        TAKEN,    //!< it was the one that was expected
        MISSING,  //!< one before it is missing
        REPEATED, //!< it had arrived before
    };

    virtual ~ReceiveOrder() = default;

    /**
     * @param begin sequence number of the first byte of a packet
     * @param bytes its payload
     * @return what became of it
     */
    virtual Verdict Take(uint64_t begin, uint32_t bytes) = 0;

    /// @return true if each packet behind a gap is reported, false if only the gap is
    virtual bool ReportsAll() const
    {
        return false;
    }

    /// @return the sequence number of the next byte that is missing
    uint64_t GetExpected() const
    {
        return m_expected;
    }

  protected:
    uint64_t m_expected{0};
};

/// @return the sending half of the loss recovery that the settings name
std::unique_ptr<SendOrder> MakeSendOrder(const RoceSettings& settings);

/// @return the receiving half
std::unique_ptr<ReceiveOrder> MakeReceiveOrder(const RoceSettings& settings);

} // namespace cosim

#endif // COSIM_ROCE_LOSS_RECOVERY_H
