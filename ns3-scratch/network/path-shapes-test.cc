/*
 * SPDX-License-Identifier: GPL-2.0-only
 */

#include "network/path-shapes.h"
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
    topology.linkRateBps.assign(8, 100);
    topology.linkLatencyPs.assign(8, 10);
    topology.linkBufferBytes.assign(8, 1000);
    topology.linkEcnThresholdBytes.assign(8, 0);
    topology.pathSource = {0, 1, 2, 3};
    topology.pathTarget = {1, 0, 3, 2};
    topology.pathLinks = {0, 5, 1, 4, 2, 7, 3, 6};
    topology.pathBegin = {0, 2, 4, 6, 8};
    return topology;
}

/// @return the shape of each path
std::vector<uint32_t>
GetShapes(const Topology& topology)
{
    const PathIndex paths(topology);
    PathShapes shapes(topology, paths);
    return {shapes.Get(0), shapes.Get(1), shapes.Get(2), shapes.Get(3)};
}

class PathShapesTest : public UnitTest<PathShapesTest>
{
  public:
    using UnitTest::UnitTest;

    void ForgetsNames()
    {
        NS_TEST_ASSERT_MSG_EQ((GetShapes(MakeSwitch()) == std::vector<uint32_t>{0, 0, 0, 0}),
                              true,
                              "all links are alike");
    }

    /// A property of a link on the way of the acknowledgments counts as well.
    void KnowsEachProperty()
    {
        for (const auto property : {&Topology::linkRateBps,
                                    &Topology::linkLatencyPs,
                                    &Topology::linkBufferBytes,
                                    &Topology::linkEcnThresholdBytes})
        {
            Topology topology = MakeSwitch();
            (topology.*property)[7] += 1;
            NS_TEST_ASSERT_MSG_EQ((GetShapes(topology) == std::vector<uint32_t>{0, 0, 1, 2}),
                                  true,
                                  "path 2 uses link 7, and the acknowledgments of path 3");
        }
    }

    void NamesSharedMemory()
    {
        Topology topology = MakeSwitch();
        topology.sharedMemoryAlphaPpm = 1'000'000;
        const PathIndex paths(topology);
        const PathShapes shapes(topology, paths);
        std::vector<uint32_t> parts;
        shapes.GetParts(0, parts);
        NS_TEST_ASSERT_MSG_EQ((parts == std::vector<uint32_t>{0, 8, 5, 12, 1, 9, 4, 12}),
                              true,
                              "each link, and the node at its source");
        NS_TEST_ASSERT_MSG_EQ(shapes.IsLink(7) && !shapes.IsLink(8), true, "nodes follow links");
        NS_TEST_ASSERT_MSG_EQ(shapes.GetPartCount(), 13, "8 links and 5 nodes");
    }
};

const UnitTestSuite<PathShapesTest> g_pathShapesTests(
    "path-shapes",
    {
        {"paths with equal links have one shape", &PathShapesTest::ForgetsNames},
        {"links with another property have another shape", &PathShapesTest::KnowsEachProperty},
        {"the memory that links share is a part", &PathShapesTest::NamesSharedMemory},
    });

} // namespace

} // namespace cosim
