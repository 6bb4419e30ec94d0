/*
 * SPDX-License-Identifier: GPL-2.0-only
 */

#include "fabrics/flow/class-solver.h"
#include "support/unit-test.h"

#include <algorithm>
#include <random>
#include <set>
#include <vector>

namespace cosim
{

namespace
{

constexpr double TOLERANCE = 1e-8;

class ClassSolverTest : public UnitTest<ClassSolverTest>
{
  public:
    using UnitTest::UnitTest;

    void IsThatOfOneClassAfterTheOther()
    {
        std::mt19937 random(1);
        for (int i = 0; i < 100; ++i)
        {
            const uint32_t links = 2 + Draw(random, 8);
            std::vector<double> capacities;
            for (uint32_t link = 0; link < links; ++link)
            {
                capacities.push_back(1 + Draw(random, 5));
            }
            std::vector<uint8_t> classes;
            for (uint32_t flow = 0; flow < FLOWS; ++flow)
            {
                classes.push_back(static_cast<uint8_t>(Draw(random, CLASSES)));
            }
            ClassSolver solver(FLOWS, classes);
            for (const double capacity : capacities)
            {
                solver.AddLink(capacity);
            }
            std::vector<std::vector<uint32_t>> paths;
            for (uint32_t flow = 0; flow < FLOWS; ++flow)
            {
                std::set<uint32_t> path;
                for (uint32_t hops = 1 + Draw(random, 4); hops > 0; --hops)
                {
                    path.insert(Draw(random, links));
                }
                paths.emplace_back(path.begin(), path.end());
                solver.SetLinks(flow, paths.back());
            }
            for (int round = 0; round < 40; ++round)
            {
                for (uint32_t flips = 1 + Draw(random, 5); flips > 0; --flips)
                {
                    const uint32_t flow = Draw(random, FLOWS);
                    solver.IsActive(flow) ? solver.Stop(flow) : solver.Start(flow);
                }
                const std::vector<double> before = m_rates;
                const std::vector<uint32_t>& list = solver.Solve();
                const std::set<uint32_t> changed(list.begin(), list.end());
                CheckOneAfterTheOther(solver, classes, capacities, paths);
                for (uint32_t flow = 0; flow < FLOWS; ++flow)
                {
                    const bool isTold = changed.contains(flow) || !solver.IsActive(flow) ||
                                        solver.GetRate(flow) == before[flow];
                    NS_TEST_ASSERT_MSG_EQ(isTold, true, "it tells who changed");
                    m_rates[flow] = solver.GetRate(flow);
                }
            }
            std::ranges::fill(m_rates, 0);
        }
    }

    void LeavesTheRest()
    {
        // Flow 0, of the highest class, crosses link 0 only; link 1 lets flow 1 have less.
        ClassSolver solver(4, {0, 1, 2, 2});
        solver.AddLink(10);
        solver.AddLink(3);
        const std::vector<uint32_t> both{0, 1};
        const std::vector<uint32_t> one{0};
        for (const uint32_t flow : {0U, 2U, 3U})
        {
            solver.SetLinks(flow, one);
        }
        solver.SetLinks(1, both);
        for (const uint32_t flow : {1U, 2U, 3U})
        {
            solver.Start(flow);
        }
        solver.Solve();
        CheckRates(solver, {0, 3, 3.5, 3.5});
        NS_TEST_ASSERT_MSG_EQ(solver.IsShared(0, 2), true, "flow 1 is there");
        NS_TEST_ASSERT_MSG_EQ(solver.IsShared(0, 1), false, "no flow of the class 0 is there");
        solver.Start(0);
        solver.Solve();
        CheckRates(solver, {10, 0, 0, 0});
        solver.Stop(0);
        solver.Stop(2);
        solver.Solve();
        CheckRates(solver, {0, 3, 0, 7});
        solver.Stop(1);
        solver.Solve();
        CheckRates(solver, {0, 0, 0, 10});
        NS_TEST_ASSERT_MSG_EQ(solver.IsShared(0, 2), false, "flow 3 is alone");
    }

  private:
    static constexpr uint32_t FLOWS = 30;
    static constexpr uint32_t CLASSES = 4;

    void CheckRates(const ClassSolver& solver, const std::vector<double>& rates)
    {
        for (uint32_t flow = 0; flow < rates.size(); ++flow)
        {
            NS_TEST_ASSERT_MSG_EQ_TOL(solver.GetRate(flow), rates[flow], 1e-12, "flow " << flow);
        }
    }

    /// Compare rates with those of a new solver for each class, on what the ones before have left.
    void CheckOneAfterTheOther(const ClassSolver& solver,
                               const std::vector<uint8_t>& classes,
                               std::vector<double> left,
                               const std::vector<std::vector<uint32_t>>& paths)
    {
        for (uint8_t trafficClass = 0; trafficClass < CLASSES; ++trafficClass)
        {
            MaxMinSolver fresh(FLOWS);
            for (const double capacity : left)
            {
                fresh.AddLink(std::max(capacity, 1e-12));
            }
            for (uint32_t flow = 0; flow < FLOWS; ++flow)
            {
                fresh.SetLinks(flow, paths[flow]);
                if (classes[flow] == trafficClass && solver.IsActive(flow))
                {
                    fresh.Start(flow);
                }
            }
            fresh.Solve();
            for (uint32_t flow = 0; flow < FLOWS; ++flow)
            {
                if (classes[flow] == trafficClass)
                {
                    const double rate = fresh.GetRate(flow);
                    NS_TEST_ASSERT_MSG_EQ_TOL(solver.GetRate(flow), rate, 3 * TOLERANCE, flow);
                    for (const uint32_t link : paths[flow])
                    {
                        left[link] -= rate;
                    }
                }
            }
        }
    }

    std::vector<double> m_rates = std::vector<double>(FLOWS);
};

const UnitTestSuite<ClassSolverTest> g_classSolverTests(
    "class-solver",
    {
        {"each class shares what higher ones leave",
         &ClassSolverTest::IsThatOfOneClassAfterTheOther},
        {"a class can leave a part, or nothing", &ClassSolverTest::LeavesTheRest},
    });

} // namespace

} // namespace cosim
