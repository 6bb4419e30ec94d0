/*
 * SPDX-License-Identifier: GPL-2.0-only
 */

#include "fabrics/native/device-queue.h"

#include "ns3/ipv4-header.h"
#include "ns3/ppp-header.h"
#include "ns3/queue-size.h"

#include <array>

namespace cosim
{

using namespace ns3;

NS_OBJECT_ENSURE_REGISTERED(DeviceQueue);

namespace
{

// PointToPointNetDevice has already added its PPP header in front of the IP header.

/// @return true if the IP header says that the packet may be marked
bool
IsEcnCapable(const Ptr<Packet>& packet)
{
    // PPP protocol number, then the first two bytes of the IP header
    std::array<uint8_t, 4> start{};
    packet->CopyData(start.data(), start.size());
    constexpr uint8_t ecnBits = 0x03;
    return (start[3] & ecnBits) != 0;
}

/// @return a packet as the buffer sees it; ns-3 does not tell by which link it came
Passage
MakePassage(const Ptr<Packet>& packet)
{
    return {packet->GetSize(), Passage::NO_LINK, 0, IsEcnCapable(packet)};
}

/// Set CE in the IP header.
void
Mark(const Ptr<Packet>& packet)
{
    PppHeader ppp;
    packet->RemoveHeader(ppp);
    Ipv4Header ip;
    packet->RemoveHeader(ip);
    ip.SetEcn(Ipv4Header::ECN_CE);
    packet->AddHeader(ip);
    packet->AddHeader(ppp);
}

} // namespace

TypeId
DeviceQueue::GetTypeId()
{
    static TypeId tid = TypeId("cosim::DeviceQueue")
                            .SetParent<DropTailQueue<Packet>>()
                            .SetGroupName("Cosim")
                            .AddConstructor<DeviceQueue>();
    return tid;
}

void
DeviceQueue::SetPaddingBytes(uint32_t bytes)
{
    m_paddingBytes = bytes;
}

void
DeviceQueue::SetBuffer(SwitchBuffer& buffer, const LinkState& link)
{
    SetMaxSize(QueueSize(BYTES, UINT32_MAX)); // the buffer replaces the limit of DropTailQueue
    m_port = buffer.AddPort(*this);
    m_buffer = buffer.SetLink(m_port, link) ? &buffer : nullptr;
}

uint64_t
DeviceQueue::GetMarks() const
{
    return m_marks;
}

bool
DeviceQueue::Enqueue(Ptr<Packet> packet)
{
    packet->AddPaddingAtEnd(m_paddingBytes); // ns-3's IP removes it at the next node
    if (m_buffer == nullptr)
    {
        return DropTailQueue<Packet>::Enqueue(packet);
    }
    const SwitchBuffer::Verdict verdict = m_buffer->Enter(m_port, MakePassage(packet), true);
    if (verdict == SwitchBuffer::Verdict::DROP)
    {
        DropBeforeEnqueue(packet);
        return false;
    }
    if (verdict == SwitchBuffer::Verdict::MARK)
    {
        Mark(packet);
        ++m_marks;
    }
    return DropTailQueue<Packet>::Enqueue(packet);
}

Ptr<Packet>
DeviceQueue::Dequeue()
{
    return NoteLeaving(DropTailQueue<Packet>::Dequeue());
}

Ptr<Packet>
DeviceQueue::Remove()
{
    return NoteLeaving(DropTailQueue<Packet>::Remove());
}

Ptr<Packet>
DeviceQueue::NoteLeaving(Ptr<Packet> packet)
{
    if (packet && m_buffer != nullptr && m_buffer->Leave(m_port, MakePassage(packet)))
    {
        Mark(packet);
        ++m_marks;
    }
    return packet;
}

void
DeviceQueue::Update()
{
    // The buffer is told about every packet when it leaves.
}

} // namespace cosim
