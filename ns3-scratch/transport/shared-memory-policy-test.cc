/*
 * SPDX-License-Identifier: GPL-2.0-only
 */

#include "support/unit-test.h"
#include "transport/shared-memory-policy.h"

#include <cstdint>
#include <memory>
#include <vector>

namespace cosim
{

namespace
{

using Verdict = QueuePolicy::Verdict;

constexpr uint64_t MILLION = 1'000'000;
constexpr uint32_t PACKET = 100;

/// A port: its queue, which holds packets until Release.
class Port : public EgressQueue
{
  public:
    void Update() override
    {
        if (isReleased)
        {
            for (; packets > 0; --packets)
            {
                policy->Leave(PACKET);
            }
        }
    }

    /// Offer packets until one is not admitted. @return the number of admitted ones
    uint32_t Fill()
    {
        while (policy->Decide({PACKET, false, true}) == Verdict::ADMIT)
        {
            policy->Enter(PACKET);
            ++packets;
        }
        return packets;
    }

    std::unique_ptr<QueuePolicy> policy;
    uint32_t packets{0};
    bool isReleased{false}; //!< true: the packets have left at the next Update
};

/// @return a link that leaves a node
LinkState
MakeLink(uint32_t source, uint64_t buffer, uint64_t threshold = 0, bool isUp = true)
{
    return {source, 9, MILLION, 0, buffer, threshold, 0, isUp};
}

/// @return the topology of such links, in which queues may have α times the free memory
Topology
MakeTopology(const std::vector<LinkState>& links, uint64_t alphaPpm)
{
    Topology topology;
    topology.sharedMemoryAlphaPpm = alphaPpm;
    for (const LinkState& link : links)
    {
        topology.linkSource.push_back(link.source);
        topology.linkBufferBytes.push_back(link.bufferBytes);
    }
    return topology;
}

class SharedMemoryTest : public UnitTest<SharedMemoryTest>
{
  public:
    using UnitTest::UnitTest;

    /// A single queue stops where q = α · (B - q), which is q = α / (1 + α) · B.
    void LetsAQueueHaveAlphaTimesTheFreeMemory()
    {
        const LinkState link = MakeLink(0, 12'000);
        for (const auto& [alphaPpm, expected] :
             {std::pair{MILLION, 61U}, {2 * MILLION, 81U}, {MILLION / 2, 41U}, {9 * MILLION, 109U}})
        {
            SharedMemoryPolicyMaker maker(MakeTopology({link}, alphaPpm), 0);
            Port port;
            port.policy = maker.Make(link, port);
            const double alpha = static_cast<double>(alphaPpm) / MILLION;
            const double limit = alpha * 12'000 / (1 + alpha);
            const uint32_t packets = port.Fill();
            NS_TEST_ASSERT_MSG_LT(packets * PACKET, limit + PACKET, "below the limit");
            NS_TEST_ASSERT_MSG_GT(packets * PACKET, limit - 2 * PACKET, "close to the limit");
            NS_TEST_ASSERT_MSG_LT(packets, expected, "as computed by hand");
        }
    }

    /// With n full queues, each has α / (1 + n·α) of the memory, and 1 / (1 + n·α) stays free.
    void DividesTheMemoryAmongBusyPorts()
    {
        const std::vector<LinkState> links(3, MakeLink(4, 4000));
        SharedMemoryPolicyMaker maker(MakeTopology(links, MILLION), 0);
        std::vector<Port> ports(3);
        for (Port& port : ports)
        {
            port.policy = maker.Make(links[0], port);
        }
        NS_TEST_ASSERT_MSG_EQ(ports[0].Fill(), 60, "half of 12 kB");
        NS_TEST_ASSERT_MSG_EQ(ports[1].Fill(), 30, "half of the rest");
        NS_TEST_ASSERT_MSG_EQ(ports[2].Fill(), 15, "half of the rest");
        ports[0].isReleased = true;
        NS_TEST_ASSERT_MSG_EQ(ports[2].Fill(), 45, "what is left of the first queue is free");
    }

    void IsOfOneSwitch()
    {
        const std::vector<LinkState> links{MakeLink(4, 4000), MakeLink(5, 4000)};
        SharedMemoryPolicyMaker maker(MakeTopology(links, MILLION), 0);
        std::vector<Port> ports(2);
        for (std::size_t link = 0; link < 2; ++link)
        {
            ports[link].policy = maker.Make(links[link], ports[link]);
        }
        NS_TEST_ASSERT_MSG_EQ(ports[0].Fill(), 20, "half of the memory of node 4");
        NS_TEST_ASSERT_MSG_EQ(ports[1].Fill(), 20, "node 5 has its own");
    }

    void AdmitsWhatWasAdmittedBeforeAndMarks()
    {
        const LinkState link = MakeLink(0, 1000, 300);
        SharedMemoryPolicyMaker maker(MakeTopology({link}, MILLION), 0);
        Port port;
        port.policy = maker.Make(link, port);
        NS_TEST_ASSERT_MSG_EQ(port.Fill(), 5, "half of the memory");
        QueuePolicy& policy = *port.policy;
        const bool isKept = policy.Decide({5000, false, false}) == Verdict::ADMIT;
        NS_TEST_ASSERT_MSG_EQ(isKept, true, "a packet that must not be dropped");
        const bool isMarked = policy.Decide({PACKET, true, false}) == Verdict::MARK;
        NS_TEST_ASSERT_MSG_EQ(isMarked, true, "the queue is above the threshold");
        const bool isDropped = policy.Decide({PACKET, true, true}) == Verdict::DROP;
        NS_TEST_ASSERT_MSG_EQ(isDropped, true, "full is full, also with ECN");
    }

    void LeavesOtherLinksAlone()
    {
        const std::vector<LinkState> links{MakeLink(0, 1000), MakeLink(0, 0)};
        SharedMemoryPolicyMaker maker(MakeTopology(links, MILLION), 0);
        Port port;
        NS_TEST_ASSERT_MSG_EQ((maker.Make(links[1], port) == nullptr), true, "it is unlimited");
        const std::unique_ptr<QueuePolicy> down = maker.Make(MakeLink(0, 1000, 0, false), port);
        const bool isDropped = down->Decide({PACKET, false, true}) == Verdict::DROP;
        NS_TEST_ASSERT_MSG_EQ(isDropped, true, "a link that is down");
    }
};

const UnitTestSuite<SharedMemoryTest> g_sharedMemoryTests(
    "shared-memory-policy",
    {
        {"a queue has α times the free memory",
         &SharedMemoryTest::LetsAQueueHaveAlphaTimesTheFreeMemory},
        {"busy ports divide the memory", &SharedMemoryTest::DividesTheMemoryAmongBusyPorts},
        {"each switch has a memory of its own", &SharedMemoryTest::IsOfOneSwitch},
        {"admitted packets stay, and ECN marks",
         &SharedMemoryTest::AdmitsWhatWasAdmittedBeforeAndMarks},
        {"links without a limit, or down, have none", &SharedMemoryTest::LeavesOtherLinksAlone},
    });

} // namespace

} // namespace cosim
