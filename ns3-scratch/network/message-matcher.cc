/*
 * SPDX-License-Identifier: GPL-2.0-only
 */

#include "network/message-matcher.h"

#include "ns3/simulator.h"

#include <stdexcept>
#include <string>
#include <utility>

namespace cosim
{

void
MessageMatcher::Push(Queue& queue, uint64_t bytes, NetworkApi::Callback received)
{
    const uint32_t slot = m_waiting.Take();
    m_waiting[slot] = {bytes, std::move(received), NONE};
    (queue.first == NONE ? queue.first : m_waiting[queue.last].next) = slot;
    queue.last = slot;
}

/// @return the callback of the first one of a queue, which is matched
NetworkApi::Callback
MessageMatcher::Pop(const Key& key, Queue& queue, uint64_t expected, uint64_t arrived)
{
    if (expected != arrived)
    {
        throw std::invalid_argument(
            "sim_recv(src=" + std::to_string(key.src) + ", dst=" + std::to_string(key.dst) +
            ", tag=" + std::to_string(key.tag) + ") expects " + std::to_string(expected) +
            " bytes, but the matching send has " + std::to_string(arrived));
    }
    Waiting& waiting = m_waiting[queue.first];
    NetworkApi::Callback received = std::exchange(waiting.received, nullptr);
    m_waiting.Return(std::exchange(queue.first, waiting.next));
    if (queue.first == NONE)
    {
        m_queues.Extract(key);
    }
    return received;
}

void
MessageMatcher::Post(Rank src,
                     Rank dst,
                     uint64_t bytes,
                     uint64_t tag,
                     NetworkApi::Callback received)
{
    const Key key{src, dst, tag};
    Queue& queue = m_queues[key];
    if (queue.first == NONE || queue.hasReceives)
    {
        queue.hasReceives = true;
        Push(queue, bytes, std::move(received));
        return;
    }
    Pop(key, queue, bytes, m_waiting[queue.first].bytes);
    if (received)
    {
        ns3::Simulator::ScheduleNow([callback = std::move(received)] { callback(); });
    }
}

void
MessageMatcher::Arrive(Rank src, Rank dst, uint64_t bytes, uint64_t tag)
{
    const Key key{src, dst, tag};
    Queue& queue = m_queues[key];
    if (queue.first == NONE || !queue.hasReceives)
    {
        queue.hasReceives = false;
        Push(queue, bytes, {});
        return;
    }
    const NetworkApi::Callback received = Pop(key, queue, m_waiting[queue.first].bytes, bytes);
    if (received)
    {
        received();
    }
}

} // namespace cosim
