/*
 * SPDX-License-Identifier: GPL-2.0-only
 */

#include "support/unit-test.h"
#include "system/step-states.h"

#include <cstdint>
#include <vector>

namespace cosim
{

namespace
{

class StepStatesTest : public UnitTest<StepStatesTest>
{
  public:
    using UnitTest::UnitTest;

    /// Steps that fill several pages, with different counters.
    std::vector<uint32_t> MakeCounters() const
    {
        std::vector<uint32_t> pending(2 * StepStates::PAGE + 3);
        for (uint32_t step = 0; step < pending.size(); ++step)
        {
            pending[step] = step % 7;
        }
        return pending;
    }

    void CountsAsAnArrayDoes()
    {
        const std::vector<uint32_t> initial = MakeCounters();
        StepStates::Spare spare;
        StepStates states;
        for (int run = 0; run < 2; ++run)
        {
            std::vector<uint32_t> expected = initial;
            states.Begin(initial.data(), static_cast<uint32_t>(initial.size()));
            NS_TEST_ASSERT_MSG_EQ(states.GetSize(), initial.size(), "all steps");
            for (uint32_t turn = 0; turn < 7; ++turn)
            {
                for (uint32_t i = 0; i < expected.size(); ++i)
                {
                    const uint32_t step = i * 5 % static_cast<uint32_t>(expected.size());
                    NS_TEST_ASSERT_MSG_EQ(states.GetPending(step), expected[step], "the counter");
                    if (initial[step] == turn)
                    {
                        states.Finish(step, spare);
                    }
                    else if (initial[step] > turn)
                    {
                        --expected[step];
                        StepStates::State& state = states.Get(step, spare);
                        NS_TEST_ASSERT_MSG_EQ(state.bundle,
                                              (turn == 0 ? StepStates::NONE : step),
                                              "the bundle is kept");
                        state.bundle = step;
                        --state.pending;
                    }
                }
            }
            NS_TEST_ASSERT_MSG_EQ(spare.size(), 2, "whole pages give their memory back");
        }
    }

    void NeedsMemoryForActivePages()
    {
        const std::vector<uint32_t> initial(100 * StepStates::PAGE, 1);
        StepStates::Spare spare;
        StepStates states;
        states.Begin(initial.data(), static_cast<uint32_t>(initial.size()));
        for (uint32_t step = 0; step < initial.size(); ++step)
        {
            --states.Get(step, spare).pending;
            states.Finish(step, spare);
        }
        NS_TEST_ASSERT_MSG_EQ(spare.size(), 1, "one page has served all steps");
        NS_TEST_ASSERT_MSG_EQ(states.GetPending(0), 0, "a step that is done waits for nothing");
    }

    void CountsEachTurn()
    {
        // 3 of 4 turns are in use, so a page of ids has less steps that can be done.
        const std::vector<uint32_t> initial(2 * StepStates::PAGE / 4, 1);
        StepStates::Spare spare;
        StepStates states;
        states.Begin(initial.data(), static_cast<uint32_t>(initial.size()), 2, 3);
        NS_TEST_ASSERT_MSG_EQ(states.GetSize(), 2 * StepStates::PAGE, "ids of all turns");
        for (uint32_t id = 0; id < states.GetSize(); ++id)
        {
            if (id % 4 != 3)
            {
                NS_TEST_ASSERT_MSG_EQ(states.GetPending(id), 1, "the counter of its step");
                --states.Get(id, spare).pending;
                states.Finish(id, spare);
            }
        }
        NS_TEST_ASSERT_MSG_EQ(spare.size(), 1, "both pages are done, and share their memory");
        NS_TEST_ASSERT_MSG_EQ(states.GetPending(0), 0, "a step that is done waits for nothing");
    }

    void ForgetsAPartThatDidNotEnd()
    {
        const std::vector<uint32_t> initial{2, 2};
        StepStates::Spare spare;
        StepStates states;
        states.Begin(initial.data(), 2);
        states.Get(0, spare) = {1, 7};
        states.Begin(initial.data(), 2);
        NS_TEST_ASSERT_MSG_EQ(states.GetPending(0), 2, "the counter of the new part");
        NS_TEST_ASSERT_MSG_EQ(states.Get(0, spare).bundle, StepStates::NONE, "no bundle yet");
    }
};

const UnitTestSuite<StepStatesTest> g_stepStatesTests(
    "step-states",
    {
        {"states are those of one array", &StepStatesTest::CountsAsAnArrayDoes},
        {"pages that are done serve other steps", &StepStatesTest::NeedsMemoryForActivePages},
        {"each turn of a step has a state", &StepStatesTest::CountsEachTurn},
        {"a new part starts anew", &StepStatesTest::ForgetsAPartThatDidNotEnd},
    });

} // namespace

} // namespace cosim
