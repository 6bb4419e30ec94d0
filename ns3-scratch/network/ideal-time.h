/*
 * SPDX-License-Identifier: GPL-2.0-only
 */

#ifndef COSIM_IDEAL_TIME_H
#define COSIM_IDEAL_TIME_H

#include "network/live-links.h"
#include "network/transport-facts.h"
#include "stream/stream.h"

#include <cstdint>

namespace cosim
{

/// The parts of the time that a message takes through an empty network.
struct IdealTimes
{
    uint64_t propagationPs;   //!< latencies of the links, and forwarding delays of ranks
    uint64_t serializationPs; //!< transmission of its packets, which overlaps on successive links

    /// @return the completion time
    uint64_t Sum() const
    {
        return propagationPs + serializationPs;
    }
};

/**
 * Computes how long a message takes if it has the network to itself, no packet is lost, and no
 * window limits the sender.
 *
 * The links of the path store and forward packets. All packets of a message are full but the last
 * one, so the serialization time is that of a flow shop with n - 1 equal jobs and a shorter last
 * job.
 */
class IdealTime
{
  public:
    /**
     * @param topology supplies the forwarding delay; must outlive this object
     * @param formats sizes of the packets; must outlive this object
     */
    IdealTime(const Topology& topology, const PacketFormats& formats);

    /**
     * @param links state of the links
     * @param path index of the path
     * @param bytes payload of the message [bytes]
     * @return the ideal times
     */
    IdealTimes Get(const LiveLinks& links, uint32_t path, uint64_t bytes) const;

  private:
    const Topology& m_topology;
    const PacketFormats& m_formats;
};

} // namespace cosim

#endif // COSIM_IDEAL_TIME_H
