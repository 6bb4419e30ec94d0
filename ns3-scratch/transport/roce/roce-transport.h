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
#include <span>
#include <vector>

namespace cosim
{

/// RoCE: queue pairs that send at a rate, over a network that loses nothing or little.
class RoceTransport final : public Transport, private PulledTransport
{
  public:
    /**
     * @param settings all settings that connections have; their packets have the same headers and
     * the data the same traffic class
     * @param kinds per flow: its settings, as an index; empty: all flows have the first ones; must
     * outlive this object
     * @param clock the clock of all endpoints; must outlive this object
     */
    RoceTransport(std::vector<RoceSettings> settings,
                  std::span<const uint32_t> kinds,
                  CausalSimulator& clock);

    // Transport
    uint32_t GetHandshakeBytes(FlowId flow) const override
    {
        return GetSetup(flow).settings.ackBytes;
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

    const RoceSetup& GetSetup(FlowId flow) const
    {
        return m_setups[m_kinds.empty() ? 0 : m_kinds[flow]];
    }

    const std::vector<RoceSettings> m_settings;
    const std::span<const uint32_t> m_kinds;
    RocePool m_packets;
    Rdma m_counters;
    PacketCounts m_sent;
    std::deque<RoceSetup> m_setups; //!< one for each settings
    std::deque<QueuePairSender> m_senders;
    std::deque<QueuePairReceiver> m_receivers;
};

} // namespace cosim

#endif // COSIM_ROCE_TRANSPORT_H
