/*
 * SPDX-License-Identifier: GPL-2.0-only
 */

#ifndef COSIM_OUTBOX_H
#define COSIM_OUTBOX_H

#include "clock/last-event.h"
#include "network/network-api.h"
#include "stream/stream.h"
#include "system/trace-place.h"

#include <cstdint>
#include <vector>

namespace cosim
{

/**
 * Hands the messages of all ranks to the network.
 *
 * With local admission, the messages of one picosecond enter the network in the order of the ranks,
 * and those of a rank in the order of its trace. The order of the events of that picosecond then
 * makes no difference, and a collective and the messages that it consists of give the same result.
 * With negotiated admission, each message enters at once.
 */
class Outbox
{
  public:
    /// A message.
    struct Message
    {
        TracePlace place; //!< `place.rank` sends it
        Rank dst;
        uint64_t bytes;
        uint64_t tag;
        uint32_t route;
        bool isPut; //!< whether an ArrivalHandler receives it
        NetworkApi::Callback
            sent; //!< called when the last byte is acknowledged; only without isPut
    };

    /**
     * @param network carries the messages; must outlive this object
     * @param admission how ranks start chunks
     */
    Outbox(NetworkApi& network, AdmissionKind admission);

    /// Send a message in the current picosecond.
    void Send(Message message);

  private:
    void Hand(Message& message);
    void Flush();

    NetworkApi& m_network;
    bool m_inTraceOrder;
    std::vector<Message> m_waiting;
    LastEvent m_flush;
};

} // namespace cosim

#endif // COSIM_OUTBOX_H
