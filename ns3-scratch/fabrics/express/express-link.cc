/*
 * SPDX-License-Identifier: GPL-2.0-only
 */

#include "fabrics/express/express-link.h"

#include <algorithm>
#include <utility>

namespace cosim
{

using namespace ns3;

/// The event of the next arrival at a link. One object is reused for all arrivals.
class ExpressLink::ArrivalEvent : public EventImpl
{
  public:
    /// @param link the link whose packets arrive
    explicit ArrivalEvent(ExpressLink* link)
        : m_link(link)
    {
    }

  private:
    void Notify() override
    {
        m_link->Arrive();
    }

    ExpressLink* m_link;
};

TransmissionTimes::TransmissionTimes(uint64_t rateBps, uint32_t maxBytes)
    : m_rate(rateBps),
      m_times(maxBytes + 1)
{
}

ExpressLink::ExpressLink(uint64_t latencyPs, Receiver& receiver)
    : m_latencyPs(static_cast<int64_t>(latencyPs)),
      m_receiver(receiver),
      m_simulator(CausalSimulator::Get()),
      m_event(Create<ArrivalEvent>(this))
{
}

ExpressLink::~ExpressLink()
{
    m_event->Cancel(); // the simulator may still hold the event
}

void
ExpressLink::Set(std::shared_ptr<TransmissionTimes> times, std::unique_ptr<QueuePolicy> policy)
{
    m_times = std::move(times);
    m_policy = std::move(policy);
}

bool
ExpressLink::Enqueue(Segment* segment)
{
    return Take(segment, true);
}

void
ExpressLink::Readmit(Segment* segment)
{
    Take(segment, false);
}

bool
ExpressLink::Take(Segment* segment, bool isDroppable)
{
    const uint32_t bytes = segment->wireBytes;
    if (m_policy)
    {
        const QueuePolicy::Verdict verdict = m_policy->Decide({bytes, segment->ect, isDroppable});
        if (verdict == QueuePolicy::Verdict::DROP)
        {
            ++m_counters.drops;
            return false;
        }
        // A packet passes through the queue even if the link is idle.
        const uint64_t length = m_policy->GetQueuedBytes() + bytes;
        m_counters.maxQueueBytes = std::max(m_counters.maxQueueBytes, length);
        if (verdict == QueuePolicy::Verdict::MARK)
        {
            segment->ce = true;
            ++m_counters.marks;
        }
    }
    const int64_t now = m_simulator.GetNowPs();
    const bool isFree = IsComplete(m_busyUntilPs, m_last, now);
    EventOrigin origin;
    if (isFree)
    {
        origin = m_simulator.MakeOrigin();
    }
    else
    {
        origin.scheduledPs = m_busyUntilPs;
        origin.causePs = m_last.timePs;
        if (m_policy)
        {
            m_queue.Push({m_busyUntilPs, m_last, bytes});
            m_policy->Enter(bytes);
        }
    }
    const int64_t duration = m_times->Get(bytes);
    m_last = {origin.scheduledPs, origin.causePs};
    m_busyUntilPs = origin.scheduledPs + duration;
    m_counters.busyPs += duration;
    m_counters.wireBytes += bytes;
    m_inFlight.Push({m_busyUntilPs + m_latencyPs, origin, segment});
    if (m_inFlight.GetSize() == 1)
    {
        ScheduleArrival();
    }
    return true;
}

/**
 * @return true if a transmission is complete: its end is in the past, or it is now and the
 * completing event would have run
 */
bool
ExpressLink::IsComplete(int64_t endPs, const Start& start, int64_t nowPs) const
{
    if (endPs != nowPs)
    {
        return endPs < nowPs;
    }
    if (m_latencyPs == 0)
    { // ns-3 would let the packet arrive right after this event, at the same time
        return m_inFlight.IsEmpty() || m_inFlight.Front().arrivalPs != nowPs;
    }
    const EventOrigin& current = m_simulator.GetCurrent();
    return std::pair(start.timePs, start.causePs) < std::pair(current.scheduledPs, current.causePs);
}

void
ExpressLink::Update()
{
    const int64_t now = m_simulator.GetNowPs();
    while (!m_queue.IsEmpty())
    {
        const Queued& first = m_queue.Front();
        if (!IsComplete(first.startPs, first.previous, now))
        {
            return;
        }
        m_policy->Leave(first.bytes);
        m_queue.Pop();
    }
}

void
ExpressLink::ScheduleArrival()
{
    const InFlight& first = m_inFlight.Front();
    EventOrigin origin = first.origin;
    if (origin.number == 0)
    {
        origin.number = m_simulator.TakeNumber();
    }
    __builtin_prefetch(first.segment,
                       // the segment was last used when it entered, so fetch it into the cache
                       // before it arrives
                       1);
    m_simulator.Schedule(first.arrivalPs, PeekPointer(m_event), origin);
}

void
ExpressLink::Arrive()
{
    const InFlight arrived = m_inFlight.Front();
    m_inFlight.Pop();
    if (!m_inFlight.IsEmpty())
    {
        ScheduleArrival();
    }
    m_receiver.OnLinkArrival(arrived.segment);
}

void
ExpressLink::Withdraw(std::vector<Segment*>& packets)
{
    const int64_t now = m_simulator.GetNowPs();
    const std::size_t before = packets.size();
    while (!m_inFlight.IsEmpty() && m_inFlight.Back().origin.scheduledPs > now)
    {
        const InFlight& last = m_inFlight.Back();
        m_counters.busyPs -= last.arrivalPs - m_latencyPs - last.origin.scheduledPs;
        m_counters.wireBytes -= last.segment->wireBytes;
        packets.push_back(last.segment);
        m_inFlight.PopBack();
    }
    if (packets.size() > before)
    { // the packet before the first of them is in transmission
        std::reverse(packets.begin() + static_cast<std::ptrdiff_t>(before), packets.end());
        const InFlight& last = m_inFlight.Back();
        m_busyUntilPs = last.arrivalPs - m_latencyPs;
        m_last = {last.origin.scheduledPs, last.origin.causePs};
    }
    for (; !m_queue.IsEmpty(); m_queue.Pop())
    {
        m_policy->Leave(m_queue.Front().bytes);
    }
}

LinkCounters
ExpressLink::GetCounters() const
{
    LinkCounters counters = m_counters;
    // Time for packets that have entered but are not sent yet must not count as busy time.
    counters.busyPs -= std::max<int64_t>(0, m_busyUntilPs - m_simulator.GetNowPs());
    return counters;
}

} // namespace cosim
