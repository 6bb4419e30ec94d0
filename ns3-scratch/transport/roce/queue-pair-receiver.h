/*
 * SPDX-License-Identifier: GPL-2.0-only
 */

#ifndef COSIM_QUEUE_PAIR_RECEIVER_H
#define COSIM_QUEUE_PAIR_RECEIVER_H

#include "transport/endpoint.h"
#include "transport/roce/queue-pair-sender.h"

#include <cstdint>
#include <memory>

namespace cosim
{

/**
 * The receiving end of a queue pair: it acknowledges what comes in order, asks for what is missing,
 * and tells the sender of marked packets.
 */
class QueuePairReceiver final : public FlowReceiver
{
  public:
    /**
     * @param setup what it works with
     * @param flow id of the flow
     */
    QueuePairReceiver(const RoceSetup& setup, FlowId flow);

    // FlowReceiver
    void Receive(const Packet& packet) override;

  private:
    void Answer(RocePacket::Type type, const RocePacket& data);
    void Notify(const RocePacket& data);

    const RoceSetup& m_setup;
    const FlowId m_flow;
    std::unique_ptr<ReceiveOrder> m_order;
    uint64_t m_unacked{0};          //!< bytes taken since the last acknowledgment
    uint64_t m_missing{UINT64_MAX}; //!< the byte of the last NACK
    int64_t m_missingUntilPs{0};    //!< no second NACK for the same byte until then
    int64_t m_notifyPs{0};          //!< no further CNP until then
    bool m_isMarked{false};         //!< true if a marked packet is not reported yet
};

} // namespace cosim

#endif // COSIM_QUEUE_PAIR_RECEIVER_H
