/*
 * SPDX-License-Identifier: GPL-2.0-only
 */

#include "support/unit-test.h"
#include "system/step-order.h"

#include <array>
#include <cstdint>
#include <random>
#include <span>
#include <string>
#include <vector>

namespace cosim
{

namespace
{

/// Steps, and for each the steps that wait for it.
struct Graph
{
    std::vector<std::vector<uint32_t>> after;

    /// @return per step: its place in the order
    std::vector<uint32_t> Order() const
    {
        std::vector<uint32_t> before(after.size());
        for (const std::vector<uint32_t>& steps : after)
        {
            for (const uint32_t step : steps)
            {
                ++before[step];
            }
        }
        return OrderByReadiness(before, [this](uint32_t step, const auto& f) {
            for (const uint32_t next : after[step])
            {
                f(next);
            }
        });
    }
};

class StepOrderTest : public UnitTest<StepOrderTest>
{
  public:
    using UnitTest::UnitTest;

    void PutsRoundsTogether()
    {
        // Two members of three rounds, stored one member after the other: 0 1 2, 3 4 5. A step
        // waits for the step before it and for that of the other member.
        const Graph graph{{{1, 4}, {2, 5}, {}, {4, 1}, {5, 2}, {}}};
        const std::vector<uint32_t> place = graph.Order();
        for (uint32_t step = 0; step < place.size(); ++step)
        {
            NS_TEST_ASSERT_MSG_EQ(place[step] / 2, step % 3, "its round");
        }
        NS_TEST_ASSERT_MSG_EQ(place[0], 0, "the first that is ready");
        NS_TEST_ASSERT_MSG_EQ(place[3], 1, "the second that is ready");
    }

    void IsAPermutationInWhichStepsFollowThoseTheyWaitFor()
    {
        std::mt19937 random(1);
        for (int i = 0; i < 50; ++i)
        {
            const uint32_t steps = 1 + Draw(random, 40);
            Graph graph{std::vector<std::vector<uint32_t>>(steps)};
            for (uint32_t step = 1; step < steps; ++step)
            {
                for (uint32_t edges = Draw(random, 4); edges > 0; --edges)
                { // a step may wait twice for the same one
                    graph.after[Draw(random, step)].push_back(step);
                }
            }
            const std::vector<uint32_t> place = graph.Order();
            std::vector<bool> isTaken(steps);
            for (uint32_t step = 0; step < steps; ++step)
            {
                NS_TEST_ASSERT_MSG_EQ(isTaken[place[step]], false, "each place once");
                isTaken[place[step]] = true;
                for (const uint32_t next : graph.after[step])
                {
                    NS_TEST_ASSERT_MSG_LT(place[step], place[next], "what waits comes later");
                }
            }
        }
    }

    void KeepsStepsThatWaitForEachOther()
    {
        // 1 and 2 wait for each other, and 3 waits for 2; 0 and 4 are free.
        const Graph graph{{{}, {2}, {1, 3}, {}, {}}};
        const std::vector<uint32_t> expected{0, 2, 3, 4, 1};
        NS_TEST_ASSERT_MSG_EQ((graph.Order() == expected), true, "they come last, in order");
    }

    void MovesValues()
    {
        std::array<char, 4> values{'a', 'b', 'c', 'd'};
        MoveTo(std::span<char>(values), {2, 0, 3, 1});
        NS_TEST_ASSERT_MSG_EQ(std::string(values.data(), values.size()), "bdac", "to their places");
    }
};

const UnitTestSuite<StepOrderTest> g_stepOrderTests(
    "step-order",
    {
        {"rounds are next to each other", &StepOrderTest::PutsRoundsTogether},
        {"steps follow those that they wait for",
         &StepOrderTest::IsAPermutationInWhichStepsFollowThoseTheyWaitFor},
        {"steps that wait for each other come last",
         &StepOrderTest::KeepsStepsThatWaitForEachOther},
        {"values move to their places", &StepOrderTest::MovesValues},
    });

} // namespace

} // namespace cosim
