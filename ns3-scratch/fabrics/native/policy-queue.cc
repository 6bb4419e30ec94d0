/*
 * SPDX-License-Identifier: GPL-2.0-only
 */

#include "fabrics/native/policy-queue.h"

#include "ns3/ipv4-header.h"
#include "ns3/ppp-header.h"
#include "ns3/queue-size.h"

#include <array>

namespace cosim
{

using namespace ns3;

NS_OBJECT_ENSURE_REGISTERED(PolicyQueue);

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
PolicyQueue::GetTypeId()
{
    static TypeId tid = TypeId("cosim::PolicyQueue")
                            .SetParent<DropTailQueue<Packet>>()
                            .SetGroupName("Cosim")
                            .AddConstructor<PolicyQueue>();
    return tid;
}

void
PolicyQueue::SetPaddingBytes(uint32_t bytes)
{
    m_paddingBytes = bytes;
}

void
PolicyQueue::SetPolicy(QueuePolicyMaker& policies, const LinkState& link)
{
    SetMaxSize(QueueSize(BYTES, UINT32_MAX)); // the policy replaces the limit of DropTailQueue
    m_policy = policies.Make(link, *this);
}

uint64_t
PolicyQueue::GetMarks() const
{
    return m_marks;
}

bool
PolicyQueue::Enqueue(Ptr<Packet> packet)
{
    packet->AddPaddingAtEnd(m_paddingBytes); // ns-3's IP removes it at the next node
    if (!m_policy)
    {
        return DropTailQueue<Packet>::Enqueue(packet);
    }
    const QueuePolicy::Verdict verdict =
        m_policy->Decide({packet->GetSize(), IsEcnCapable(packet), true});
    if (verdict == QueuePolicy::Verdict::DROP)
    {
        DropBeforeEnqueue(packet);
        return false;
    }
    if (verdict == QueuePolicy::Verdict::MARK)
    {
        Mark(packet);
        ++m_marks;
    }
    m_policy->Enter(packet->GetSize());
    return DropTailQueue<Packet>::Enqueue(packet);
}

Ptr<Packet>
PolicyQueue::Dequeue()
{
    return NoteLeaving(DropTailQueue<Packet>::Dequeue());
}

Ptr<Packet>
PolicyQueue::Remove()
{
    return NoteLeaving(DropTailQueue<Packet>::Remove());
}

Ptr<Packet>
PolicyQueue::NoteLeaving(Ptr<Packet> packet)
{
    if (packet && m_policy)
    {
        m_policy->Leave(packet->GetSize());
    }
    return packet;
}

void
PolicyQueue::Update()
{
    // The policy must be told about every packet that leaves.
}

} // namespace cosim
