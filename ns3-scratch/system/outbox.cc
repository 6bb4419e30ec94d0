/*
 * SPDX-License-Identifier: GPL-2.0-only
 */

#include "system/outbox.h"

#include <algorithm>
#include <utility>

namespace cosim
{

Outbox::Outbox(NetworkApi& network, AdmissionKind admission)
    : m_network(network),
      m_inTraceOrder(admission == AdmissionKind::LOCAL),
      m_flush(LastEvent::Turn::SEND, [this] { Flush(); })
{
}

void
Outbox::Send(Message message)
{
    if (!m_inTraceOrder)
    {
        Hand(message);
        return;
    }
    m_waiting.push_back(std::move(message));
    m_flush.Request();
}

void
Outbox::Hand(Message& message)
{
    const Rank src = message.place.rank;
    if (message.isPut)
    {
        m_network.SimPut(src, message.dst, message.bytes, message.tag, message.route);
    }
    else
    {
        m_network.SimSend(src,
                          message.dst,
                          message.bytes,
                          message.tag,
                          message.route,
                          std::move(message.sent));
    }
}

void
Outbox::Flush()
{
    std::vector<Message> messages = std::exchange(m_waiting, {});
    std::sort(messages.begin(), messages.end(), [](const Message& a, const Message& b) {
        return a.place < b.place;
    });
    for (Message& message : messages)
    {
        Hand(message);
    }
}

} // namespace cosim
