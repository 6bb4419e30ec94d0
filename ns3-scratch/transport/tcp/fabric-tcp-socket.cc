/*
 * SPDX-License-Identifier: GPL-2.0-only
 */

#include "transport/tcp/fabric-tcp-socket.h"

#include "ns3/rtt-estimator.h"
#include "ns3/simulator.h"
#include "ns3/tcp-congestion-ops.h"
#include "ns3/tcp-prr-recovery.h"
#include "ns3/tcp-recovery-ops.h"
#include "ns3/tcp-tx-buffer.h"

namespace cosim
{

using namespace ns3;

NS_OBJECT_ENSURE_REGISTERED(FabricTcpSocket);

TypeId
FabricTcpSocket::GetTypeId()
{
    static TypeId tid = TypeId("cosim::FabricTcpSocket")
                            .SetParent<TcpSocketBase>()
                            .SetGroupName("Cosim")
                            .AddConstructor<FabricTcpSocket>();
    return tid;
}

void
FabricTcpSocket::Observe(FlowObserver* observer, FlowId flow)
{
    m_observer = observer;
    m_flow = flow;
    SetCloseCallbacks(MakeNullCallback<void, Ptr<Socket>>(),
                      MakeCallback(&FabricTcpSocket::OnErrorClose, this));
}

void
FabricTcpSocket::Equip(LossRecovery recovery)
{
    SetRtt(CreateObject<RttMeanDeviation>());
    if (recovery == LossRecovery::PRR)
    {
        SetRecoveryAlgorithm(CreateObject<TcpPrrRecovery>());
    }
    else
    {
        SetRecoveryAlgorithm(CreateObject<TcpClassicRecovery>());
    }
}

void
FabricTcpSocket::SetCongestionControl(const ObjectFactory& factory)
{
    SetCongestionControlAlgorithm(factory.Create<TcpCongestionOps>());
}

Time
FabricTcpSocket::CalculateRttSample(const TcpHeader& header, const RttHistory& history)
{
    // Timestamps tick in milliseconds, so the base class may measure with them, but the observer
    // gets the round trip of the simulator's clock.
    const bool isAcknowledged = header.GetAckNumber() >= history.seq + history.count;
    m_sample = isAcknowledged && !history.retx ? Simulator::Now() - history.time : Time();
    return TcpSocketBase::CalculateRttSample(header, history);
}

void
FabricTcpSocket::EstimateRtt(const TcpHeader& header)
{
    m_sample = Time();
    TcpSocketBase::EstimateRtt(header);
    if (m_observer != nullptr && m_sample.IsStrictlyPositive())
    {
        m_observer->OnRttSample(m_flow, m_sample, m_sample);
    }
}

void
FabricTcpSocket::ReTxTimeout()
{
    // Like the base class, ignore an expiry without unacknowledged data.
    if (m_observer != nullptr && m_state == ESTABLISHED && m_txBuffer->Size() > 0)
    {
        m_observer->OnTimeout(m_flow, m_rto);
    }
    TcpSocketBase::ReTxTimeout();
}

void
FabricTcpSocket::ProcessAck(const SequenceNumber32& ackNumber,
                            bool scoreboardUpdated,
                            uint32_t currentDelivered,
                            const SequenceNumber32& oldHeadSequence,
                            bool receivedData)
{
    if (m_tcb->m_congState == TcpSocketState::CA_OPEN)
    { // ns-3.44 counts duplicate ACKs also while it reduces the window because of ECN (CA_CWR), and
      // keeps their number after that, so that an assertion fails at the next duplicate
        m_dupAckCount = 0;
    }
    TcpSocketBase::ProcessAck(ackNumber,
                              scoreboardUpdated,
                              currentDelivered,
                              oldHeadSequence,
                              receivedData);
}

void
FabricTcpSocket::OnErrorClose(Ptr<Socket> /* socket */)
{
    m_observer->OnClosed(m_flow);
}

} // namespace cosim
