/*
 * SPDX-License-Identifier: GPL-2.0-only
 */

#include "fabrics/express/busy-until-port.h"

#include "stream/stream-validator.h"

#include <algorithm>
#include <utility>

namespace cosim
{

using namespace ns3;

namespace
{

/// Later than any event of a run [ps]. No link is busy until a later time.
constexpr int64_t FAR_PS = 2 * static_cast<int64_t>(MAX_TIME_PS);

} // namespace

BusyUntilPort::BusyUntilPort(const PortSetup& setup)
    : m_clock(setup.clock),
      m_receiver(setup.receiver),
      m_latencyPs(static_cast<int64_t>(setup.state.latencyPs)),
      m_buffer(setup.buffer, *this)
{
}

void
BusyUntilPort::Set(TransmissionTimes& times, const LinkState& state)
{
    m_counters.maxQueueBytes = GetMaxQueueBytes();
    m_longestWaitPs = 0;
    m_times = &times;
    m_buffer.SetLink(state);
}

bool
BusyUntilPort::Take(Packet* packet, bool isDroppable)
{
    const uint32_t bytes = packet->wireBytes;
    const Passage passage = MakePassage(*packet);
    if (m_waiting > 0)
    {
        Update();
    }
    if (!m_buffer.Enter(*packet, passage, isDroppable, m_counters))
    {
        return false;
    }
    if (m_buffer.IsGuarded())
    { // a packet passes through the queue even if the link is idle
        m_counters.maxQueueBytes = std::max(m_counters.maxQueueBytes, m_waitingBytes + bytes);
    }
    const int64_t now = m_clock.GetNowPs();
    const bool isFree = IsComplete(m_busyUntilPs, m_last, now);
    if (isFree)
    {
        const EventOrigin origin = m_clock.MakeOrigin();
        m_last = {origin.scheduledPs, origin.causePs};
        m_origins.Push(origin);
        m_buffer.Leave(*packet, passage, m_counters);
    }
    else
    {
        m_last = {m_busyUntilPs, m_last.timePs};
        if (m_buffer.IsGuarded())
        {
            ++m_waiting;
            m_waitingBytes += bytes;
        }
    }
    m_busyUntilPs = std::min(m_last.timePs + m_times->Get(bytes), FAR_PS);
    m_longestWaitPs = std::max(m_longestWaitPs, m_busyUntilPs - now);
    m_counters.busyPs += m_busyUntilPs - m_last.timePs;
    m_counters.wireBytes += bytes;
    m_packets.Push(
        {m_busyUntilPs + m_latencyPs, packet, passage, !isFree, m_buffer.MarksAtDequeue()});
    if (m_packets.GetSize() == 1)
    {
        ScheduleArrival(m_origins.Pop());
    }
    return true;
}

/**
 * @return true if a transmission is complete: its end is in the past, or it is now and the
 * completing event would have run
 */
bool
BusyUntilPort::IsComplete(int64_t endPs, const Start& start, int64_t nowPs) const
{
    if (endPs != nowPs)
    {
        return endPs < nowPs;
    }
    if (m_latencyPs == 0)
    { // ns-3 would let the packet arrive right after this event, at the same time
        return m_packets.IsEmpty() || m_packets.Front().arrivalPs != nowPs;
    }
    const EventOrigin& current = m_clock.GetCurrent();
    return std::pair(start.timePs, start.causePs) < std::pair(current.scheduledPs, current.causePs);
}

/**
 * @param index a packet, after which only queued packets follow
 * @return the start of its transmission
 */
BusyUntilPort::Start
BusyUntilPort::GetStart(std::size_t index) const
{
    if (index == 0)
    {
        return m_front;
    }
    if (!m_packets.At(index).isQueued)
    {
        return {m_origins.Back().scheduledPs, m_origins.Back().causePs};
    }
    const int64_t cause = index == 1 || !m_packets.At(index - 1).isQueued
                              ? GetStart(index - 1).timePs
                              : m_packets.At(index - 2).arrivalPs - m_latencyPs;
    return {m_packets.At(index - 1).arrivalPs - m_latencyPs, cause};
}

void
BusyUntilPort::Update()
{
    const int64_t now = m_clock.GetNowPs();
    for (; m_waiting > 0; --m_waiting)
    {
        const std::size_t index = m_packets.GetSize() - m_waiting;
        if (index > 0)
        { // it leaves the queue when the transmission before it is complete
            const int64_t startPs = m_packets.At(index - 1).arrivalPs - m_latencyPs;
            if (startPs > now || (startPs == now && !IsComplete(startPs, GetStart(index - 1), now)))
            {
                return;
            }
        }
        const Transit& left = m_packets.At(index); // if it has arrived, as it was then
        m_waitingBytes -= left.passage.bytes;
        m_buffer.Leave(*left.packet, left.passage, m_counters);
    }
}

/// Schedule the arrival of the first packet.
void
BusyUntilPort::ScheduleArrival(const EventOrigin& origin)
{
    const Transit& first = m_packets.Front();
    m_front = {origin.scheduledPs, origin.causePs};
    m_clock.Schedule(first.arrivalPs, *this, origin, first.packet);
}

/// The first packet arrives.
void
BusyUntilPort::Happen()
{
    if (m_packets.Front().marksAtDequeue)
    {
        Update();
    }
    const Transit arrived = m_packets.Pop();
    if (!m_packets.IsEmpty())
    {
        if (m_packets.Front().isQueued)
        {
            ScheduleArrival(
                {arrived.arrivalPs - m_latencyPs, m_front.timePs, m_clock.TakeNumber()});
        }
        else
        {
            ScheduleArrival(m_origins.Pop());
        }
    }
    m_receiver.OnLinkArrival(arrived.packet);
}

void
BusyUntilPort::Withdraw(std::vector<Packet*>& packets)
{
    const int64_t now = m_clock.GetNowPs();
    Update(); // a packet that has left may be marked
    for (; m_waiting > 0; --m_waiting)
    {
        m_buffer.Withdraw(m_packets.At(m_packets.GetSize() - m_waiting).passage);
    }
    m_waitingBytes = 0;
    const std::size_t before = packets.size();
    while (m_packets.GetSize() > 1 && m_packets.Back().isQueued)
    {
        const Transit& last = m_packets.Back();
        const int64_t startPs = m_packets.At(m_packets.GetSize() - 2).arrivalPs - m_latencyPs;
        if (startPs <= now)
        {
            break;
        }
        m_counters.busyPs -= last.arrivalPs - m_latencyPs - startPs;
        m_counters.wireBytes -= last.passage.bytes;
        packets.push_back(last.packet);
        m_packets.PopBack();
    }
    if (packets.size() > before)
    { // the packet before the first of them is in transmission
        std::reverse(packets.begin() + static_cast<std::ptrdiff_t>(before), packets.end());
        m_busyUntilPs = m_packets.Back().arrivalPs - m_latencyPs;
        m_last = GetStart(m_packets.GetSize() - 1);
    }
}

/// @return the longest queue so far; without a buffer, by the time that its last packet waited
uint64_t
BusyUntilPort::GetMaxQueueBytes() const
{
    if (m_buffer.IsGuarded() || m_times == nullptr)
    {
        return m_counters.maxQueueBytes;
    }
    return std::max(m_counters.maxQueueBytes, m_times->GetBytes(m_longestWaitPs));
}

uint64_t
BusyUntilPort::TakeLongestQueue()
{
    const uint64_t longest = GetMaxQueueBytes();
    m_counters.maxQueueBytes = 0;
    m_longestWaitPs = 0;
    return longest;
}

LinkCounters
BusyUntilPort::GetCounters()
{
    if (m_buffer.MarksAtDequeue())
    { // packets that have left and not arrived may be marked
        Update();
    }
    LinkCounters counters = m_counters;
    counters.maxQueueBytes = GetMaxQueueBytes();
    // Packets that have entered but are not sent yet count neither as carried nor as busy time.
    const int64_t now = m_clock.GetNowPs();
    counters.busyPs -= std::max<int64_t>(0, m_busyUntilPs - now);
    for (std::size_t index = m_packets.GetSize();
         index-- > 0 && m_packets.At(index).arrivalPs - m_latencyPs > now;)
    {
        const uint32_t bytes = m_packets.At(index).passage.bytes;
        counters.wireBytes -= bytes;
        counters.queuedBytes += GetStart(index).timePs > now ? bytes : 0;
    }
    return counters;
}

} // namespace cosim
