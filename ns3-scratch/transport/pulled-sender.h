/*
 * SPDX-License-Identifier: GPL-2.0-only
 */

#ifndef COSIM_PULLED_SENDER_H
#define COSIM_PULLED_SENDER_H

#include "transport/endpoint.h"

#include <cstdint>
#include <limits>

namespace cosim
{

/**
 * A sending end that is asked for each packet when there is room for it on the wire, as the queue
 * pairs of a network interface are. A packet exists from the moment at which it is sent.
 */
class PulledSender : public FlowSender
{
  public:
    /// A time that does not come by itself.
    static constexpr int64_t NEVER = std::numeric_limits<int64_t>::max();

    /**
     * @return the time from which the next packet may be sent, or at which to ask again [ps];
     * NEVER: the sender wakes its puller when it has something to send
     */
    virtual int64_t GetSendPs() = 0;

    /// @return the next packet, which is sent now; GetSendPs must be now or earlier
    virtual Packet* Pull() = 0;
};

/// Asks the senders of a transport for their packets.
class PacketPuller
{
  public:
    virtual ~PacketPuller() = default;

    /**
     * Note that what GetSendPs of a sender says may have become earlier.
     *
     * @param flow its flow
     * @param sender the sender
     */
    virtual void Wake(FlowId flow, PulledSender& sender) = 0;
};

/// The part of a Transport whose senders are PulledSenders.
class PulledTransport
{
  public:
    virtual ~PulledTransport() = default;

    /// @param puller asks for the packets; called once, before Transport::Connect
    virtual void SetPuller(PacketPuller& puller) = 0;
};

} // namespace cosim

#endif // COSIM_PULLED_SENDER_H
