/*
 * SPDX-License-Identifier: GPL-2.0-only
 */

#include "clock/simulator-session.h"
#include "fabrics/express/express-datapath.h"
#include "fabrics/packet/packet-fabric.h"
#include "support/unit-test.h"
#include "transport/drop-tail-buffer.h"

#include "ns3/simulator.h"

#include <algorithm>
#include <cstdint>
#include <deque>
#include <map>
#include <memory>
#include <numeric>
#include <vector>

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
    uint32_t GetHandshakeBytes(FlowId /* flow */) const override
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
    }

    PacketCounts GetSent() const override
    {
        return m_sent;
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
        m_sent.Add(payload, payload);
        auto* const packet = new Packet{};
        packet->flow = flow;
        packet->wireBytes = packet->payloadBytes = payload;
        m_carrier->Carry(packet);
    }

    PacketCarrier* m_carrier{nullptr};
    FlowObserver* m_observer{nullptr};
    std::deque<Sender> m_senders;
    std::deque<Receiver> m_receivers;
    PacketCounts m_sent;
};

/// A buffer that holds a number of packets, of any size, of each link by which they come.
class IngressBuffer final : public SwitchBuffer
{
  public:
    /// @param most number of packets of a link
    explicit IngressBuffer(uint32_t most)
        : m_most(most)
    {
    }

    uint32_t AddPort(EgressQueue& queue) override
    {
        m_queues.push_back(&queue);
        return static_cast<uint32_t>(m_queues.size() - 1);
    }

    bool SetLink(uint32_t /* port */, const LinkState& /* link */) override
    {
        return true;
    }

    Verdict Enter(uint32_t /* port */, const Passage& packet, bool /* isDroppable */) override
    {
        for (EgressQueue* queue : m_queues)
        {
            queue->Update();
        }
        uint32_t& packets = m_packets[packet.ingress];
        if (packets == m_most)
        {
            return Verdict::DROP;
        }
        ++packets;
        return Verdict::ADMIT;
    }

    bool Leave(uint32_t /* port */, const Passage& packet) override
    {
        --m_packets[packet.ingress];
        return false;
    }

  private:
    const uint32_t m_most;
    std::vector<EgressQueue*> m_queues;
    std::map<uint32_t, uint32_t> m_packets; //!< by ingress link
};

// End of what docs/extending.md shows.

/// @return buffers of which that of one node is an IngressBuffer
SwitchBuffers
MakeBuffers(uint32_t nodes, uint32_t guarded, uint32_t most)
{
    SwitchBuffers buffers;
    for (uint32_t node = 0; node < nodes; ++node)
    {
        buffers.push_back(std::make_unique<DropTailBuffer>(BufferRules{}));
    }
    if (most > 0)
    {
        buffers[guarded] = std::make_unique<IngressBuffer>(most);
    }
    return buffers;
}

