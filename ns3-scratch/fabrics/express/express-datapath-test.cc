/*
 * SPDX-License-Identifier: GPL-2.0-only
 */

#include "clock/simulator-session.h"
#include "fabrics/express/express-datapath.h"
#include "fabrics/packet/packet-fabric.h"
#include "support/unit-test.h"

#include "ns3/simulator.h"

#include <algorithm>
#include <cstddef>
#include <cstdint>
#include <deque>
#include <memory>

namespace cosim
{

namespace
{

using ns3::Simulator;

constexpr uint32_t PAYLOAD = 1000;             //!< of a packet [bytes]
constexpr int64_t PACKET_PS = 1000 * 8 * 1000; //!< transmission of a packet at 1 Gb/s [ps]
constexpr int64_t LATENCY_PS = 5'000'000;      //!< of a link [ps]

// docs/extending.md shows these two classes.

/// Sends all data at once. There are no acknowledgments, and what is lost stays lost.
class Datagrams final : public Transport
{
  public:
    uint32_t GetHandshakeBytes() const override
    {
        return 0;
    }

    void Attach(PacketCarrier& carrier, FlowObserver& observer) override
    {
        m_carrier = &carrier;
        m_observer = &observer;
    }

    FlowEnds Connect(FlowId flow, const Handshake& /* handshake */) override
    {
        return {&m_senders.emplace_back(*this, flow), &m_receivers.emplace_back(*this)};
    }

    void Release(Packet* packet) override
    {
        delete packet;
        --m_packets;
    }

    std::size_t CountPackets() const override
    {
        return m_packets;
    }

  private:
    class Sender final : public FlowSender
    {
      public:
        Sender(Datagrams& all, FlowId flow)
            : m_all(all),
              m_flow(flow)
        {
        }

        void Submit(uint64_t bytes) override
        {
            for (; bytes > 0; bytes -= std::min<uint64_t>(bytes, PAYLOAD))
            {
                m_all.Send(m_flow, static_cast<uint32_t>(std::min<uint64_t>(bytes, PAYLOAD)));
            }
        }

        void Receive(const Packet& /* packet */) override
        { // nobody answers
        }

        uint32_t GetWindow() const override
        {
            return UINT32_MAX;
        }

      private:
        Datagrams& m_all;
        const FlowId m_flow;
    };

    class Receiver final : public FlowReceiver
    {
      public:
        explicit Receiver(Datagrams& all)
            : m_all(all)
        {
        }

        void Receive(const Packet& packet) override
        {
            m_all.m_observer->OnDelivered(packet.flow, packet.payloadBytes);
        }

      private:
        Datagrams& m_all;
    };

    void Send(FlowId flow, uint32_t payload)
    {
        ++m_packets;
        m_observer->OnPacketSent(flow, payload, payload, false);
        auto* const packet = new Packet{};
        packet->flow = flow;
        packet->wireBytes = packet->payloadBytes = payload;
        m_carrier->Carry(packet);
    }

    PacketCarrier* m_carrier{nullptr};
    FlowObserver* m_observer{nullptr};
    std::deque<Sender> m_senders;
    std::deque<Receiver> m_receivers;
    std::size_t m_packets{0}; //!< on their way
};

/// A queue that holds a number of packets of any size, beside the one in transmission.
class PacketQueue final : public QueuePolicy
{
  public:
    PacketQueue(EgressQueue& queue, uint32_t most)
        : m_queue(queue),
          m_most(most)
    {
    }

    Verdict Decide(const Arrival& /* arrival */) override
    {
        m_queue.Update();
        return m_packets < m_most ? Verdict::ADMIT : Verdict::DROP;
    }

    void Enter(uint32_t bytes) override
    {
        QueuePolicy::Enter(bytes);
        ++m_packets;
    }

    void Leave(uint32_t bytes) override
    {
        QueuePolicy::Leave(bytes);
        --m_packets;
    }

  private:
    EgressQueue& m_queue;
    const uint32_t m_most;
    uint32_t m_packets{0};
};

// End of what docs/extending.md shows.

/// Gives each link a PacketQueue; 0: without a limit.
class PacketQueues final : public QueuePolicyMaker
{
  public:
    explicit PacketQueues(uint32_t most)
        : m_most(most)
    {
    }

    std::unique_ptr<QueuePolicy> Make(const LinkState& /* link */, EgressQueue& queue) override
    {
        return m_most == 0 ? nullptr : std::make_unique<PacketQueue>(queue, m_most);
    }

