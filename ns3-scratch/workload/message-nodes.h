/*
 * SPDX-License-Identifier: GPL-2.0-only
 */

#ifndef COSIM_MESSAGE_NODES_H
#define COSIM_MESSAGE_NODES_H

#include "network/network-api.h"
#include "system/outbox.h"
#include "workload/trace-workers.h"

#include "ns3/nstime.h"

#include <cstdint>
#include <functional>

namespace cosim
{

/// The SEND and RECV nodes of all traces.
class MessageNodes
{
  public:
    /// Is called with the worker and the node when a node is done.
    using Done = std::function<void(uint32_t worker, uint32_t node)>;

    /**
     * @param workers the traces; must outlive this object
     * @param network receives messages; must outlive this object
     * @param outbox sends messages; must outlive this object
     * @param injectionLatency time between a node and its message, on both sides
     * @param done called when the message of a SEND node is posted, or that of a RECV node arrived
     * @param sent called when a message has left its rank
     */
    MessageNodes(const TraceWorkers& workers,
                 NetworkApi& network,
                 Outbox& outbox,
                 ns3::Time injectionLatency,
                 Done done,
                 std::function<void()> sent);

    MessageNodes(const MessageNodes&) = delete;
    MessageNodes& operator=(const MessageNodes&) = delete;

    /// Begin a node.
    void Begin(uint32_t worker, uint32_t node);

    /// @return the number of nodes with something on its way; a RECV node only waits until then
    uint64_t GetRunning() const
    {
        return m_running;
    }

  private:
    void Receive(uint32_t id, uint32_t node);
    void Post(uint32_t id, uint32_t node);

    const TraceWorkers& m_workers;
    NetworkApi& m_network;
    Outbox& m_outbox;
    ns3::Time m_injectionLatency;
    Done m_done;
    std::function<void()> m_sent;
    uint64_t m_running{0};
};

} // namespace cosim

#endif // COSIM_MESSAGE_NODES_H
