/*
 * SPDX-License-Identifier: GPL-2.0-only
 */

#ifndef COSIM_QUIET_TCP_STATE_H
#define COSIM_QUIET_TCP_STATE_H

#include "ns3/tcp-socket-state.h"

namespace cosim
{

/**
 * TCP's congestion state (ns3::TcpSocketState) without notifications: it accepts listeners but
 * never calls them.
 *
 * Every socket connects eleven of its functions to its state by name, only to forward each change
 * to its own listeners. For sockets without listeners this costs a quarter of their construction
 * time, 3 KiB of memory, and ten calls per packet. ns-3 looks up a trace source by the type that an
 * object reports, and a copied socket copies its state together with that type. One quiet state in
 * the prototype therefore makes all copies quiet.
 */
class QuietTcpState : public ns3::TcpSocketState
{
  public:
    /// @return the TypeId; its trace sources have the names of those of ns3::TcpSocketState
    static ns3::TypeId GetTypeId();

    /// @param state the state to copy; the copy shares its buffer
    explicit QuietTcpState(const ns3::TcpSocketState& state);
};

} // namespace cosim

#endif // COSIM_QUIET_TCP_STATE_H
