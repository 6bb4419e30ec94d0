/*
 * SPDX-License-Identifier: GPL-2.0-only
 */

#include "clock/causal-queue.h"
#include "support/unit-test.h"

#include <cstdint>
#include <random>
#include <set>
#include <tuple>

namespace cosim
{

namespace
{

class CausalQueueTest : public UnitTest<CausalQueueTest>
{
  public:
    using UnitTest::UnitTest;

    void AgreesWithASet()
    {
        for (uint32_t seed = 1; seed <= 20; ++seed)
        {
            Compare(seed, seed % 2 == 0 ? 10 : uint32_t{1} << 30);
        }
    }

  private:
    using Key = std::tuple<int64_t, EventOrigin, uint32_t>;

    /// Compare with a sorted set over random operations, whose delays are smaller than a limit.
    void Compare(uint32_t seed, uint32_t delays)
    {
        std::mt19937 random(seed);
        CausalQueue queue;
        std::set<Key> model;
        int64_t now = 0;
        for (uint32_t uid = 1; uid <= 3000; ++uid)
        {
            const int64_t time = now + Draw(random, delays);
            const EventOrigin origin{Draw(random, 3), Draw(random, 3), uid};
            queue.Push(time, origin, nullptr, 3 + uid, uint32_t{0});
            model.emplace(time, origin, uid);
            if (Draw(random, 8) == 0)
            { // remove an event from the middle
                auto removed = model.begin();
                std::advance(removed, Draw(random, static_cast<uint32_t>(model.size())));
                NS_TEST_ASSERT_MSG_EQ(
                    queue.Remove(std::get<0>(*removed), 3 + std::get<2>(*removed)),
                    true,
                    "it is in the queue");
                model.erase(removed);
            }
            while (!model.empty() && Draw(random, 2) == 0)
            {
                const CausalQueue::Item& item = queue.GetNext();
                NS_TEST_ASSERT_MSG_EQ(item.GetUid(),
                                      3 + std::get<2>(*model.begin()),
                                      "seed " << seed);
                now = item.timePs;
                queue.Pop();
                model.erase(model.begin());
            }
            NS_TEST_ASSERT_MSG_EQ(queue.IsEmpty(), model.empty(), "seed " << seed);
        }
        NS_TEST_ASSERT_MSG_EQ(queue.Remove(now + 1, 5000), false, "this event was never pushed");
    }
};

const UnitTestSuite<CausalQueueTest> g_causalQueueTests(
    "causal-queue",
    {
        {"events leave by time and origin, as from a sorted set", &CausalQueueTest::AgreesWithASet},
    });

} // namespace

} // namespace cosim
