/*
 * SPDX-License-Identifier: GPL-2.0-only
 */

#include "clock/simulator-session.h"
#include "fabrics/express/express-datapath.h"
#include "fabrics/packet/episode-player.h"
#include "fabrics/packet/packet-fabric.h"
#include "support/unit-test.h"
#include "transport/drop-tail-buffer.h"
#include "transport/tcp/tcp-sender.h"
#include "transport/tcp/tcp-transport.h"

#include "ns3/simulator.h"

#include <memory>
#include <utility>
#include <vector>

namespace cosim
{

namespace
{

using namespace ns3;

constexpr int64_t LATENCY_PS = 1'000'000;
constexpr int64_t MS = 1'000'000'000;

/// TCP whose senders can be looked at.
class SeenTcp final : public TcpTransport
{
  public:
    using Senders = std::vector<const TcpSender*>;

    /// @param senders receives the sender of each flow when it connects
    SeenTcp(const TcpSettings& settings, CausalSimulator& clock, Senders& senders)
        : TcpTransport({settings}, {}, clock),
          m_senders(senders)
    {
    }

    FlowEnds Connect(FlowId flow, const Handshake& handshake) override
    {
        const FlowEnds ends = TcpTransport::Connect(flow, handshake);
        m_senders[flow] = static_cast<const TcpSender*>(ends.sender);
        return ends;
    }

