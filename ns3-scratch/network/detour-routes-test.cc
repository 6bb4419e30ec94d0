/*
 * SPDX-License-Identifier: GPL-2.0-only
 */

#include "network/detour-routes.h"
#include "support/unit-test.h"

#include <cstdint>
#include <random>
#include <set>
#include <span>
#include <utility>
#include <vector>

namespace cosim
{

namespace
{

using Broken = DetourRoutes::Broken;

/// @return nodes without links; the first ones are ranks
Topology
MakeNodes(uint32_t ranks, uint32_t nodes)
{
    Topology topology;
    topology.ranks = ranks;
    topology.nodes = nodes;
    topology.dimensions = {"scale_up", "scale_out"};
    topology.pathBegin = {0};
    return topology;
}

/// Add a link, with the next id.
void
AddLink(Topology& topology, uint32_t source, uint32_t target, uint32_t dimension = 1)
{
    topology.linkSource.push_back(source);
    topology.linkTarget.push_back(target);
    topology.linkRateBps.push_back(1'000'000'000);
    topology.linkLatencyPs.push_back(1000);
    topology.linkBufferBytes.push_back(0);
    topology.linkEcnThresholdBytes.push_back(0);
    topology.linkDimension.push_back(dimension);
}

void
AddPath(Topology& topology, uint32_t source, uint32_t target, const std::vector<uint32_t>& links)
{
    topology.pathSource.push_back(source);
    topology.pathTarget.push_back(target);
    topology.pathLinks.insert(topology.pathLinks.end(), links.begin(), links.end());
    topology.pathBegin.push_back(static_cast<uint32_t>(topology.pathLinks.size()));
}

/**
 * Rank 0 on switch 2, rank 1 on switch 3, and switches 4 and 5 between these: links 0, 1 … 5 lead
 * from rank 0 to rank 1, and link i + 6 is the reverse of link i.
 */
Topology
MakeTwoSpines()
{
    Topology topology = MakeNodes(2, 6);
    const std::vector<std::pair<uint32_t, uint32_t>> links =
        {{0, 2}, {2, 4}, {2, 5}, {4, 3}, {5, 3}, {3, 1}};
    for (const auto& [source, target] : links)
    {
        AddLink(topology, source, target);
    }
    for (const auto& [source, target] : links)
    {
        AddLink(topology, target, source);
    }
    AddPath(topology, 0, 1, {0, 1, 3, 5});
    AddPath(topology, 1, 0, {11, 9, 7, 6});
    return topology;
}

/// Routes, and the links that they are over.
struct Network
{
    Network(const Topology& topology, Broken broken)
        : links(topology),
          routes(topology, links, broken)
    {
    }

    /// Let links fail or come back.
    void Set(const std::vector<uint32_t>& changed, bool isUp)
    {
        std::vector<LinkUpdate> updates;
        for (const uint32_t link : changed)
        {
            LinkState state = links.Get(link);
            state.isUp = isUp;
            updates.push_back({link, state});
        }
        routes.Apply(updates);
    }

    LiveLinks links;
    DetourRoutes routes;
};

/// @return the fewest links from a rank to another, by relaxing every link as often as there are
/// nodes; UINT32_MAX if there is no path
uint32_t
CountHops(const Topology& topology, const LiveLinks& links, uint32_t source, uint32_t target)
{
    std::vector<uint32_t> hops(topology.nodes, UINT32_MAX);
    hops[source] = 0;
    for (uint32_t round = 0; round < topology.nodes; ++round)
    {
        for (uint32_t link = 0; link < links.GetCount(); ++link)
        {
            const LinkState& state = links.Get(link);
            const bool mayLeave =
                state.source == source || state.source >= topology.ranks || topology.ranksForward;
            if (state.isUp && mayLeave && hops[state.source] != UINT32_MAX)
            {
                hops[state.target] = std::min(hops[state.target], hops[state.source] + 1);
            }
        }
    }
    return hops[target];
}

class DetourRoutesTest : public UnitTest<DetourRoutesTest>
{
  public:
    using UnitTest::UnitTest;

    void FollowAFailureAndARepair()
    {
        const Topology topology = MakeTwoSpines();
        Network network(topology, Broken::STAYS);
        network.Set({1, 7}, false);
        NS_TEST_ASSERT_MSG_EQ(Join(network.routes.GetPath(0)), "0 1 3 5", "before Reroute");
        NS_TEST_ASSERT_MSG_EQ(Join(network.routes.GetBrokenPaths()), "0 1", "both use switch 4");
        NS_TEST_ASSERT_MSG_EQ(network.routes.Reroute(), 2, "both paths change");
        NS_TEST_ASSERT_MSG_EQ(Join(network.routes.GetPath(0)), "0 2 4 5", "over switch 5");
        NS_TEST_ASSERT_MSG_EQ(Join(network.links.GetPath(1)), "11 10 8 6", "the fabric's, too");
        NS_TEST_ASSERT_MSG_EQ(network.routes.GetBrokenPaths().size(), 0, "none");
        network.Set({1, 7}, true);
        NS_TEST_ASSERT_MSG_EQ(Join(network.routes.GetPath(0)), "0 2 4 5", "before Reroute");
        NS_TEST_ASSERT_MSG_EQ(network.routes.Reroute(), 2, "both paths return");
        NS_TEST_ASSERT_MSG_EQ(Join(network.routes.GetPath(0)), "0 1 3 5", "as in the stream");
        NS_TEST_ASSERT_MSG_EQ(network.routes.Reroute(), 0, "nothing is left to change");
    }

    void StandStillOrStay()
    {
        const Topology topology = MakeTwoSpines();
        Network still(topology, Broken::STANDS_STILL);
        still.Set({1}, false);
        NS_TEST_ASSERT_MSG_EQ(still.links.GetPath(0).size(), 0, "no links at once");
        NS_TEST_ASSERT_MSG_EQ(Join(still.links.GetPath(1)), "11 9 7 6", "the other way is whole");
        still.Set({1}, true);
        NS_TEST_ASSERT_MSG_EQ(Join(still.links.GetPath(0)), "0 1 3 5", "back before Reroute");
        for (const Broken broken : {Broken::STANDS_STILL, Broken::STAYS})
        {
            Network cut(topology, broken);
            cut.Set({0}, false);
            NS_TEST_ASSERT_MSG_EQ(cut.routes.Reroute(), 0, "there is no other way");
            NS_TEST_ASSERT_MSG_EQ(Join(cut.routes.GetBrokenPaths()), "0", "one of two");
            const std::string expected = broken == Broken::STAYS ? "0 1 3 5" : "";
            NS_TEST_ASSERT_MSG_EQ(Join(cut.routes.GetPath(0)), expected, "as it is told");
            NS_TEST_ASSERT_MSG_EQ(cut.routes.FindAlternatives(0, 8).size(), 0, "there is none");
        }
    }

    void LeadThroughRanksOnlyIfTheseForward()
    {
        for (const bool forward : {false, true})
        {
            Topology topology = MakeNodes(3, 3);
            topology.ranksForward = forward;
            for (const auto& [source, target] : {std::pair{0, 1}, {0, 2}, {2, 1}})
            {
                AddLink(topology, source, target);
            }
            AddPath(topology, 0, 1, {0});
            Network network(topology, Broken::STANDS_STILL);
            network.Set({0}, false);
            NS_TEST_ASSERT_MSG_EQ(network.routes.Reroute(), (forward ? 1 : 0), "over rank 2");
            const std::string expected = forward ? "1 2" : "";
            NS_TEST_ASSERT_MSG_EQ(Join(network.routes.GetPath(0)), expected, "over rank 2");
        }
    }

    void PreferLinksInsideServers()
    {
        // From rank 0 to rank 1 over switch 2 or over switch 3, and one link of the latter is
        // scale-up.
        Topology topology = MakeNodes(2, 4);
        AddLink(topology, 0, 2);
        AddLink(topology, 2, 1);
        AddLink(topology, 0, 3, 0);
        AddLink(topology, 3, 1);
        AddLink(topology, 0, 1);
        AddPath(topology, 0, 1, {4});
        Network network(topology, Broken::STAYS);
        network.Set({4}, false);
        network.routes.Reroute();
        NS_TEST_ASSERT_MSG_EQ(Join(network.routes.GetPath(0)), "2 3", "with the scale-up link");
        NS_TEST_ASSERT_MSG_EQ(network.routes.FindAlternatives(0, 8).size(), 1, "the only shortest");
    }

    void FindAllAlternatives()
    {
        Topology topology = MakeTwoSpines();
        AddLink(topology, 2, 4); // link 12, parallel to link 1
        Network network(topology, Broken::STAYS);
        const auto count = [&network](uint32_t most) {
            std::set<std::vector<uint32_t>> different;
            for (const std::span<const uint32_t> path : network.routes.FindAlternatives(0, most))
            {
                different.emplace(path.begin(), path.end());
            }
            return different.size();
        };
        NS_TEST_ASSERT_MSG_EQ(count(8), 3, "two over switch 4, and one over switch 5");
        NS_TEST_ASSERT_MSG_EQ(count(2), 2, "not more than asked for");
        network.Set({1}, false);
        NS_TEST_ASSERT_MSG_EQ(count(8), 2, "over links that are up");
    }

    /// Four stages of two switches each: 2^4 paths, whose choices are independent.
    void FindAlternativesThatBranchOften()
    {
        constexpr uint32_t stages = 4;
        Topology topology = MakeNodes(2, 2 + 2 * stages);
        for (uint32_t stage = 0; stage <= stages; ++stage)
        {
            const uint32_t before = 2 * stage;
            for (uint32_t source = before; source < before + 2; ++source)
            {
                for (uint32_t target = before + 2; target < before + 4; ++target)
                {
                    const bool isLast = stage == stages;
                    if ((stage > 0 || source == 0) && (!isLast || target == before + 2))
                    {
                        AddLink(topology, source, isLast ? 1 : target);
                    }
                }
            }
        }
        AddPath(topology, 0, 1, {0, 2, 6, 10, 14});
        Network network(topology, Broken::STAYS);
        const auto found = network.routes.FindAlternatives(0, 64);
        std::set<std::vector<uint32_t>> different;
        for (const std::span<const uint32_t> path : found)
        {
            different.emplace(path.begin(), path.end());
        }
        NS_TEST_ASSERT_MSG_EQ(different.size(), 16, "all");
        NS_TEST_ASSERT_MSG_EQ(found.size(), 16, "each once");
    }

    void AreShortestPathsOfRandomNetworks()
    {
        std::mt19937 random(7);
        for (int round = 0; round < 200; ++round)
        {
            const uint32_t ranks = 2 + Draw(random, 4);
            Topology topology = MakeNodes(ranks, ranks + Draw(random, 5));
            topology.ranksForward = Draw(random, 2) == 0;
            AddLink(topology, 0, 1);
            for (uint32_t link = Draw(random, 24); link > 0; --link)
            {
                const uint32_t source = Draw(random, topology.nodes);
                const uint32_t step = 1 + Draw(random, topology.nodes - 1);
                AddLink(topology, source, (source + step) % topology.nodes);
            }
            AddPath(topology, 0, 1, {0});
            Network network(topology, Broken::STANDS_STILL);
            std::vector<uint32_t> down{0};
            for (uint32_t link = 1; link < network.links.GetCount(); ++link)
            {
                if (Draw(random, 4) == 0)
                {
                    down.push_back(link);
                }
            }
            network.Set(down, false);
            network.routes.Reroute();
            const std::span<const uint32_t> path = network.routes.GetPath(0);
            const uint32_t hops = CountHops(topology, network.links, 0, 1);
            NS_TEST_ASSERT_MSG_EQ(path.size(), (hops == UINT32_MAX ? 0 : hops), "shortest");
            uint32_t at = 0;
            for (const uint32_t link : path)
            {
                NS_TEST_ASSERT_MSG_EQ(network.links.Get(link).source, at, "connected");
                NS_TEST_ASSERT_MSG_EQ(network.links.Get(link).isUp, true, "whole");
                at = network.links.Get(link).target;
            }
            NS_TEST_ASSERT_MSG_EQ(at, (path.empty() ? 0 : 1), "to the target");
        }
    }
};

const UnitTestSuite<DetourRoutesTest> g_detourRoutesTests(
    "detour-routes",
    {
        {"paths follow a failure and a repair", &DetourRoutesTest::FollowAFailureAndARepair},
        {"a broken path stands still, or stays", &DetourRoutesTest::StandStillOrStay},
        {"ranks forward only if they may", &DetourRoutesTest::LeadThroughRanksOnlyIfTheseForward},
        {"of equally many links, those inside servers",
         &DetourRoutesTest::PreferLinksInsideServers},
        {"alternatives are all shortest paths", &DetourRoutesTest::FindAllAlternatives},
        {"alternatives branch everywhere", &DetourRoutesTest::FindAlternativesThatBranchOften},
        {"detours are shortest paths", &DetourRoutesTest::AreShortestPathsOfRandomNetworks},
    });

} // namespace

} // namespace cosim
