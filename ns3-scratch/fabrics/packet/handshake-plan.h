/*
 * SPDX-License-Identifier: GPL-2.0-only
 */

#ifndef COSIM_HANDSHAKE_PLAN_H
#define COSIM_HANDSHAKE_PLAN_H

#include "network/live-links.h"
#include "network/path-index.h"
#include "network/transport-facts.h"
#include "transport/flow-observer.h"

#include "ns3/nstime.h"

#include <vector>

namespace cosim
{

/**
 * When the connections of a network open: one after the other, each in an empty network.
 *
 * Each handshake has the time of its SYN, SYN-ACK and ACK. All are over before the clock of the run
 * starts.
 */
class HandshakePlan
{
  public:
    /**
     * @param topology the paths
     * @param links the links at the start
     * @param paths finds the path of the answers
     * @param formats sizes of the packets
     * @throws std::invalid_argument if the handshakes take longer than the clock can count
     */
    HandshakePlan(const Topology& topology,
                  const LiveLinks& links,
                  const PathIndex& paths,
                  const PacketFormats& formats);

    /// @return the time at which the connection of a flow begins to open
    ns3::Time GetStart(FlowId flow) const
    {
        return m_starts[flow];
    }

    /// @return the time at which the last handshake has ended
    ns3::Time GetEnd() const
    {
        return m_end;
    }

    /// Let the time of all handshakes pass. Events that were scheduled for this time run.
    void Pass() const;

  private:
    std::vector<ns3::Time> m_starts; //!< per flow
    ns3::Time m_end;
};

} // namespace cosim

#endif // COSIM_HANDSHAKE_PLAN_H
