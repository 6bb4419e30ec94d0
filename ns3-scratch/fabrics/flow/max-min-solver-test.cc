/*
 * SPDX-License-Identifier: GPL-2.0-only
 */

#include "fabrics/flow/max-min-solver.h"
#include "support/unit-test.h"

#include <algorithm>
#include <random>
#include <set>
#include <vector>

namespace cosim
{

namespace
{

/// Links and flows, with the solver of their rates.
struct Network
{
    std::vector<double> capacities;
    std::vector<std::vector<uint32_t>> paths; //!< per flow: its links

    /// @return a solver without active flows
    MaxMinSolver MakeSolver() const
    {
        MaxMinSolver solver(paths.size());
        for (const double capacity : capacities)
        {
            solver.AddLink(capacity);
        }
        SetPaths(solver);
        return solver;
    }

    /// Set the links of all flows.
    void SetPaths(MaxMinSolver& solver) const
    {
        for (uint32_t flow = 0; flow < paths.size(); ++flow)
        {
            solver.SetLinks(flow, paths[flow]);
        }
    }

    /// @return a random network. Its links have few different capacities, so that ties occur.
    static Network MakeRandom(std::mt19937& random)
    {
        Network network;
        const uint32_t links = 2 + Draw(random, 12);
        for (uint32_t i = 0; i < links; ++i)
        {
            network.capacities.push_back(1 + Draw(random, 5));
        }
        for (uint32_t i = 0; i < 30; ++i)
        {
            std::set<uint32_t> path;
            for (uint32_t hops = 1 + Draw(random, 4); hops > 0; --hops)
            {
                path.insert(Draw(random, links));
            }
            network.paths.emplace_back(path.begin(), path.end());
        }
        return network;
    }
};

constexpr double TOLERANCE = 1e-9;

class MaxMinSolverTest : public UnitTest<MaxMinSolverTest>
{
  public:
    using UnitTest::UnitTest;

    void IsFairByDefinition()
    {
        std::mt19937 random(1);
        for (int i = 0; i < 100; ++i)
        {
            const Network network = Network::MakeRandom(random);
            MaxMinSolver solver = network.MakeSolver();
            for (int round = 0; round < 30; ++round)
            {
                for (uint32_t flips = Draw(random, 6); flips > 0; --flips)
                {
                    Flip(solver, Draw(random, network.paths.size()));
                }
                solver.Solve();
                CheckFair(network, solver);
            }
        }
    }

    void IsTheSameFromScratch()
    {
        std::mt19937 random(2);
        for (int i = 0; i < 100; ++i)
        {
            const Network network = Network::MakeRandom(random);
            MaxMinSolver solver = network.MakeSolver();
            std::vector<double> before(network.paths.size());
            for (int round = 0; round < 30; ++round)
            {
                Flip(solver, Draw(random, network.paths.size()));
                const std::vector<uint32_t>& list = solver.Solve();
                const std::set<uint32_t> changed(list.begin(), list.end());
                NS_TEST_ASSERT_MSG_EQ(changed.size(), list.size(), "each once");
                MaxMinSolver scratch = network.MakeSolver();
                for (uint32_t flow = 0; flow < network.paths.size(); ++flow)
                {
                    if (solver.IsActive(flow))
                    {
                        scratch.Start(flow);
                    }
                }
                scratch.Solve();
                for (uint32_t flow = 0; flow < network.paths.size(); ++flow)
                {
                    const double rate = solver.GetRate(flow);
                    NS_TEST_ASSERT_MSG_EQ_TOL(rate,
                                              scratch.GetRate(flow),
                                              TOLERANCE * rate,
                                              "all at once or one after the other");
                    const bool isOther = solver.IsActive(flow) && rate != before[flow];
                    NS_TEST_ASSERT_MSG_EQ(changed.contains(flow), isOther, "it tells who changed");
                    before[flow] = rate;
                }
            }
        }
    }

    void TakesAFlowAloneAsAnyOther()
    {
        std::mt19937 random(3);
        for (int i = 0; i < 200; ++i)
        {
            // There are few flows, so that many are alone. Some rates differ by rounding.
            Network network = Network::MakeRandom(random);
            for (double& capacity : network.capacities)
            {
                capacity = Draw(random, 2) == 0 ? capacity : 0.1 * capacity / 0.3 * 3;
            }
            MaxMinSolver solver = network.MakeSolver();
            MaxMinSolver whole = network.MakeSolver();
            whole.FillEverything();
            for (int round = 0; round < 30; ++round)
            {
                for (uint32_t flips = 1 + Draw(random, 3); flips > 0; --flips)
                {
                    const uint32_t flow = Draw(random, 6);
                    Flip(solver, flow);
                    Flip(whole, flow);
                }
                NS_TEST_ASSERT_MSG_EQ((solver.Solve() == whole.Solve()), true, "the same changed");
                for (uint32_t flow = 0; flow < network.paths.size(); ++flow)
                {
                    NS_TEST_ASSERT_MSG_EQ(solver.GetRate(flow),
                                          whole.GetRate(flow),
                                          "to the last bit");
                }
            }
        }
    }

