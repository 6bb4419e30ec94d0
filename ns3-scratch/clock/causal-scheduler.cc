/*
 * SPDX-License-Identifier: GPL-2.0-only
 */

#include "clock/causal-scheduler.h"

#include "support/wide-arithmetic.h"

#include "ns3/assert.h"
#include "ns3/simulator.h"

#include <algorithm>

namespace cosim
{

using namespace ns3;

NS_OBJECT_ENSURE_REGISTERED(CausalScheduler);

namespace
{

/// @return a reference to the pointer to the scheduler in use
CausalScheduler*&
InUse()
{
    static CausalScheduler* scheduler = nullptr;
    return scheduler;
}

} // namespace

struct CausalScheduler::IsLater
{
    bool operator()(const Item& a, const Item& b) const
    {
        // Compare each event as one long number, without branches: in symmetric traffic many times
        // are equal.
        const Uint128 firstA = MakeWide(a.timePs, a.origin.scheduledPs);
        const Uint128 firstB = MakeWide(b.timePs, b.origin.scheduledPs);
        const Uint128 secondA = MakeWide(a.origin.causePs, a.origin.number);
        const Uint128 secondB = MakeWide(b.origin.causePs, b.origin.number);
        return (firstA > firstB) | ((firstA == firstB) & (secondA > secondB));
    }

  private:
    /// @return two non-negative numbers, combined into one
    static Uint128 MakeWide(int64_t high, int64_t low)
    {
        return Uint128{static_cast<uint64_t>(high)} << 64 | static_cast<uint64_t>(low);
    }
};

TypeId
CausalScheduler::GetTypeId()
{
    static TypeId tid = TypeId("cosim::CausalScheduler")
                            .SetParent<Scheduler>()
                            .SetGroupName("Cosim")
                            .AddConstructor<CausalScheduler>();
    return tid;
}

CausalScheduler::CausalScheduler()
{
    InUse() = this;
}

CausalScheduler::~CausalScheduler()
{
    if (InUse() == this)
    {
        InUse() = nullptr;
    }
}

CausalScheduler&
CausalScheduler::Get()
{
    NS_ASSERT_MSG(InUse() != nullptr, "the simulator does not use cosim::CausalScheduler");
    return *InUse();
}

void
CausalScheduler::Schedule(Time delay, const Ptr<EventImpl>& event, const EventOrigin& origin)
{
    m_next = &origin;
    Simulator::Schedule(delay, event);
    m_next = nullptr;
}

void
CausalScheduler::Insert(const Event& event)
{
    m_heap.push_back({
        static_cast<int64_t>(event.key.m_ts),
        m_next != nullptr ? *m_next : MakeOrigin(),
        event.impl,
        event.key.m_uid,
        event.key.m_context,
    });
    std::push_heap(m_heap.begin(), m_heap.end(), IsLater());
}

bool
CausalScheduler::IsEmpty() const
{
    return m_heap.empty();
}

Scheduler::Event
CausalScheduler::MakeEvent(const Item& item)
{
    Event event;
    event.impl = item.impl;
    event.key.m_ts = static_cast<uint64_t>(item.timePs);
    event.key.m_uid = item.uid;
    event.key.m_context = item.context;
    return event;
}

Scheduler::Event
CausalScheduler::PeekNext() const
{
    return MakeEvent(m_heap.front());
}

Scheduler::Event
CausalScheduler::RemoveNext()
{
    std::pop_heap(m_heap.begin(), m_heap.end(), IsLater());
    const Item& next = m_heap.back();
    m_nowPs = next.timePs;
    m_current = next.origin;
    const Event event = MakeEvent(next);
    m_heap.pop_back();
    return event;
}

void
CausalScheduler::Remove(const Event& event)
{
    const auto it = std::find_if(m_heap.begin(), m_heap.end(), [&](const Item& item) {
        return item.uid == event.key.m_uid;
    });
    NS_ASSERT(it != m_heap.end());
    m_heap.erase(it);
    std::make_heap(m_heap.begin(), m_heap.end(), IsLater());
}

} // namespace cosim