/// @return ranks 0, 1 and 2 on switch 3, with a slow link from the switch to rank 2
Topology
MakeStar()
{
    Topology topology;
    topology.ranks = 3;
    topology.nodes = 4;
    topology.dimensions = {"scale_up", "scale_out"};
    topology.linkSource = {0, 1, 3, 3, 3, 2};
    topology.linkTarget = {3, 3, 2, 0, 1, 3};
    topology.linkRateBps = std::vector<uint64_t>(6, 1'000'000'000);
    topology.linkRateBps[2] = 1'000'000;
    topology.linkLatencyPs = std::vector<uint64_t>(6, LATENCY_PS);
    topology.linkBufferBytes = topology.linkEcnThresholdBytes = std::vector<uint64_t>(6, 0);
    topology.linkDimension = std::vector<uint32_t>(6, 1);
    topology.pathSource = {0, 1, 2, 2};
    topology.pathTarget = {2, 2, 0, 1};
    topology.pathLinks = {0, 2, 1, 2, 5, 3, 5, 4};
    topology.pathBegin = {0, 2, 4, 6, 8};
    return topology;
}

/// @return pairs of ranks (2i and 2i + 1) with a link each way
Topology
MakePairs(uint32_t pairs)
{
    const uint32_t ranks = 2 * pairs;
    Topology topology;
    topology.ranks = topology.nodes = ranks;
    topology.dimensions = {"scale_up", "scale_out"};
    for (uint32_t rank = 0; rank < ranks; ++rank)
    {
        topology.linkSource.push_back(rank);
        topology.linkTarget.push_back(rank ^ 1);
    }
    topology.linkRateBps = std::vector<uint64_t>(ranks, 1'000'000'000);
    topology.linkLatencyPs = std::vector<uint64_t>(ranks, LATENCY_PS);
    topology.linkBufferBytes = topology.linkEcnThresholdBytes = std::vector<uint64_t>(ranks, 0);
    topology.linkDimension = std::vector<uint32_t>(ranks, 1);
    topology.pathSource = topology.pathLinks = topology.linkSource;
    topology.pathTarget = topology.linkTarget;
    topology.pathBegin.resize(ranks + 1);
    std::iota(topology.pathBegin.begin(), topology.pathBegin.end(), 0);
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
    void AsksAnyBuffer()
    {
        const Outcome outcome = Send(10, 3);
        NS_TEST_ASSERT_MSG_EQ(outcome.arrivedPs, -1, "a part of the message is missing");
        NS_TEST_ASSERT_MSG_EQ(outcome.statistics.drops, 6, "drops");
        NS_TEST_ASSERT_MSG_EQ(outcome.deliveredBytes, 4 * PAYLOAD, "delivered");
    }

    /// Ten packets of each of two ranks meet: one is in transmission, and three of each wait.
    void TellsBuffersWherePacketsComeFrom()
    {
        const SimulatorSession session(1);
        const Topology topology = MakeStar();
        const Settings settings;
        const std::unique_ptr<PacketFabric> fabric = Make(topology, settings, 3, 3);
        fabric->Start();
        for (const Rank rank : {0, 1})
        {
            fabric->SimSend(rank, 2, uint64_t{10} * PAYLOAD, 1, 0, {});
        }
        Simulator::Run();
        NS_TEST_ASSERT_MSG_EQ(fabric->GetStatistics().drops, 20 - 1 - 2 * 3, "drops");
        NS_TEST_ASSERT_MSG_EQ(fabric->GetDeliveredBytes(), (1 + 2 * 3) * PAYLOAD, "delivered");
    }

    /// Three pairs of ranks do the same, the last one first.
    void HandsOverInOrderOfZones()
    {
        const SimulatorSession session(1);
        const Topology topology = MakePairs(3);
        const Settings settings;
        const std::unique_ptr<PacketFabric> fabric = Make(topology, settings, 0, 0);
        fabric->Start();
        std::vector<Rank> arrived;
        for (const Rank rank : {4, 0, 2})
        {
            fabric->SimRecv(rank, rank + 1, PAYLOAD, 1, [&, rank] { arrived.push_back(rank); });
            fabric->SimSend(rank, rank + 1, PAYLOAD, 1, 0, {});
        }
        Simulator::Run();
        NS_TEST_ASSERT_MSG_EQ((arrived == std::vector<Rank>{0, 2, 4}), true, "order of zones");
    }

    /// The first of two events sends, and the second finds that nothing has been sent yet.
    void SendsAtTheEndOfThePicosecond()
    {
        const SimulatorSession session(1);
        const Topology topology = MakePairs(1);
        const Settings settings;
        const std::unique_ptr<PacketFabric> fabric = Make(topology, settings, 0, 0);
        fabric->Start();
        Simulator::ScheduleNow([&] { fabric->SimSend(0, 1, PAYLOAD, 1, 0, {}); });
        uint64_t before = 1;
        Simulator::ScheduleNow([&] { before = fabric->GetSentPackets(); });
        Simulator::Run();
        NS_TEST_ASSERT_MSG_EQ(before, 0, "packets at the second event");
        NS_TEST_ASSERT_MSG_EQ(fabric->GetSentPackets(), 1, "packets after the picosecond");
    }

    /// Circuits pause flows, and datagrams cannot pause.
    void RefusesCircuitsIfFlowsCannotPause()
    {
        const SimulatorSession session(1);
        Topology topology = MakePairs(1);
        topology.reconfiguration.intervalPs = 1000;
        const std::string refusal = GetRefusal([&] { Make(topology, Settings(), 0, 0); });
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
                                              uint32_t guarded,
                                              uint32_t most)
    {
        return std::make_unique<PacketFabric>(
            topology,
            settings,
            [&](const DatapathSetup& setup, DatapathClient& client) {
                return std::make_unique<ExpressDatapath>(
                    setup,
                    client,
                    std::make_unique<Datagrams>(),
                    MakeBuffers(topology.nodes, guarded, most));
            });
    }

    /// @return what happens to a message of some packets
    static Outcome Send(uint32_t packets, uint32_t most)
    {
        const SimulatorSession session(1);
        const Topology topology = MakePairs(1);
        const Settings settings;
        const std::unique_ptr<PacketFabric> fabric = Make(topology, settings, 0, most);
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
        {"any buffer is asked", &ExpressDatapathTest::AsksAnyBuffer},
        {"buffers hear where packets come from",
         &ExpressDatapathTest::TellsBuffersWherePacketsComeFrom},
        {"messages of a picosecond are handed over in the order of zones",
         &ExpressDatapathTest::HandsOverInOrderOfZones},
        {"what is sent enters at the end of the picosecond",
         &ExpressDatapathTest::SendsAtTheEndOfThePicosecond},
        {"circuits need flows that can pause",
         &ExpressDatapathTest::RefusesCircuitsIfFlowsCannotPause},
    });

} // namespace

} // namespace cosim