    void ForgetsLinksThatFlowsHaveLeft()
    {
        std::mt19937 random(4);
        for (int i = 0; i < 100; ++i)
        {
            Network network = Network::MakeRandom(random);
            MaxMinSolver solver = network.MakeSolver();
            for (int round = 0; round < 10; ++round)
            {
                for (double& capacity : network.capacities)
                {
                    capacity = 1 + Draw(random, 5);
                    solver.SetCapacity(static_cast<uint32_t>(&capacity - network.capacities.data()),
                                       capacity);
                }
                std::shuffle(network.paths.begin(), network.paths.end(), random);
                network.SetPaths(solver);
                MaxMinSolver scratch = network.MakeSolver();
                for (uint32_t flow = Draw(random, 5); flow < network.paths.size(); flow += 2)
                {
                    solver.Start(flow);
                    scratch.Start(flow);
                }
                NS_TEST_ASSERT_MSG_EQ((solver.Solve() == scratch.Solve()), true, "the same flows");
                for (uint32_t flow = 0; flow < network.paths.size(); ++flow)
                {
                    NS_TEST_ASSERT_MSG_EQ(solver.GetRate(flow),
                                          scratch.GetRate(flow),
                                          "to the last bit");
                    if (solver.IsActive(flow))
                    {
                        solver.Stop(flow);
                    }
                }
            }
        }
    }

    void LooksOnceAtALinkThatManyFlowsLeave()
    {
        // Link 0 is the bottleneck of 50 flows of its own and of 50 that also cross link 1. Then
        // 150 flows on link 1 slow these 50 down, and each leaves bandwidth on link 0.
        constexpr uint32_t FLOWS = 50;
        Network network{{100, 100}, {}};
        network.paths.insert(network.paths.end(), FLOWS, {0});
        network.paths.insert(network.paths.end(), FLOWS, {0, 1});
        network.paths.insert(network.paths.end(), 3 * FLOWS, {1});
        MaxMinSolver solver = network.MakeSolver();
        for (uint32_t flow = 0; flow < 2 * FLOWS; ++flow)
        {
            solver.Start(flow);
        }
        solver.Solve();
        const uint64_t before = solver.GetLooks();
        for (uint32_t flow = 2 * FLOWS; flow < 5 * FLOWS; ++flow)
        {
            solver.Start(flow);
        }
        solver.Solve();
        CheckFair(network, solver);
        NS_TEST_ASSERT_MSG_EQ_TOL(solver.GetRate(0), 1.5, TOLERANCE, "its flows take the rest");
        // Once for link 0, and a few times for link 1 while it fills; not for each of the 50 flows.
        NS_TEST_ASSERT_MSG_LT(solver.GetLooks() - before, 5, "not once for each flow");
    }

    void SharesALine()
    {
        // Flow 0 crosses all links; flow 1 + i crosses only link i.
        const Network network{{6, 12, 3}, {{0, 1, 2}, {0}, {1}, {2}}};
        MaxMinSolver solver = network.MakeSolver();
        for (uint32_t flow = 0; flow < 4; ++flow)
        {
            solver.Start(flow);
        }
        solver.Solve();
        CheckRates(solver, {1.5, 4.5, 10.5, 1.5});
        solver.Stop(3);
        solver.Solve();
        CheckRates(solver, {3, 3, 9, 0});
        solver.Stop(0);
        solver.Solve();
        CheckRates(solver, {0, 6, 12, 0});
        solver.Stop(1);
        solver.Start(1); // start at the same time as others
        NS_TEST_ASSERT_MSG_EQ(solver.Solve().size(), 1, "who starts anew has a new rate");
        CheckRates(solver, {0, 6, 12, 0});
        NS_TEST_ASSERT_MSG_EQ(solver.Solve().size(), 0, "nothing has changed");
    }

