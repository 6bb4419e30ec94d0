/*
 * SPDX-License-Identifier: GPL-2.0-only
 */

#include "clock/causal-queue.h"

#include <algorithm>

namespace cosim
{

namespace
{

/// Orders events of the same time from the last to the first.
struct IsLater
{
    bool operator()(const CausalQueue::Item& a, const CausalQueue::Item& b) const
    {
        return a.origin > b.origin;
    }
};

} // namespace

/// Add an event of the time that was popped last.
void
CausalQueue::PushNow(const Item& item)
{
    Bucket& now = m_buckets[0];
    now.insert(std::upper_bound(now.begin(), now.end(), item, IsLater()), item);
    m_filled |= 1;
}

/// Move the events of the earliest time to bucket 0, and those of its bucket to lower buckets.
void
CausalQueue::Refill()
{
    const auto first = static_cast<std::size_t>(std::countr_zero(m_filled));
    Bucket& from = m_buckets[first];
    m_lastPs = std::min_element(from.begin(), from.end(), [](const Item& a, const Item& b) {
                   return a.timePs < b.timePs;
               })->timePs;
    for (const Item& item : from)
    {
        const std::size_t index = GetBucket(item.timePs);
        m_buckets[index].push_back(item);
        m_filled |= uint64_t{1} << index;
    }
    from.clear();
    m_filled &= ~(uint64_t{1} << first);
    if (Bucket& now = m_buckets[0]; now.size() > 1)
    {
        std::sort(now.begin(), now.end(), IsLater());
    }
}

bool
CausalQueue::Remove(int64_t timePs, uint32_t uid)
{
    const std::size_t index = GetBucket(timePs);
    Bucket& bucket = m_buckets[index];
    const auto found = std::find_if(bucket.begin(), bucket.end(), [&](const Item& item) {
        return item.uid == uid;
    });
    if (found == bucket.end())
    {
        return false;
    }
    bucket.erase(found);
    if (bucket.empty())
    {
        m_filled &= ~(uint64_t{1} << index);
    }
    --m_size;
    return true;
}

} // namespace cosim
