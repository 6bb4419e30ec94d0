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
            states.Begin(initial.data(), StepIds::OfTable(static_cast<uint32_t>(initial.size())));
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
            NS_TEST_ASSERT_MSG_EQ(spare.GetCount(), 2, "memory for whole pages");
            NS_TEST_ASSERT_MSG_EQ(spare.GetTaken(), 0, "they give their memory back");
        }
    }

    void NeedsMemoryForActivePages()
    {
        const std::vector<uint32_t> initial(100 * StepStates::PAGE, 1);
        StepStates::Spare spare;
        StepStates states;
        states.Begin(initial.data(), StepIds::OfTable(static_cast<uint32_t>(initial.size())));
        for (uint32_t step = 0; step < initial.size(); ++step)
        {
            --states.Get(step, spare).pending;
            states.Finish(step, spare);
        }
        NS_TEST_ASSERT_MSG_EQ(spare.GetCount(), 1, "one page has served all steps");
        NS_TEST_ASSERT_MSG_EQ(states.GetPending(0), 0, "a step that is done waits for nothing");
    }

    /// Finish all ids of a part, whose pages then share the memory of some.
    void FinishAll(uint32_t steps, const StepIds& ids, std::size_t shared)
    {
        const std::vector<uint32_t> initial(steps, 1);
        StepStates::Spare spare;
        StepStates states;
        states.Begin(initial.data(), ids);
        uint32_t count = 0;
        for (uint32_t id = 0; id < ids.GetEnd(); ++id)
        {
            NS_TEST_ASSERT_MSG_EQ(ids.CountBelow(id), count, "the number of ids below");
            if (ids.Has(id))
            {
                ++count;
                NS_TEST_ASSERT_MSG_EQ(ids.AtTurn(ids.GetFirst(ids.GetIndex(id)), ids.GetTurn(id)),
                                      id,
                                      "an id is the index and the turn of its step");
                NS_TEST_ASSERT_MSG_EQ(states.GetPending(id), 1, "the counter of its step");
                --states.Get(id, spare).pending;
                states.Finish(id, spare);
                NS_TEST_ASSERT_MSG_EQ(states.GetPending(id), 0, "it is done");
            }
        }
        NS_TEST_ASSERT_MSG_EQ(ids.CountBelow(ids.GetEnd()), count, "all ids");
        NS_TEST_ASSERT_MSG_EQ(spare.GetCount(), shared, "pages that are done share memory");
    }

    void CountsEachTurn()
    {
        // 3 of 4 turns are in use, so a page of ids has less steps that can be done.
        const auto steps = static_cast<uint32_t>(2 * StepStates::PAGE / 4);
        const StepIds ids = StepIds::OfRotation(steps, 3);
        NS_TEST_ASSERT_MSG_EQ(ids.GetEnd(), 2 * StepStates::PAGE, "ids of all turns");
        FinishAll(steps, ids, 1);
    }

    void CountsEachRepetition()
    {
        // 700 of 1024 indices are in use, and the last 200 of these have the first turn only.
        FinishAll(700, StepIds::OfRepetition(700, 500, 3), 1);
        FinishAll(1, StepIds::OfRepetition(1, 1, 4), 0);
        FinishAll(4, StepIds::OfRepetition(4, 0, 2), 0); // less than a page
        FinishAll(0, StepIds::OfRepetition(0, 0, 2), 0);
    }

    void ForgetsAPartThatDidNotEnd()
    {
        const std::vector<uint32_t> initial{2, 2};
        StepStates::Spare spare;
        StepStates states;
        states.Begin(initial.data(), StepIds::OfTable(2));
        states.Get(0, spare) = {1, 7};
        states.Begin(initial.data(), StepIds::OfTable(2));
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
        {"each repetition of a step has a state", &StepStatesTest::CountsEachRepetition},
        {"a new part starts anew", &StepStatesTest::ForgetsAPartThatDidNotEnd},
    });

} // namespace

} // namespace cosim
