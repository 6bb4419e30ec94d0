/*
 * SPDX-License-Identifier: GPL-2.0-only
 */

#include "fabrics/message/bundle-log.h"

#include <algorithm>
#include <utility>

namespace cosim
{

void
BundleLog::Add(uint32_t bundle, const Message& message)
{
    m_messages[bundle].push_back(message);
}

void
BundleLog::Place(uint32_t bundle, const Message& message)
{
    for (Message& known : m_messages[bundle])
    {
        // Equal messages that are sent at the same time are interchangeable.
        if (known.arrivesAt == 0 && known.path == message.path && known.bytes == message.bytes &&
            known.sentAt == message.sentAt)
        {
            known.arrivesAt = message.arrivesAt;
            return;
        }
    }
}

void
BundleLog::Postpone(uint32_t bundle, uint32_t path, uint64_t before, uint64_t at)
{
    std::vector<Message>& messages = m_messages[bundle];
    const auto found = std::find_if(messages.rbegin(), messages.rend(), [&](const Message& known) {
        return known.path == path && known.arrivesAt == before;
    });
    if (found != messages.rend())
    {
        found->arrivesAt = at;
    }
}

std::vector<BundleLog::Message>
BundleLog::Take(uint32_t bundle)
{
    std::vector<Message> messages = std::move(m_messages[bundle]);
    m_messages.erase(bundle);
    std::stable_sort(messages.begin(), messages.end(), [](const Message& a, const Message& b) {
        return a.arrivesAt < b.arrivesAt;
    });
    return messages;
}

} // namespace cosim