  private:
    const uint32_t m_most;
};

/// @return two ranks with a link each way
Topology
MakePair()
{
    Topology topology;
    topology.ranks = topology.nodes = 2;
    topology.dimensions = {"scale_up", "scale_out"};
    topology.linkSource = {0, 1};
    topology.linkTarget = {1, 0};
    topology.linkRateBps = {1'000'000'000, 1'000'000'000};
    topology.linkLatencyPs = {LATENCY_PS, LATENCY_PS};
    topology.linkBufferBytes = topology.linkEcnThresholdBytes = {0, 0};
    topology.linkDimension = {1, 1};
    topology.pathSource = topology.pathLinks = {0, 1};
    topology.pathTarget = {1, 0};
    topology.pathBegin = {0, 1, 2};
    return topology;
}

class ExpressDatapathTest : public UnitTest<ExpressDatapathTest>
{
  public:
    using UnitTest::UnitTest;

    /// Ten packets follow each other: they arrive after ten transmissions and a latency.
    void CarriesAnyTransport()
    {
        const Outcome outcome = Send(10, 0);
        NS_TEST_ASSERT_MSG_EQ(outcome.arrivedPs, 10 * PACKET_PS + LATENCY_PS, "arrival");
        NS_TEST_ASSERT_MSG_EQ(outcome.statistics.drops, 0, "drops");
        NS_TEST_ASSERT_MSG_EQ(outcome.statistics.dataPackets, 10, "packets");
    }

    /// One packet is in transmission and three wait, so six of ten are dropped.
    void AsksAnyQueuePolicy()
    {
        const Outcome outcome = Send(10, 3);
        NS_TEST_ASSERT_MSG_EQ(outcome.arrivedPs, -1, "a part of the message is missing");
        NS_TEST_ASSERT_MSG_EQ(outcome.statistics.drops, 6, "drops");
        NS_TEST_ASSERT_MSG_EQ(outcome.deliveredBytes, 4 * PAYLOAD, "delivered");
    }

    /// Circuits pause flows, and datagrams cannot pause.
    void RefusesCircuitsIfFlowsCannotPause()
    {
        const SimulatorSession session(1);
        Topology topology = MakePair();
        topology.reconfiguration.intervalPs = 1000;
        const std::string refusal = GetRefusal([&] { Make(topology, Settings(), 0); });
        NS_TEST_ASSERT_MSG_EQ(refusal,
                              "topology: circuits that change need a transport whose senders can "
                              "pause",
                              "the reason");
    }

  private:
    struct Outcome
    {
        int64_t arrivedPs{-1}; //!< -1: the message has not arrived
        uint64_t deliveredBytes{0};
        NetworkStatistics statistics;
    };

    static std::unique_ptr<PacketFabric> Make(const Topology& topology,
                                              const Settings& settings,
                                              uint32_t most)
    {
        return std::make_unique<PacketFabric>(
            topology,
            settings,
            [most](const DatapathSetup& setup, DatapathClient& client) {
                return std::make_unique<ExpressDatapath>(setup,
                                                         client,
                                                         std::make_unique<Datagrams>(),
                                                         std::make_unique<PacketQueues>(most));
            });
    }

    /// @return what happens to a message of some packets
    static Outcome Send(uint32_t packets, uint32_t most)
    {
        const SimulatorSession session(1);
        const Topology topology = MakePair();
        const Settings settings;
        const std::unique_ptr<PacketFabric> fabric = Make(topology, settings, most);
        fabric->Start();
        Outcome outcome;
        const uint64_t bytes = uint64_t{packets} * PAYLOAD;
        fabric->SimRecv(0, 1, bytes, 1, [&] {
            outcome.arrivedPs = fabric->SimGetTime().GetTimeStep();
        });
        fabric->SimSend(0, 1, bytes, 1, 0, {});
        Simulator::Run();
        fabric->Finish();
        outcome.deliveredBytes = fabric->GetDeliveredBytes();
        outcome.statistics = fabric->GetStatistics();
        return outcome;
    }
};

const UnitTestSuite<ExpressDatapathTest> g_expressDatapathTests(
    "express-datapath",
    {
        {"any transport is carried", &ExpressDatapathTest::CarriesAnyTransport},
        {"any queue policy is asked", &ExpressDatapathTest::AsksAnyQueuePolicy},
        {"circuits need flows that can pause",
         &ExpressDatapathTest::RefusesCircuitsIfFlowsCannotPause},
    });

} // namespace

} // namespace cosim
