/*
 * SPDX-License-Identifier: GPL-2.0-only
 */

#include "fabrics/native/marking-queue.h"

#include "ns3/ipv4-header.h"
#include "ns3/ppp-header.h"

namespace cosim
{

using namespace ns3;

NS_OBJECT_ENSURE_REGISTERED(MarkingQueue);

TypeId
MarkingQueue::GetTypeId()
{
    static TypeId tid = TypeId("cosim::MarkingQueue")
                            .SetParent<DropTailQueue<Packet>>()
                            .SetGroupName("Cosim")
                            .AddConstructor<MarkingQueue>();
    return tid;
}

void
MarkingQueue::SetThreshold(uint64_t bytes)
{
    m_threshold = bytes;
}

uint64_t
MarkingQueue::GetMarks() const
{
    return m_marks;
}

bool
MarkingQueue::Enqueue(Ptr<Packet> packet)
{
    const bool fits = GetCurrentSize() + packet <= GetMaxSize();
    if (fits && GetNBytes() >= m_threshold && Mark(packet))
    {
        ++m_marks;
    }
    return DropTailQueue<Packet>::Enqueue(packet);
}

bool
MarkingQueue::Mark(const Ptr<Packet>& packet) const
{
    // PointToPointNetDevice has put its PPP header before the IP header already.
    PppHeader ppp;
    packet->RemoveHeader(ppp);
    Ipv4Header ip;
    packet->RemoveHeader(ip);
    const bool isCapable = ip.GetEcn() != Ipv4Header::ECN_NotECT;
    if (isCapable)
    {
        ip.SetEcn(Ipv4Header::ECN_CE);
    }
    packet->AddHeader(ip);
    packet->AddHeader(ppp);
    return isCapable;
}

} // namespace cosim
