/*
 * SPDX-License-Identifier: GPL-2.0-only
 */

#include "express-link.h"

#include "ns3/simulator.h"

#include <algorithm>
#include <utility>

namespace cosim
{

using namespace ns3;

/// The event of a link's next arrival; one object serves them all.
class ExpressLink::ArrivalEvent : public EventImpl
{
  public:
    /// @param link the link
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

ExpressLink::ExpressLink(const Parameters& parameters,
                         std::shared_ptr<TransmissionTimes> times,
                         Receiver* receiver)
    : m_parameters(parameters),
      m_times(std::move(times)),
      m_receiver(receiver),
      m_event(Create<ArrivalEvent>(this))
{
}

ExpressLink::~ExpressLink()
{
    m_event->Cancel(); // the simulator may still hold it
}

bool
ExpressLink::Enqueue(Segment* segment, int64_t causePs)
{
    const int64_t now = Simulator::Now().GetTimeStep();
    const uint32_t bytes = segment->wireBytes;
    const bool watched = m_parameters.bufferBytes != 0;
    if (watched)
    {
        LeaveQueue(now, causePs);
        const uint64_t length = m_queuedBytes + bytes; // a packet passes through the queue
        if (length > m_parameters.bufferBytes)
        {
            ++m_counters.drops;
            return false;
        }
        m_counters.maxQueueBytes = std::max(m_counters.maxQueueBytes, length);
        if (segment->ect && m_parameters.ecnThresholdBytes != 0 &&
            m_queuedBytes >= m_parameters.ecnThresholdBytes)
        {
            segment->ce = true;
            ++m_counters.marks;
        }
    }
    const int64_t start = std::max(now, m_busyUntilPs);
    const int64_t duration = m_times->Get(bytes);
    m_busyUntilPs = start + duration;
    m_counters.busyPs += duration;
    m_counters.wireBytes += bytes;
    if (watched && start > now)
    {
        m_queue.Push({start, m_lastStartPs, bytes});
        m_queuedBytes += bytes;
    }
    m_lastStartPs = start;
    const int64_t arrival = m_busyUntilPs + m_parameters.latencyPs;
    m_inFlight.Push({start, arrival, segment});
    if (m_inFlight.GetSize() == 1)
    {
        ScheduleArrival(arrival - now);
    }
    return true;
}

void
ExpressLink::LeaveQueue(int64_t nowPs, int64_t causePs)
{
    while (!m_queue.IsEmpty())
    {
        const Queued& first = m_queue.Front();
        if (first.startPs > nowPs || (first.startPs == nowPs && first.causePs >= causePs))
        {
            return;
        }
        m_queuedBytes -= m_queue.Front().bytes;
        m_queue.Pop();
    }
}

void
ExpressLink::ScheduleArrival(int64_t delayPs)
{
    Simulator::Schedule(TimeStep(static_cast<uint64_t>(delayPs)), Ptr<EventImpl>(m_event));
}

void
ExpressLink::Arrive()
{
    const InFlight arrived = m_inFlight.Front();
    m_inFlight.Pop();
    if (!m_inFlight.IsEmpty())
    {
        ScheduleArrival(m_inFlight.Front().arrivalPs - arrived.arrivalPs);
    }
    m_receiver->OnLinkArrival(arrived.segment, arrived.startPs);
}

LinkCounters
ExpressLink::GetCounters() const
{
    LinkCounters counters = m_counters;
    // What has entered but is not sent yet does not count as busy time.
    counters.busyPs -= std::max<int64_t>(0, m_busyUntilPs - Simulator::Now().GetTimeStep());
    return counters;
}

} // namespace cosim
