/*
 * SPDX-License-Identifier: GPL-2.0-only
 */

#include "fabrics/express/pulled-port.h"

#include "transport/telemetry.h"

#include <algorithm>
#include <bit>
#include <utility>

namespace cosim
{

PulledPort::PulledPort(const PortSetup& setup)
    : m_clock(setup.clock),
      m_receiver(setup.receiver),
      m_latencyPs(static_cast<int64_t>(setup.state.latencyPs))
{
    const std::size_t places = setup.hasClasses ? CLASSES : 1;
    m_buffers.reserve(places);
    for (std::size_t place = 0; place < places; ++place)
    {
        m_buffers.emplace_back(setup.buffer, *this);
    }
    for (const auto& [trafficClass, marking] : setup.markings)
    {
        m_buffers[trafficClass].SetMarking(marking);
    }
}

void
PulledPort::Attach(PacketSource& source, uint8_t trafficClass)
{
    m_sources[trafficClass] = &source;
    m_pulled |= uint32_t{1} << trafficClass;
}

void
PulledPort::Wake()
{
    SendNext();
}

void
PulledPort::Pause(uint32_t trafficClass, uint32_t hops)
{
    if (IsPaused(trafficClass))
    {
        return;
    }
    ++m_counters.pauses;
    if (m_paused == 0)
    {
        m_pausedPs = m_clock.GetNowPs();
    }
    m_paused |= uint32_t{1} << trafficClass;
    if (m_onPause)
    {
        m_onPause(trafficClass, hops, true);
    }
}

void
PulledPort::Resume(uint32_t trafficClass)
{
    if (!IsPaused(trafficClass))
    {
        return;
    }
    m_paused &= ~(uint32_t{1} << trafficClass);
    if (m_paused == 0)
    {
        m_counters.pausedPs += m_clock.GetNowPs() - m_pausedPs;
    }
    if (m_onPause)
    {
        m_onPause(trafficClass, 0, false);
    }
    SendNext();
}

void
PulledPort::Send(const PauseFrame& frame)
{
    if (m_isUp)
    {
        m_frames.Push(frame);
        SendNext();
    }
}

/// What began its transmission first arrives.
void
PulledPort::Arrive()
{
    const Transit transit = m_transits.Pop();
    if (transit.packet != nullptr)
    {
        m_receiver.OnLinkArrival(transit.packet);
    }
    else if (transit.frame.isPaused)
    {
        transit.frame.port->Pause(transit.frame.trafficClass, transit.frame.hops);
    }
    else
    {
        transit.frame.port->Resume(transit.frame.trafficClass);
    }
}

void
PulledPort::Set(TransmissionTimes& times, const LinkState& state)
{
    m_times = &times;
    m_rateBps = state.rateBps;
    m_isUp = state.isUp;
    if (!m_isUp)
    { // who is connected again has paused nothing
        m_frames.Clear();
        for (uint32_t trafficClass = 0; trafficClass < CLASSES; ++trafficClass)
        {
            Resume(trafficClass);
        }
    }
    for (PortBuffer& buffer : m_buffers)
    {
        buffer.SetLink(state);
    }
    if (m_pulled != 0)
    {
        SendNext();
    }
}

bool
PulledPort::Take(Packet* packet, bool isDroppable)
{
    const uint32_t bytes = packet->wireBytes;
    const int64_t durationPs = m_times->Get(bytes);
    PortBuffer& buffer = GetBuffer(*packet);
    if (!buffer.Enter(*packet, MakePassage(*packet), isDroppable, m_counters))
    {
        return false;
    }
    uint64_t length = m_waitingBytes + bytes;
    if (!buffer.IsGuarded())
    { // as LinkCounters says, with the rest of the packet in transmission
        const int64_t restPs = std::max<int64_t>(0, m_endPs - m_clock.GetNowPs());
        length = m_times->GetBytes(restPs + m_waitingPs + durationPs);
    }
    m_counters.maxQueueBytes = std::max(m_counters.maxQueueBytes, length);
    m_queues[packet->trafficClass].Push(packet);
    m_waiting |= uint32_t{1} << packet->trafficClass;
    m_waitingBytes += bytes;
    m_waitingPs += durationPs;
    SendNext();
    return true;
}

/// @return the next packet to send, out of its queue or from its source; null if there is none
Packet*
PulledPort::TakeNext()
{
    for (uint32_t left = (m_waiting | (m_isUp ? m_pulled : 0)) & ~m_paused; left != 0;)
    {
        const auto trafficClass = static_cast<uint32_t>(std::bit_width(left)) - 1;
        const uint32_t bit = uint32_t{1} << trafficClass;
        left &= ~bit;
        if ((m_waiting & bit) == 0)
        {
            if (Packet* const packet = m_sources[trafficClass]->Pull(); packet != nullptr)
            {
                return packet;
            }
            continue;
        }
        RingBuffer<Packet*>& queue = m_queues[trafficClass];
        Packet* const packet = queue.Pop();
        m_waiting &= queue.IsEmpty() ? ~bit : ~uint32_t{0};
        m_waitingBytes -= packet->wireBytes;
        m_waitingPs -= m_times->Get(packet->wireBytes);
        GetBuffer(*packet).Leave(*packet, MakePassage(*packet), m_counters);
        if (packet->isProbe && packet->hop > 0 && !packet->toSender)
        {
            static_cast<ProbePacket*>(packet)->telemetry->Add(m_clock.GetNowPs(),
                                                              m_counters.wireBytes,
                                                              m_waitingBytes,
                                                              m_rateBps);
        }
        return packet;
    }
    return nullptr;
}

/// Begin the next transmission, if the transmitter is free.
void
PulledPort::SendNext()
{
    if (m_isSending)
    {
        return;
    }
    if (!m_frames.IsEmpty())
    {
        const PauseFrame frame = m_frames.Pop();
        Transmit(frame.bytes, nullptr, frame);
    }
    else if (Packet* const packet = TakeNext(); packet != nullptr)
    {
        Transmit(packet->wireBytes, packet, {});
    }
}

/// Begin a transmission, of a packet or of a frame.
void
PulledPort::Transmit(uint32_t bytes, Packet* packet, const PauseFrame& frame)
{
    m_isSending = true;
    m_sendingBytes = bytes;
    const int64_t durationPs = m_times->Get(bytes);
    m_endPs = m_clock.GetNowPs() + durationPs;
    m_counters.busyPs += durationPs;
    m_counters.wireBytes += bytes;
    m_clock.Schedule(m_endPs, m_completion, m_clock.MakeOrigin());
    m_transits.Push({m_endPs + m_latencyPs, packet, frame});
    m_clock.Schedule(m_transits.Back().arrivalPs, m_arrival, m_clock.MakeOrigin(), packet);
}

void
PulledPort::Withdraw(std::vector<Packet*>& packets)
{
    for (std::size_t trafficClass = CLASSES; trafficClass-- > 0;)
    {
        for (RingBuffer<Packet*>& queue = m_queues[trafficClass]; !queue.IsEmpty();)
        {
            packets.push_back(queue.Pop());
            GetBuffer(*packets.back()).Withdraw(MakePassage(*packets.back()));
        }
    }
    m_waiting = 0;
    m_waitingBytes = 0;
    m_waitingPs = 0;
}

int64_t
PulledPort::GetLastArrivalPs() const
{
    return m_transits.IsEmpty() ? -1 : m_transits.Back().arrivalPs;
}

LinkCounters
PulledPort::GetCounters()
{
    LinkCounters counters = m_counters;
    counters.queuedBytes = m_waitingBytes;
    if (m_paused != 0)
    {
        counters.pausedPs += m_clock.GetNowPs() - m_pausedPs;
    }
    if (const int64_t restPs = m_endPs - m_clock.GetNowPs(); restPs > 0)
    { // the packet in transmission counts neither as carried nor as busy time yet
        counters.busyPs -= restPs;
        counters.wireBytes -= m_sendingBytes;
    }
    return counters;
}

uint64_t
PulledPort::TakeLongestQueue()
{
    return std::exchange(m_counters.maxQueueBytes, 0);
}

} // namespace cosim
