/*
 * SPDX-License-Identifier: GPL-2.0-only
 */

#ifndef COSIM_TCP_TRANSPORT_H
#define COSIM_TCP_TRANSPORT_H

#include "transport/endpoint.h"
#include "transport/tcp/express-receiver.h"
#include "transport/tcp/express-tcp-socket.h"

#include "ns3/object-factory.h"
#include "ns3/ptr.h"

#include <cstdint>
#include <deque>
#include <vector>

namespace cosim
{

/// ns-3's TCP, with segments as plain structs.
class TcpTransport : public Transport
{
  public:
    /**
     * @param settings outlive this object; they become ns-3's attribute defaults
     * @throws std::invalid_argument if the congestion control is not one of ns-3's
     */
    explicit TcpTransport(const TcpSettings& settings);

    // Transport
    uint32_t GetHandshakeBytes() const override;
    FlowEnds Connect(FlowId flow,
                     ns3::Time handshakeRtt,
                     SegmentCarrier& carrier,
                     FlowObserver& observer) override;

  private:
    const TcpSettings& m_settings;
    ExpressReceiver::Config m_receiverConfig;
    ns3::ObjectFactory m_congestionControl;
    ns3::Ptr<ExpressTcpSocket> m_prototype; //!< copied for each flow: cheaper than attributes
    std::vector<ns3::Ptr<ExpressTcpSocket>> m_senders;
    std::deque<ExpressReceiver> m_receivers;
};

} // namespace cosim

#endif // COSIM_TCP_TRANSPORT_H
