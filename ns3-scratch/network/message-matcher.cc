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

namespace
{

void
CheckSize(Rank src, Rank dst, uint64_t tag, uint64_t expected, uint64_t arrived)
{
    if (expected != arrived)
    {
        throw std::invalid_argument(
            "sim_recv(src=" + std::to_string(src) + ", dst=" + std::to_string(dst) +
            ", tag=" + std::to_string(tag) + ") expects " + std::to_string(expected) +
            " bytes, but the matching send has " + std::to_string(arrived));
    }
}

} // namespace

std::size_t
MessageMatcher::KeyHash::operator()(const Key& key) const noexcept
{
    uint64_t h = (static_cast<uint64_t>(key.src) << 32 | key.dst) ^ (key.tag * 0x9e3779b97f4a7c15U);
    h = (h ^ (h >> 30)) * 0xbf58476d1ce4e5b9U;
    h = (h ^ (h >> 27)) * 0x94d049bb133111ebU;
    return static_cast<std::size_t>(h ^ (h >> 31));
}

void
MessageMatcher::Post(Rank src,
                     Rank dst,
                     uint64_t bytes,
                     uint64_t tag,
                     NetworkApi::Callback received)
{
    const Key key{src, dst, tag};
    Waiting& waiting = m_waiting[key];
    if (waiting.messages.IsEmpty())
    {
        waiting.receives.Push({bytes, std::move(received)});
        return;
    }
    CheckSize(src, dst, tag, bytes, waiting.messages.Front());
    waiting.messages.Pop();
    if (waiting.messages.IsEmpty())
    {
        m_waiting.erase(key);
    }
    if (received)
    {
        ns3::Simulator::ScheduleNow([callback = std::move(received)] { callback(); });
    }
}

void
MessageMatcher::Arrive(Rank src, Rank dst, uint64_t bytes, uint64_t tag)
{
    const Key key{src, dst, tag};
    Waiting& waiting = m_waiting[key];
    if (waiting.receives.IsEmpty())
    {
        waiting.messages.Push(bytes);
        return;
    }
    CheckSize(src, dst, tag, waiting.receives.Front().bytes, bytes);
    const NetworkApi::Callback received = waiting.receives.Pop().received;
    if (waiting.receives.IsEmpty())
    {
        m_waiting.erase(key);
    }
    if (received)
    {
        received();
    }
}

} // namespace cosim
