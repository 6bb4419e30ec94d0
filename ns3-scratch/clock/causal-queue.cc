/*
 * SPDX-License-Identifier: GPL-2.0-only
 */

#include "clock/causal-queue.h"

#include <algorithm>
#include <bit>

namespace cosim
{

namespace
{

/// @return true if a runs after b, which has the same time
bool
IsLater(const CausalQueue::Item& a, const CausalQueue::Item& b)
{
    return a.origin > b.origin;
}

} // namespace

std::size_t
CausalQueue::GetBucket(int64_t timePs) const
{
    return static_cast<std::size_t>(std::bit_width(static_cast<uint64_t>(timePs ^ m_lastPs)));
}

void
CausalQueue::Push(const Item& item)
{
    const std::size_t index = GetBucket(item.timePs);
    Bucket& bucket = m_buckets[index];
    if (index == 0)
    {
        bucket.insert(std::upper_bound(bucket.begin(), bucket.end(), item, IsLater), item);
    }
    else
    {
        bucket.push_back(item);
    }
    m_filled |= uint64_t{1} << index;
    ++m_size;
}

CausalQueue::Item
CausalQueue::Pop()
{
    if ((m_filled & 1) == 0)
    {
        Refill();
    }
    Bucket& now = m_buckets[0];
    const Item item = now.back();
    now.pop_back();
    if (now.empty())
    {
        m_filled &= ~uint64_t{1};
    }
    --m_size;
    return item;
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
        std::sort(now.begin(), now.end(), IsLater);
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
