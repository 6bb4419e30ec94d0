/*
 * SPDX-License-Identifier: GPL-2.0-only
 */

#ifndef COSIM_JOINT_TRANSPORT_H
#define COSIM_JOINT_TRANSPORT_H

#include "transport/endpoint.h"

#include <array>
#include <cstdint>
#include <memory>
#include <vector>

namespace cosim
{

/**
 * Two transport protocols on one network. Each flow has one of them, which makes its endpoints and
 * its packets.
 */
class JointTransport final : public Transport
{
  public:
    /// One of the protocols.
    struct Part
    {
        std::vector<uint32_t> kinds; //!< what its flows have (see MakeTransport)
        std::unique_ptr<Transport> transport;
    };

    /**
     * @param first one of the protocols
     * @param second the other one; at most one of the two is pulled
     * @param isSecond per flow: true if it has the second one
     */
    JointTransport(Part first, Part second, std::vector<bool> isSecond);

    // Transport
    uint32_t GetHandshakeBytes(FlowId flow) const override;
    void Attach(PacketCarrier& carrier, FlowObserver& observer) override;
    FlowEnds Connect(FlowId flow, const Handshake& handshake) override;
    void Release(Packet* packet) override;
    PacketCounts GetSent() const override;
    PulledTransport* GetPulled() override;
    void AddStatistics(NetworkStatistics& statistics) const override;

  private:
    Transport& GetOf(FlowId flow) const
    {
        return *m_parts[m_isSecond[flow] ? 1 : 0].transport;
    }

    std::array<Part, 2> m_parts;
    const std::vector<bool> m_isSecond;
};

} // namespace cosim

#endif // COSIM_JOINT_TRANSPORT_H
