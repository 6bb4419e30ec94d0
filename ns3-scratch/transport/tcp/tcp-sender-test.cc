/*
 * SPDX-License-Identifier: GPL-2.0-only
 */

#include "clock/simulator-session.h"
#include "stream/stream.h"
#include "support/unit-test.h"
#include "transport/tcp/express-receiver.h"
#include "transport/tcp/tcp-defaults.h"
#include "transport/tcp/tcp-sender.h"

#include "ns3/simulator.h"
#include "ns3/tcp-congestion-ops.h"

#include <cstdint>
#include <set>
#include <utility>

namespace cosim
{

namespace
{

using namespace ns3;

/// @return settings with which a lost packet costs little time
TcpSettings
MakeSettings()
{
    TcpSettings settings;
    settings.minRtoPs = 1'000'000'000;
    settings.initialRtoPs = 1'000'000'000;
    settings.clockGranularityPs = 1'000'000;
    settings.delayedAckTimeoutPs = 1'000'000'000;
    return settings;
}

/// One flow over a line with a constant delay, on which some data packets are lost or late.
class Flow : private TcpSender::SocketMaker, private PacketCarrier, private FlowObserver
{
  public:
    /// @param lost the data packets to lose, counted from 0 in the order in which they are sent
    /// @param late the data packets that take four times as long, counted in the same way
    explicit Flow(const std::set<uint32_t>& lost, const std::set<uint32_t>& late = {})
        : m_lost(lost),
          m_late(late),
          m_receiverConfig(m_settings, CausalSimulator::Get()),
          m_prototype(MakePrototype(m_settings)),
          m_config(m_settings, *m_prototype, *CreateObject<TcpNewReno>(), CausalSimulator::Get()),
          m_receiver(m_receiverConfig, 0, HANDSHAKE),
          m_sender(m_config, 0, m_prototype->MakeStartState(HANDSHAKE), HANDSHAKE.start)
    {
        m_config.carrier = m_receiverConfig.carrier = this;
        m_config.segments = m_receiverConfig.segments = &m_segments;
        m_config.observer = m_receiverConfig.observer = this;
        m_config.sockets = this;
    }

    /// @param bytes number of bytes to send, until all of them are delivered
    void Send(uint64_t bytes)
    {
        m_sender.Submit(bytes);
        Simulator::Run();
    }

    uint32_t made{0};          //!< number of sockets
    uint64_t delivered{0};     //!< [bytes]
    uint64_t acked{0};         //!< [bytes]
    uint32_t retransmitted{0}; //!< packets
    uint32_t repeated{0};      //!< packets

  private:
    static constexpr uint64_t DELAY_PS = 10'000'000;
    inline static const Handshake HANDSHAKE{Time(), TimeStep(DELAY_PS), TimeStep(2 * DELAY_PS)};

    static Ptr<ExpressTcpSocket> MakePrototype(const TcpSettings& settings)
    {
        SetTcpDefaults(settings);
        Ptr<ExpressTcpSocket> socket = CreateObject<ExpressTcpSocket>();
        socket->Equip(LossRecovery::PRR);
        return socket;
    }

    Ptr<ExpressTcpSocket> TakeSocket() override
    {
        if (m_idle)
        {
            return std::exchange(m_idle, nullptr);
        }
        ++made;
        return CopyObject(m_prototype);
    }

    void ReturnSocket(const Ptr<ExpressTcpSocket>& socket) override
    {
        m_idle = socket;
    }

    Congestion MakeCongestion() override
    {
        return m_prototype->MakeCongestion(CreateObject<TcpNewReno>());
    }

    void Carry(Packet* packet) override
    {
        auto* segment = static_cast<Segment*>(packet);
        const uint32_t number = segment->toSender ? UINT32_MAX : m_sent++;
        if (m_lost.contains(number))
        {
            m_segments.Return(segment);
            return;
        }
        const uint64_t delay = m_late.contains(number) ? 4 * DELAY_PS : DELAY_PS;
        Simulator::Schedule(TimeStep(delay), [this, segment] {
            if (segment->toSender)
            {
                m_sender.Receive(*segment);
            }
            else
            {
                m_receiver.Receive(*segment);
            }
            m_segments.Return(segment);
        });
    }

