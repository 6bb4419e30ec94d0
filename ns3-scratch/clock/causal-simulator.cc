/*
 * SPDX-License-Identifier: GPL-2.0-only
 */

#include "clock/causal-simulator.h"

#include "ns3/assert.h"
#include "ns3/simulator.h"

#include <algorithm>
#include <limits>
#include <utility>

namespace cosim
{

using namespace ns3;

NS_OBJECT_ENSURE_REGISTERED(CausalSimulator);

namespace
{

CausalSimulator* g_inUse = nullptr; //!< the simulator in use, or null

} // namespace

TypeId
CausalSimulator::GetTypeId()
{
    static TypeId tid = TypeId("cosim::CausalSimulator")
                            .SetParent<SimulatorImpl>()
                            .SetGroupName("Cosim")
                            .AddConstructor<CausalSimulator>();
    return tid;
}

CausalSimulator::CausalSimulator()
    : m_context(Simulator::NO_CONTEXT)
{
    g_inUse = this;
}

CausalSimulator::~CausalSimulator()
{
    if (g_inUse == this)
    {
        g_inUse = nullptr;
    }
}

CausalSimulator&
CausalSimulator::Get()
{
    NS_ASSERT_MSG(g_inUse != nullptr, "ns3::Simulator does not use a cosim::CausalSimulator");
    return *g_inUse;
}

void
CausalSimulator::SetPollHook(PollHook hook)
{
    m_pollHook = std::move(hook);
}

void
CausalSimulator::DoDispose()
{
    for (; !m_queue.IsEmpty(); m_queue.Pop())
    {
        if (const CausalQueue::Item& item = m_queue.GetNext(); item.GetOwn() == nullptr)
        {
            item.GetImpl()->Unref();
        }
    }
    SimulatorImpl::DoDispose();
}

void
CausalSimulator::Destroy()
{
    while (!m_destroyEvents.empty())
    {
        const EventId id = m_destroyEvents.front();
        m_destroyEvents.pop_front();
        id.PeekEventImpl()->Invoke(); // does nothing if the event is cancelled
    }
}

bool
CausalSimulator::IsFinished() const
{
    return m_queue.IsEmpty() || m_isStopped;
}

void
CausalSimulator::Stop()
{
    m_isStopped = true;
}

EventId
CausalSimulator::Stop(const Time& delay)
{
    return Simulator::Schedule(delay, &Simulator::Stop);
}

EventId
CausalSimulator::Insert(uint32_t context, const Time& delay, EventImpl* event)
{
    NS_ASSERT_MSG(delay.IsPositive(), "an event cannot be scheduled in the past");
    const int64_t timePs = m_nowPs + delay.GetTimeStep();
    const uint32_t uid = m_uid++;
    m_queue.Push(timePs, MakeOrigin(), event, uid, context);
    return EventId(event, static_cast<uint64_t>(timePs), context, uid);
}

EventId
CausalSimulator::Schedule(const Time& delay, EventImpl* event)
{
    return Insert(m_context, delay, event);
}

void
CausalSimulator::ScheduleWithContext(uint32_t context, const Time& delay, EventImpl* event)
{
    Insert(context, delay, event);
}

EventId
CausalSimulator::ScheduleNow(EventImpl* event)
{
    return Insert(m_context, Time(0), event);
}

EventId
CausalSimulator::ScheduleDestroy(EventImpl* event)
{
    const EventId id(Ptr<EventImpl>(event, false),
                     static_cast<uint64_t>(m_nowPs),
                     Simulator::NO_CONTEXT,
                     EventId::UID::DESTROY);
    m_destroyEvents.push_back(id);
    return id;
}

void
CausalSimulator::Remove(const EventId& id)
{
    if (id.GetUid() == EventId::UID::DESTROY)
    {
        m_destroyEvents.remove(id);
    }
    else if (!IsExpired(id) && m_queue.Remove(static_cast<int64_t>(id.GetTs()), id.GetUid()))
    {
        id.PeekEventImpl()->Cancel();
        id.PeekEventImpl()->Unref();
    }
}

void
CausalSimulator::Cancel(const EventId& id)
{
    if (!IsExpired(id))
    {
        id.PeekEventImpl()->Cancel();
    }
}

bool
CausalSimulator::IsExpired(const EventId& id) const
{
    if (id.PeekEventImpl() == nullptr || id.PeekEventImpl()->IsCancelled())
    {
        return true;
    }
    if (id.GetUid() == EventId::UID::DESTROY)
    {
        return std::find(m_destroyEvents.begin(), m_destroyEvents.end(), id) ==
               m_destroyEvents.end();
    }
    const auto timePs = static_cast<int64_t>(id.GetTs());
    return timePs < m_nowPs || (timePs == m_nowPs && id.GetUid() <= m_currentUid);
}

void
CausalSimulator::Run()
{
    m_isStopped = false;
    while (!m_queue.IsEmpty() && !m_isStopped)
    {
        if (DropCancelled())
        { // nothing happens, so the clock stands still
            continue;
        }
        if (m_queue.GetNext().timePs >= m_nextWatchPs)
        {
            Look();
            continue;
        }
        RunNext();
        Poll();
    }
    if (m_queue.IsEmpty())
    {
        m_nowPs = m_actedPs;
    }
}

/// @return true if the next event was cancelled; then it is no longer in the queue
bool
CausalSimulator::DropCancelled()
{
    const CausalQueue::Item& item = m_queue.GetNext();
    if (item.GetOwn() != nullptr || !item.GetImpl()->IsCancelled())
    {
        return false;
    }
    EventImpl* const event = item.GetImpl();
    m_queue.Pop();
    event->Unref();
    return true;
}

/// Let the next event happen.
void
CausalSimulator::RunNext()
{
    const CausalQueue::Item& item = m_queue.GetNext();
    Enter(item);
    if (CausalEvent* own = item.GetOwn(); own != nullptr)
    {
        m_queue.Pop();
        own->Happen();
    }
    else
    {
        EventImpl* const event = item.GetImpl();
        m_queue.Pop();
        event->Invoke();
        event->Unref();
    }
}

/// Advance the clock to an event.
void
CausalSimulator::Enter(const CausalQueue::Item& item)
{
    ++m_eventCount;
    AdvanceTo(item.timePs);
    m_eventPs = item.timePs;
    m_actedBeforePs = std::exchange(m_actedPs, item.timePs);
    m_currentUid = std::max(m_currentUid, item.GetUid());
    m_current = item.origin;
    m_context = item.GetOwn() != nullptr ? Simulator::NO_CONTEXT : item.GetContext();
}

void
CausalSimulator::AdvanceTo(int64_t timePs)
{
    if (timePs > m_nowPs)
    {
        m_nowPs = timePs;
        m_currentUid = EventId::UID::INVALID;
    }
}

uint64_t
CausalSimulator::Watch(int64_t timePs, std::function<void()> look)
{
    // The first one to be set for a time is the first one to look.
    const auto isLater = [timePs](const Watcher& watcher) { return watcher.timePs > timePs; };
    const auto place = std::find_if_not(m_watchers.begin(), m_watchers.end(), isLater);
    m_watchers.insert(place, {timePs, ++m_watches, std::move(look)});
    m_nextWatchPs = m_watchers.back().timePs;
    return m_watches;
}

void
CausalSimulator::Unwatch(uint64_t id)
{
    std::erase_if(m_watchers, [id](const Watcher& watcher) { return watcher.id == id; });
    m_nextWatchPs = m_watchers.empty() ? CausalQueue::NEVER : m_watchers.back().timePs;
}

/// Call the function of the earliest watch, which is due.
void
CausalSimulator::Look()
{
    const Watcher watcher = m_watchers.back();
    Unwatch(watcher.id);
    AdvanceTo(watcher.timePs);
    watcher.look();
}

CausalSimulator::Aside::Aside(CausalSimulator& clock, int64_t fromPs)
    : m_clock(clock),
      m_current(clock.m_current),
      m_nowPs(clock.m_nowPs),
      m_eventPs(clock.m_eventPs),
      m_actedPs(clock.m_actedPs),
      m_actedBeforePs(clock.m_actedBeforePs),
      m_currentUid(clock.m_currentUid),
      m_context(clock.m_context)
{
    std::swap(m_queue, clock.m_queue);
    clock.m_nowPs = fromPs;
}

CausalSimulator::Aside::~Aside()
{
    std::swap(m_queue, m_clock.m_queue);
    m_clock.m_queue.Take(m_queue);
    m_clock.m_current = m_current;
    m_clock.m_nowPs = m_nowPs;
    m_clock.m_eventPs = m_eventPs;
    m_clock.m_actedPs = m_actedPs;
    m_clock.m_actedBeforePs = m_actedBeforePs;
    m_clock.m_currentUid = m_currentUid;
    m_clock.m_context = m_context;
}

void
CausalSimulator::Aside::RunTo(int64_t timePs)
{
    const bool isBegun = timePs < m_nowPs || m_eventPs == m_nowPs;
    const int64_t untilPs = isBegun ? timePs : timePs - 1;
    while (m_clock.m_queue.GetFirstTimePs() <= untilPs)
    {
        if (!m_clock.DropCancelled())
        {
            m_clock.RunNext();
        }
    }
    m_clock.m_nowPs = timePs;
    m_clock.m_current = {timePs, std::numeric_limits<int64_t>::max(), m_clock.m_number};
}

Time
CausalSimulator::Now() const
{
    return Time(m_nowPs);
}

Time
CausalSimulator::GetDelayLeft(const EventId& id) const
{
    return IsExpired(id) ? Time(0) : Time(static_cast<int64_t>(id.GetTs()) - m_nowPs);
}

Time
CausalSimulator::GetMaximumSimulationTime() const
{
    return Time(std::numeric_limits<int64_t>::max());
}

/// The order of events is part of this simulator, so it takes no other scheduler.
void
CausalSimulator::SetScheduler(ObjectFactory /* factory */)
{
}

uint32_t
CausalSimulator::GetSystemId() const
{
    return 0;
}

uint32_t
CausalSimulator::GetContext() const
{
    return m_context;
}

uint64_t
CausalSimulator::GetEventCount() const
{
    return m_eventCount;
}

} // namespace cosim
