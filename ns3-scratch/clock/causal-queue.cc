/*
 * SPDX-License-Identifier: GPL-2.0-only
 */

#include "clock/causal-queue.h"

#include <algorithm>
#include <utility>

namespace cosim
{

namespace
{

/// Orders events of the same time.
struct IsEarlier
{
    bool operator()(const CausalQueue::Item& a, const CausalQueue::Item& b) const
    {
        return a.origin < b.origin;
    }
};

} // namespace

/// Move the last event of bucket 0 to its place.
void
CausalQueue::SortLast()
{
    Bucket& now = m_buckets[0];
    const auto last = now.end() - 1;
    const auto place = std::upper_bound(now.begin() + static_cast<std::ptrdiff_t>(m_popped),
                                        last,
                                        *last,
                                        IsEarlier());
    std::rotate(place, last, now.end());
}

/// Move the events of the earliest time to bucket 0, and those of its bucket to lower buckets.
void
CausalQueue::Refill()
{
    const auto first = static_cast<std::size_t>(std::countr_zero(m_filled));
    Bucket& from = m_buckets[first];
    m_lastPs = std::exchange(m_leastPs[first], NEVER);
    if (from.size() == 1)
    {
        m_buckets[0].swap(from);
        m_leastPs[0] = m_lastPs;
        m_filled = (m_filled & (m_filled - 1)) | 1;
        return;
    }
    for (const Item& item : from)
    {
        const std::size_t index = GetBucket(item.timePs);
        m_buckets[index].push_back(item);
        m_leastPs[index] = std::min(m_leastPs[index], item.timePs);
        item.Prefetch();
        m_filled |= uint64_t{1} << index;
    }
    Clear(from);
    m_filled &= ~(uint64_t{1} << first);
    // Events often come in the order of their origins.
    if (Bucket& now = m_buckets[0]; !std::is_sorted(now.begin(), now.end(), IsEarlier()))
    {
        std::sort(now.begin(), now.end(), IsEarlier());
    }
}

bool
CausalQueue::Remove(int64_t timePs, uint32_t uid)
{
    const std::size_t index = GetBucket(timePs);
    Bucket& bucket = m_buckets[index];
    const auto popped = static_cast<std::ptrdiff_t>(index == 0 ? m_popped : 0);
    const auto found = std::find_if(bucket.begin() + popped, bucket.end(), [&](const Item& item) {
        return item.GetUid() == uid;
    });
    if (found == bucket.end())
    {
        return false;
    }
    bucket.erase(found);
    m_leastPs[index] = NEVER;
    std::for_each(bucket.begin() + popped, bucket.end(), [&](const Item& item) {
        m_leastPs[index] = std::min(m_leastPs[index], item.timePs);
    });
    if (static_cast<std::size_t>(popped) == bucket.size())
    {
        bucket.clear();
        m_popped = index == 0 ? 0 : m_popped;
        m_filled &= ~(uint64_t{1} << index);
    }
    return true;
}

void
CausalQueue::Take(CausalQueue& other)
{
    if (other.GetFirstTimePs() < m_lastPs)
    { // the next event was looked at, so this queue takes only later ones
        CausalQueue all;
        std::swap(*this, all);
        Take(all);
    }
    for (; !other.IsEmpty(); other.Pop())
    {
        const Item& item = other.GetNext();
        Push(item.timePs, item);
    }
}

} // namespace cosim