    void OnDelivered(FlowId /* flow */, uint64_t bytes) override
    {
        delivered += bytes;
    }

    void OnAcked(FlowId /* flow */, uint64_t bytes) override
    {
        acked += bytes;
    }

    void OnRetransmitted(FlowId /* flow */, uint32_t /* payloadBytes */) override
    {
        ++retransmitted;
    }

    void OnRepeated(FlowId /* flow */) override
    {
        ++repeated;
    }

    void OnRttSample(FlowId /* flow */, Time /* rtt */, Time /* oldest */) override
    {
    }

    void OnTimeout(FlowId /* flow */, Time /* waited */) override
    {
    }

    void OnClosed(FlowId /* flow */) override
    {
    }

    const SimulatorSession m_session{1};
    const TcpSettings m_settings{MakeSettings()};
    const std::set<uint32_t> m_lost;
    const std::set<uint32_t> m_late;
    uint32_t m_sent{0}; //!< data packets
    SegmentPool m_segments;
    ExpressReceiver::Config m_receiverConfig;
    const Ptr<ExpressTcpSocket> m_prototype;
    Ptr<ExpressTcpSocket> m_idle; //!< the socket that was returned, or null
    TcpSender::Config m_config;
    ExpressReceiver m_receiver;
    TcpSender m_sender;
};

class TcpSenderTest : public UnitTest<TcpSenderTest>
{
  public:
    using UnitTest::UnitTest;

    void NeedsNoSocketWithoutLoss()
    {
        Flow flow({});
        flow.Send(1'000'000);
        flow.Send(1);
        NS_TEST_ASSERT_MSG_EQ(flow.delivered, 1'000'001, "all data");
        NS_TEST_ASSERT_MSG_EQ(flow.acked, 1'000'001, "all data");
        NS_TEST_ASSERT_MSG_EQ(flow.made, 0, "every ACK is as predicted");
    }

    void MakesOneSocketHoweverOftenItLosesPackets()
    {
        Flow flow({20, 150, 151, 300});
        for (uint64_t sent = 200'000; sent <= 1'000'000; sent += 200'000)
        {
            flow.Send(200'000);
            NS_TEST_ASSERT_MSG_EQ(flow.delivered, sent, "all data");
            NS_TEST_ASSERT_MSG_EQ(flow.acked, sent, "all data");
        }
        NS_TEST_ASSERT_MSG_EQ(flow.retransmitted, 4, "each lost packet is sent again, once");
        NS_TEST_ASSERT_MSG_EQ(flow.made, 1, "the socket is used again");
        NS_TEST_ASSERT_MSG_EQ(flow.repeated, 0, "the receiver needed all of them");
    }

    void TakesALatePacketForALostOne()
    {
        Flow flow({}, {20});
        flow.Send(200'000);
        NS_TEST_ASSERT_MSG_EQ(flow.delivered, 200'000, "all data");
        NS_TEST_ASSERT_MSG_EQ(flow.retransmitted, 1, "three later packets overtake it");
        NS_TEST_ASSERT_MSG_EQ(flow.repeated, 1, "then it arrives twice");
    }

    void MakesASocketForALostTail()
    {
        Flow flow({0});
        flow.Send(1);
        NS_TEST_ASSERT_MSG_EQ(flow.delivered, 1, "after a timeout");
        NS_TEST_ASSERT_MSG_EQ(flow.retransmitted, 1, "after a timeout");
        NS_TEST_ASSERT_MSG_EQ(flow.made, 1, "the timeout is ns-3's");
    }
};

const UnitTestSuite<TcpSenderTest> g_tcpSenderTests(
    "tcp-sender",
    {
        {"a flow that loses nothing has no socket", &TcpSenderTest::NeedsNoSocketWithoutLoss},
        {"a flow that loses packets has one socket",
         &TcpSenderTest::MakesOneSocketHoweverOftenItLosesPackets},
        {"a late packet is sent again, and arrives twice",
         &TcpSenderTest::TakesALatePacketForALostOne},
        {"a lost last packet is sent again by a socket", &TcpSenderTest::MakesASocketForALostTail},
    });

} // namespace

} // namespace cosim
