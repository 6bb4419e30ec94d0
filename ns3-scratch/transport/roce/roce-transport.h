/*
 * SPDX-License-Identifier: GPL-2.0-only
 */

#ifndef COSIM_ROCE_TRANSPORT_H
#define COSIM_ROCE_TRANSPORT_H

#include "transport/endpoint.h"
#include "transport/pulled-sender.h"
#include "transport/roce/queue-pair-receiver.h"
#include "transport/roce/queue-pair-sender.h"

#include <cstdint>
#include <deque>

namespace cosim
{

/// RoCE: queue pairs that send at a rate, over a network that loses nothing or little.
class RoceTransport final : public Transport, private PulledTransport
{
  public:
    /**
     * @param settings the settings; must outlive this object
     * @param clock the clock of all endpoints; must outlive this object
     */
    RoceTransport(const RoceSettings& settings, CausalSimulator& clock);

    // Transport
    uint32_t GetHandshakeBytes() const override
    {
        return m_setup.settings.ackBytes;
    }

    void Attach(PacketCarrier& carrier, FlowObserver& observer) override;
    FlowEnds Connect(FlowId flow, const Handshake& handshake) override;
    void Release(Packet* packet) override;
    PacketCounts GetSent() const override;
    void AddStatistics(NetworkStatistics& statistics) const override;

    PulledTransport* GetPulled() override
    {
        return this;
    }

  private:
    // PulledTransport
    void SetPuller(PacketPuller& puller) override;
    uint8_t GetTrafficClass() const override;

    RocePool m_packets;
    Rdma m_counters;
    PacketCounts m_sent;
    RoceSetup m_setup;
    std::deque<QueuePairSender> m_senders;
    std::deque<QueuePairReceiver> m_receivers;
};

} // namespace cosim

#endif // COSIM_ROCE_TRANSPORT_H
