/*
 * SPDX-License-Identifier: GPL-2.0-only
 */

#include "workload/message-nodes.h"

#include <utility>

namespace cosim
{

MessageNodes::MessageNodes(const TraceWorkers& workers,
                           NetworkApi& network,
                           Outbox& outbox,
                           ns3::Time injectionLatency,
                           Done done,
                           std::function<void()> sent)
    : m_workers(workers),
      m_network(network),
      m_outbox(outbox),
      m_injectionLatency(injectionLatency),
      m_done(std::move(done)),
      m_sent(std::move(sent))
{
}

void
MessageNodes::Begin(uint32_t id, uint32_t node)
{
    if (m_workers.Get(id).plan->trace->type[node] == NodeType::RECV)
    {
        Receive(id, node);
        return;
    }
    ++m_running;
    if (m_injectionLatency.IsZero())
    {
        Post(id, node);
    }
    else
    {
        m_network.SimSchedule(m_injectionLatency, [this, id, node] { Post(id, node); });
    }
}

void
MessageNodes::Receive(uint32_t id, uint32_t node)
{
    const TraceWorker& worker = m_workers.Get(id);
    const Trace& trace = *worker.plan->trace;
    m_network.SimRecv(trace.GetPeer(node, worker.rank),
                      worker.rank,
                      trace.bytes[node],
                      trace.tag[node],
                      [this, id, node] {
                          ++m_running;
                          m_network.SimSchedule(m_injectionLatency, [this, id, node] {
                              --m_running;
                              m_done(id, node);
                          });
                      });
}

void
MessageNodes::Post(uint32_t id, uint32_t node)
{
    const TraceWorker& worker = m_workers.Get(id);
    const Trace& trace = *worker.plan->trace;
    m_outbox.Send({.place = {worker.rank, node},
                   .dst = trace.GetPeer(node, worker.rank),
                   .bytes = trace.bytes[node],
                   .tag = trace.tag[node],
                   .route = trace.route.empty() ? 0 : trace.route[node],
                   .isPut = false,
                   .sent = [this] {
                       --m_running;
                       m_sent();
                   }});
    m_done(id, node);
}

} // namespace cosim
