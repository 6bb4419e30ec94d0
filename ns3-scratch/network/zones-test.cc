/*
 * SPDX-License-Identifier: GPL-2.0-only
 */

#include "network/zones.h"
#include "support/unit-test.h"

#include <vector>

namespace cosim
{

namespace
{

/// @return ranks 0 to 3 on switch 4, with a link each way; paths 0 <-> 1 and 2 <-> 3
Topology
MakeSwitch()
{
    Topology topology;
    topology.ranks = 4;
    topology.nodes = 5;
    topology.linkSource = {0, 1, 2, 3, 4, 4, 4, 4};
    topology.linkTarget = {4, 4, 4, 4, 0, 1, 2, 3};
    topology.pathSource = {2, 0, 1, 3};
    topology.pathTarget = {3, 1, 0, 2};
    topology.pathLinks = {2, 7, 0, 5, 1, 4, 3, 6};
    topology.pathBegin = {0, 2, 4, 6, 8};
    return topology;
}

/// @return the zone of each path
std::vector<uint32_t>
GetZones(const Topology& topology)
{
    const Zones zones(topology, PathIndex(topology));
    std::vector<uint32_t> all;
    for (uint32_t path = 0; path < topology.pathSource.size(); ++path)
    {
        all.push_back(zones.Get(path));
    }
    return all;
}

class ZonesTest : public UnitTest<ZonesTest>
{
  public:
    using UnitTest::UnitTest;

    /// Data in one direction and acknowledgments in the other share links.
    void JoinsBothDirections()
    {
        NS_TEST_ASSERT_MSG_EQ((GetZones(MakeSwitch()) == std::vector<uint32_t>{0, 1, 1, 0}),
                              true,
                              "two pairs");
    }

    /// Another path from rank 0 to rank 3 joins the pairs.
    void JoinsPathsThatShareLinks()
    {
        Topology topology = MakeSwitch();
        topology.pathSource.insert(topology.pathSource.end(), {0, 3});
        topology.pathTarget.insert(topology.pathTarget.end(), {3, 0});
        topology.pathLinks.insert(topology.pathLinks.end(), {0, 7, 3, 4});
        topology.pathBegin.insert(topology.pathBegin.end(), {10, 12});
        NS_TEST_ASSERT_MSG_EQ((GetZones(topology) == std::vector<uint32_t>(6, 0)), true, "all");
    }

    void JoinsPortsThatShareMemory()
    {
        Topology topology = MakeSwitch();
        topology.sharedMemoryAlphaPpm = 1'000'000;
        NS_TEST_ASSERT_MSG_EQ((GetZones(topology) == std::vector<uint32_t>(4, 0)), true, "all");
    }

    void JoinsAllIfPathsCanChange()
    {
        Topology topology = MakeSwitch();
        topology.spread = PathSpread::PACKET;
        NS_TEST_ASSERT_MSG_EQ((GetZones(topology) == std::vector<uint32_t>(4, 0)), true, "all");
    }
};

const UnitTestSuite<ZonesTest> g_zonesTests(
    "zones",
    {
        {"a flow and its acknowledgments are in one", &ZonesTest::JoinsBothDirections},
        {"flows that share a link are in one", &ZonesTest::JoinsPathsThatShareLinks},
        {"ports that share memory are in one", &ZonesTest::JoinsPortsThatShareMemory},
        {"all is in one if paths can change", &ZonesTest::JoinsAllIfPathsCanChange},
    });

} // namespace

} // namespace cosim
