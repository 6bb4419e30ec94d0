/*
 * SPDX-License-Identifier: GPL-2.0-only
 */

#include "fabrics/message/parcels.h"

#include <algorithm>

namespace cosim
{

Parcels::Parcels(std::size_t paths, const PacketFormats& formats)
    : m_formats(formats),
      m_sizes(formats.All().begin(), formats.All().end()),
      m_last(paths, NONE)
{
}

void
Parcels::Add(uint32_t path, uint64_t bytes, uint32_t bundle, uint64_t at)
{
    const auto id = static_cast<uint32_t>(m_messages.size());
    bool isFirst = true;
    if (id != 0)
    { // otherwise m_last, which is rarely in a cache, need not be read
        const uint32_t before = m_last[path];
        isFirst = before >= id || m_messages[before].path != path || m_messages[before].at != at;
        if (!isFirst)
        {
            m_messages[before].next = id;
        }
    }
    m_last[path] = id;
    m_messages.push_back({at, bytes, path, bundle, NONE, isFirst});
}

uint64_t
Parcels::CountUsedPaths() const
{
    const auto unused = std::count(m_last.begin(), m_last.end(), NONE);
    return m_last.size() - static_cast<uint64_t>(unused);
}

uint64_t
Parcels::Take(std::vector<Cargo>& cargo, std::vector<Passenger>& passengers)
{
    const uint64_t at = m_messages.front().at;
    cargo.clear();
    cargo.reserve(m_messages.size());
    passengers.clear();
    std::vector<Message> later;
    for (const Message& message : m_messages)
    {
        if (message.at != at)
        {
            later.push_back(message);
        }
        else if (message.isFirst && message.next == NONE)
        {
            cargo.push_back(
                {GetSizes(message.path).Get(message.bytes), message.path, message.bundle});
        }
        else if (message.isFirst)
        {
            Divide(static_cast<uint32_t>(&message - m_messages.data()), cargo, passengers);
        }
    }
    m_messages.clear();
    for (const Message& message : later)
    {
        Add(message.path, message.bytes, message.bundle, message.at);
    }
    return at;
}

/// Divide a parcel of several messages into its cargo.
void
Parcels::Divide(uint32_t first, std::vector<Cargo>& cargo, std::vector<Passenger>& passengers)
{
    WireSizes& sizes = GetSizes(m_messages[first].path);
    const uint64_t payload = sizes.GetFormat().payloadBytes;
    uint64_t end = 0;    // of the message
    uint64_t filled = 0; // end of the packets of earlier messages
    uint64_t begin = 0;  // of the packets of the cargo
    const auto finish = [&](uint64_t until) {
        if (until == begin)
        {
            return;
        }
        Cargo& last = cargo.back();
        last.size = sizes.Get(until - begin);
        const std::size_t count = passengers.size();
        if (count == 1 || passengers[count - 2].cargo != cargo.size() - 1)
        { // no other message arrives with it
            last.size.bytes = passengers.back().bytes;
            last.bundle = passengers.back().bundle;
            passengers.pop_back();
        }
    };
    for (uint32_t id = first; id != NONE; id = m_messages[id].next)
    {
        const Message& message = m_messages[id];
        end += std::max<uint64_t>(message.bytes, 1);
        if (end > filled)
        {
            finish(filled);
            begin = filled;
            filled = (end + payload - 1) / payload * payload;
            cargo.push_back({{}, message.path, NONE});
        }
        passengers.push_back(
            {static_cast<uint32_t>(cargo.size() - 1), message.bundle, message.bytes});
    }
    finish(end);
}

} // namespace cosim