  private:
    Senders& m_senders;
};

/// @return two pairs of ranks (0 and 1, 2 and 3) with a link each way
Topology
MakePairs(int64_t latencyPs = LATENCY_PS, uint64_t bufferBytes = 0)
{
    Topology topology;
    topology.ranks = topology.nodes = 4;
    topology.dimensions = {"scale_up", "scale_out"};
    topology.linkSource = topology.pathSource = topology.pathLinks = {0, 1, 2, 3};
    topology.linkTarget = topology.pathTarget = {1, 0, 3, 2};
    topology.linkRateBps.assign(4, 10'000'000'000);
    topology.linkLatencyPs.assign(4, latencyPs);
    topology.linkBufferBytes.assign(4, bufferBytes);
    topology.linkEcnThresholdBytes.assign(4, 0);
    topology.linkDimension.assign(4, 1);
    topology.pathBegin = {0, 1, 2, 3, 4};
    return topology;
}

Settings
MakeSettings(bool timestamps, uint32_t delayedAckSegments)
{
    Settings settings;
    settings.tcp.segmentBytes = 1400; // leaves room for timestamps
    settings.tcp.minRtoPs = 10 * MS;
    settings.tcp.initialRtoPs = 10 * MS;
    settings.tcp.clockGranularityPs = 1'000'000;
    settings.tcp.delayedAckTimeoutPs = 50'000'000;
    settings.tcp.delayedAckSegments = delayedAckSegments;
    settings.tcp.timestamps = timestamps;
    return settings;
}

class ExpressReplayTest : public UnitTest<ExpressReplayTest>
{
  public:
    using UnitTest::UnitTest;

    void TakesFlowsToWherePacketsWouldHaveTakenThem()
    {
        for (const bool timestamps : {false, true})
        {
            for (const uint32_t segments : {1, 2, 3})
            {
                const Settings settings = MakeSettings(timestamps, segments);
                const Run run(settings, {{1, 0, 20'000}, {4, 0, 1}, {11, 2, 20'000}, {14, 2, 1}});
                NS_TEST_ASSERT_MSG_EQ(run.replay.episodes, 4, "two for each pair");
                NS_TEST_ASSERT_MSG_EQ(run.replay.simulated, 2, "those of the first pair");
                ExpectSame(run.states[0], run.states[2]);
            }
        }
    }

    /// What a flow that was played does next is simulated, and the other one is played then.
    void LetsFlowsGoOn()
    {
        for (const bool timestamps : {false, true})
        {
            const Settings settings = MakeSettings(timestamps, 2);
            const Run run(settings,
                          {{1, 0, 20'000}, {11, 2, 20'000}, {22, 2, 5000}, {32, 0, 5000}});
            NS_TEST_ASSERT_MSG_EQ(run.replay.simulated, 2, "one of each pair");
            ExpectSame(run.states[0], run.states[2]);
        }
    }

    /// The flows have measured other round trips before.
    void KeepsWhatEachFlowHasMeasured()
    {
        const std::vector<Message> messages{{1, 0, 20'000},
                                            {11, 2, 7},
                                            {14, 2, 10'000},
                                            {21, 0, 10'000},
                                            {31, 2, 10'000}};
        const Settings settings = MakeSettings(false, 1);
        const Run played(settings, messages);
        const Run simulated(settings, messages, false);
        NS_TEST_ASSERT_MSG_EQ(played.replay.simulated, 3, "the last two are played");
        ExpectSame(played.states[0], simulated.states[0]);
        ExpectSame(played.states[2], simulated.states[2]);
    }

    /// The window of the first message is too small for it, and that of the second one is not.
    void ComparesWindowsThatLimit()
    {
        const Run run(MakeSettings(false, 1),
                      {{1, 0, 100'000}, {2, 0, 100'000}, {3, 0, 100'000}, {4, 0, 100'000}});
        NS_TEST_ASSERT_MSG_EQ(run.replay.simulated, 2, "the others have larger windows");
    }

    /// A round trip longer than the shortest timeout is one that a timer could have ended.
    void PlaysNoSlowRoundTrips()
    {
        Settings settings = MakeSettings(false, 1);
        settings.tcp.minRtoPs = LATENCY_PS;
        const Run run(settings, {{1, 0, 1000}, {2, 0, 1000}, {3, 2, 1000}});
        NS_TEST_ASSERT_MSG_EQ(run.replay.packets, 0, "played packets");
    }

    /// What nobody waited for on the tape is answered as soon as it is acknowledged.
    void ComparesWhatIsAwaited()
    {
        const std::vector<Message> messages{{1, 0, 1000},
                                            {1, 1, 100'000},
                                            {11, 2, 1000, true},
                                            {11, 3, 100'000}};
        const Settings settings = MakeSettings(false, 1);
        const Run played(settings, messages);
        const Run simulated(settings, messages, false);
        NS_TEST_ASSERT_MSG_EQ(simulated.answers.size(), 1, "one is awaited");
        NS_TEST_ASSERT_MSG_EQ((played.answers == simulated.answers), true, "answered when");
    }

    void SimulatesFollowersOfAnEpisodeWithLosses()
    {
        const std::vector<Message> messages{{1, 0, 200'000, true}, {1, 2, 200'000, true}};
        const Settings settings = MakeSettings(false, 1);
        const Topology topology = MakePairs(LATENCY_PS, 6000);
        const Run played(settings, messages, true, topology);
        const Run simulated(settings, messages, false, topology);
        NS_TEST_ASSERT_MSG_EQ(played.replay.takenBack, 1, "the second pair");
        NS_TEST_ASSERT_MSG_GT(simulated.statistics.retransmissions, 0, "packets are lost");
        NS_TEST_ASSERT_MSG_EQ(played.statistics.retransmissions,
                              simulated.statistics.retransmissions,
                              "packets that are lost");
        NS_TEST_ASSERT_MSG_EQ((played.answers == simulated.answers), true, "answered when");
    }

    /// Round trips that are too long for a tape end it, but not the next one.
    void RemembersTheLongestQueueOfAnEpisodeWithoutATape()
    {
        const std::vector<Message> messages{{1, 0, 10'000}, {100, 0, 1000}};
        Settings settings = MakeSettings(false, 1);
        settings.tcp.minRtoPs = settings.tcp.initialRtoPs = 50 * MS;
        const Topology topology = MakePairs(5 * MS);
        const Run played(settings, messages, true, topology);
        const Run simulated(settings, messages, false, topology);
        NS_TEST_ASSERT_MSG_EQ(played.replay.simulated, 2, "both");
        NS_TEST_ASSERT_MSG_GT(simulated.longestQueue, 1000, "packets wait");
        NS_TEST_ASSERT_MSG_EQ(played.longestQueue, simulated.longestQueue, "longest queue");
    }

  private:
    /// A message that is sent at a time to the next rank, or by an odd rank to the one before.
    struct Message
    {
        int64_t atMs;
        Rank rank;
        uint64_t bytes;
        bool isAwaited{false};
    };

    /// What is left of a run.
    struct Run
    {
        Run(const Settings& settings,
            const std::vector<Message>& messages,
            bool isPlayed = true,
            const Topology& topology = MakePairs())
        {
            const SimulatorSession session(1);
            SeenTcp::Senders senders(topology.ranks);
            const auto packets = [&senders](const DatapathSetup& setup, DatapathClient& client) {
                SwitchBuffers buffers;
                for (uint32_t node = 0; node < setup.topology.nodes; ++node)
                {
                    buffers.push_back(std::make_unique<DropTailBuffer>(BufferRules{}));
                }
                return std::make_unique<ExpressDatapath>(
                    setup,
                    client,
                    std::make_unique<SeenTcp>(setup.settings.tcp, setup.clock, senders),
                    std::move(buffers));
            };
            const auto player = [&packets](const DatapathSetup& setup, DatapathClient& client) {
                return std::make_unique<EpisodePlayer>(setup, client, packets);
            };
            PacketFabric fabric(topology,
                                settings,
                                isPlayed ? DatapathMaker(player) : DatapathMaker(packets));
            fabric.Start();
            for (const Message& one : messages)
            {
                Simulator::Schedule(TimeStep(static_cast<uint64_t>(one.atMs * MS)),
                                    [&, one] { Send(fabric, one); });
            }
            Simulator::Run();
            fabric.Finish();
            statistics = fabric.GetStatistics();
            replay = statistics.replay.value_or(Replay());
            longestQueue = fabric.GetLink(0).maxQueueBytes;
            for (const TcpSender* sender : senders)
            {
                states.push_back(sender == nullptr ? SenderState() : sender->GetState());
            }
        }

        void Send(PacketFabric& fabric, const Message& one)
        {
            const Rank target = one.rank ^ 1;
            if (!one.isAwaited)
            {
                fabric.SimPut(one.rank, target, one.bytes, 1, 0);
                return;
            }
            fabric.SimRecv(one.rank, target, one.bytes, 1, {});
            fabric.SimSend(one.rank, target, one.bytes, 1, 0, [this, one] {
                answers.emplace_back(Simulator::Now().GetTimeStep(), one.rank);
            });
        }

        Replay replay;
        NetworkStatistics statistics;
        uint64_t longestQueue{0};                      //!< of the first link
        std::vector<std::pair<int64_t, Rank>> answers; //!< to what is awaited: when, and whose
        std::vector<SenderState> states;               //!< per flow
    };

    /// The times of the two flows differ by whole milliseconds.
    void ExpectSame(const SenderState& a, const SenderState& b)
    {
        NS_TEST_ASSERT_MSG_EQ(a.head, b.head, "acknowledged");
        NS_TEST_ASSERT_MSG_EQ(a.next, b.next, "sent");
        NS_TEST_ASSERT_MSG_EQ(a.window, b.window, "window of the peer");
        NS_TEST_ASSERT_MSG_EQ(a.congestionWindow, b.congestionWindow, "congestion window");
        NS_TEST_ASSERT_MSG_EQ(a.uncounted, b.uncounted, "uncounted bytes");
        NS_TEST_ASSERT_MSG_EQ(a.isAnswered, b.isAnswered, "answered");
        NS_TEST_ASSERT_MSG_EQ(a.rtt.estimatePs, b.rtt.estimatePs, "estimate");
        NS_TEST_ASSERT_MSG_EQ(a.rtt.variationPs, b.rtt.variationPs, "variation");
        NS_TEST_ASSERT_MSG_EQ(a.rtt.latestPs, b.rtt.latestPs, "latest round trip");
        NS_TEST_ASSERT_MSG_EQ(a.rtt.smallestPs, b.rtt.smallestPs, "smallest estimate");
        NS_TEST_ASSERT_MSG_EQ(a.rtt.samples, b.rtt.samples, "round trips");
        NS_TEST_ASSERT_MSG_EQ(a.timeoutPs, b.timeoutPs, "timeout");
    }
};

const UnitTestSuite<ExpressReplayTest> g_expressReplayTests(
    "express-replay",
    {
        {"flows are taken to where packets would have taken them",
         &ExpressReplayTest::TakesFlowsToWherePacketsWouldHaveTakenThem},
        {"flows go on after that", &ExpressReplayTest::LetsFlowsGoOn},
        {"flows keep what they have measured", &ExpressReplayTest::KeepsWhatEachFlowHasMeasured},
        {"windows that limit are compared", &ExpressReplayTest::ComparesWindowsThatLimit},
        {"slow round trips are not played", &ExpressReplayTest::PlaysNoSlowRoundTrips},
        {"what is awaited is compared", &ExpressReplayTest::ComparesWhatIsAwaited},
        {"followers of an episode with losses are simulated",
         &ExpressReplayTest::SimulatesFollowersOfAnEpisodeWithLosses},
        {"the longest queue of an episode without a tape counts",
         &ExpressReplayTest::RemembersTheLongestQueueOfAnEpisodeWithoutATape},
    });

} // namespace

} // namespace cosim