    void KeepsSymmetry()
    {
        // The capacities have no exact double. There are 7 flows, each over 2 of 7 links in a ring.
        Network network{std::vector<double>(7, 0.1), {}};
        for (uint32_t i = 0; i < 7; ++i)
        {
            network.paths.push_back({i, (i + 1) % 7});
        }
        MaxMinSolver solver = network.MakeSolver();
        for (const uint32_t flow : {3, 0, 6, 1, 5, 2, 4})
        {
            solver.Start(flow);
            solver.Solve();
        }
        for (uint32_t flow = 0; flow < 7; ++flow)
        {
            NS_TEST_ASSERT_MSG_EQ(solver.GetRate(flow), solver.GetRate(0), "to the last bit");
        }
        NS_TEST_ASSERT_MSG_EQ_TOL(solver.GetRate(0), 0.05, 1e-12, "half a link");
    }

    void RoundsAlike()
    {
        // In doubles, a third of 0.3 is not 0.1.
        const Network network{{0.3, 0.1}, {{0}, {0}, {0}, {1}}};
        MaxMinSolver solver = network.MakeSolver();
        for (uint32_t flow = 0; flow < 4; ++flow)
        {
            solver.Start(flow);
        }
        solver.Solve();
        NS_TEST_ASSERT_MSG_NE(0.3 / 3, 0.1, "the rounding that this is about");
        NS_TEST_ASSERT_MSG_EQ(solver.GetRate(3), solver.GetRate(0), "to the last bit");
    }

  private:
    static void Flip(MaxMinSolver& solver, uint32_t flow)
    {
        solver.IsActive(flow) ? solver.Stop(flow) : solver.Start(flow);
    }

    void CheckRates(const MaxMinSolver& solver, const std::vector<double>& rates)
    {
        for (uint32_t flow = 0; flow < rates.size(); ++flow)
        {
            NS_TEST_ASSERT_MSG_EQ_TOL(solver.GetRate(flow), rates[flow], 1e-12, "flow " << flow);
        }
    }

    /**
     * Check that no link carries more than its capacity, and that every flow has a full link on
     * which no flow is faster.
     */
    void CheckFair(const Network& network, const MaxMinSolver& solver)
    {
        std::vector<double> load(network.capacities.size());
        std::vector<double> fastest(network.capacities.size());
        for (uint32_t flow = 0; flow < network.paths.size(); ++flow)
        {
            for (const uint32_t link : network.paths[flow])
            {
                load[link] += solver.GetRate(flow);
                fastest[link] = std::max(fastest[link], solver.GetRate(flow));
            }
        }
        for (uint32_t link = 0; link < load.size(); ++link)
        {
            NS_TEST_ASSERT_MSG_LT_OR_EQ(load[link],
                                        network.capacities[link] * (1 + TOLERANCE),
                                        "the load of link " << link);
        }
        for (uint32_t flow = 0; flow < network.paths.size(); ++flow)
        {
            const double rate = solver.GetRate(flow);
            if (!solver.IsActive(flow))
            {
                NS_TEST_ASSERT_MSG_EQ(rate, 0, "an inactive flow");
                continue;
            }
            const std::vector<uint32_t>& path = network.paths[flow];
            const bool hasBottleneck = std::any_of(path.begin(), path.end(), [&](uint32_t link) {
                return load[link] >= network.capacities[link] * (1 - TOLERANCE) &&
                       rate >= fastest[link] * (1 - TOLERANCE);
            });
            NS_TEST_ASSERT_MSG_EQ(hasBottleneck, true, "flow " << flow << " could be faster");
        }
    }
};

const UnitTestSuite<MaxMinSolverTest> g_maxMinSolverTests(
    "max-min-solver",
    {
        {"a link is searched once for all flows that become slower",
         &MaxMinSolverTest::LooksOnceAtALinkThatManyFlowsLeave},
        {"rates are max-min fair by definition", &MaxMinSolverTest::IsFairByDefinition},
        {"a flow that shares no link has the rate that it has when all links are filled",
         &MaxMinSolverTest::TakesAFlowAloneAsAnyOther},
        {"rates do not depend on the past, and changes are told",
         &MaxMinSolverTest::IsTheSameFromScratch},
        {"flows can change their links, and links their capacity",
         &MaxMinSolverTest::ForgetsLinksThatFlowsHaveLeft},
        {"flows share a line of links", &MaxMinSolverTest::SharesALine},
        {"symmetric flows have the same rate", &MaxMinSolverTest::KeepsSymmetry},
        {"rates that differ by rounding alone are the same", &MaxMinSolverTest::RoundsAlike},
    });

} // namespace

} // namespace cosim
