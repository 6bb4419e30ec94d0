/*
 * SPDX-License-Identifier: GPL-2.0-only
 */

#ifndef COSIM_QUEUE_PAIR_SENDER_H
#define COSIM_QUEUE_PAIR_SENDER_H

#include "clock/causal-simulator.h"
#include "clock/lazy-timer.h"
#include "network/network-statistics.h"
#include "stream/stream.h"
#include "transport/packet-counts.h"
#include "transport/pulled-sender.h"
#include "transport/roce/loss-recovery.h"
#include "transport/roce/message-stream.h"
#include "transport/roce/rate-control.h"
#include "transport/roce/roce-packet.h"

#include <cstdint>
#include <memory>

namespace cosim
{

/// What the two ends of all flows work with. It outlives them.
struct RoceSetup
{
    const RoceSettings& settings;
    CausalSimulator& clock;
    RocePool& packets;
    Rdma& counters;
    PacketCounts& sent;
    PacketCarrier* carrier{nullptr};
    FlowObserver* observer{nullptr};
    PacketPuller* puller{nullptr};
};

/**
 * The sending end of a queue pair.
 *
 * It may send while it has data, while less than the window is in flight, and when the time of the
 * last packet at its rate has passed. If nothing is acknowledged for the timeout, it sends again;
 * after too many timeouts in a row it gives up.
 */
class QueuePairSender final : public PulledSender
{
  public:
    /**
     * @param setup what it works with
     * @param flow id of the flow
     * @param path what is known of the path
     * @param windowBytes most bytes in flight; infinity: no limit
     */
    QueuePairSender(const RoceSetup& setup, FlowId flow, const PathFacts& path, double windowBytes);

    // FlowSender
    void Submit(uint64_t bytes) override;
    void Receive(const Packet& packet) override;
    uint32_t GetWindow() const override;

    void Abandon() override
    {
        m_isClosed = true;
        m_timer.Cancel();
    }

    // PulledSender
    int64_t GetSendPs() override;
    Packet* Pull() override;

    double GetRateBps() const override
    {
        return m_control->GetRateBps();
    }

    /// @return what was sent over the time that it takes at the rates that were allowed when each
    /// packet was sent; 0 before the first packet [bit/s]
    double GetMeanRateBps() const
    {
        return m_sentBits == 0 ? 0 : m_sentBits / m_pacedS;
    }

  private:
    void OnAck(const RocePacket& packet);
    void OnTimeout();
    void ArmTimer();
    bool HasRoom() const;
    int64_t GetPacePs() const;

    const RoceSetup& m_setup;
    const FlowId m_flow;
    const double m_lineBps;
    const double m_windowBytes;
    MessageStream m_stream;
    std::unique_ptr<SendOrder> m_order;
    std::unique_ptr<RateControl> m_control;
    OwnedTimer<QueuePairSender, &QueuePairSender::OnTimeout> m_timer;
    int64_t m_lastPs{0};     //!< when the last packet was sent
    uint32_t m_lastBytes{0}; //!< its size
    double m_sentBits{0};    //!< of all packets, with headers
    double m_pacedS{0};      //!< their time at the rate of each
    uint32_t m_timeouts{0};  //!< in a row
    bool m_isClosed{false};  //!< true after too many of them, or if it is abandoned
};

} // namespace cosim

#endif // COSIM_QUEUE_PAIR_SENDER_H
