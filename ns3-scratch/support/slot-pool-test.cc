/*
 * SPDX-License-Identifier: GPL-2.0-only
 */

#include "support/slot-pool.h"
#include "support/unit-test.h"

#include <algorithm>
#include <array>
#include <random>
#include <set>

namespace cosim
{

namespace
{

class SlotPoolTest : public UnitTest<SlotPoolTest>
{
  public:
    using UnitTest::UnitTest;

    void TakesTheLastReturned()
    {
        SlotPool<int> pool;
        for (uint32_t slot = 0; slot < 3; ++slot)
        {
            NS_TEST_ASSERT_MSG_EQ(pool.Take(), slot, "a new one");
        }
        pool.Return(0);
        pool.Return(2);
        NS_TEST_ASSERT_MSG_EQ(pool.Take(), 2, "returned last");
        NS_TEST_ASSERT_MSG_EQ(pool.Take(), 0, "returned before");
        NS_TEST_ASSERT_MSG_EQ(pool.Take(), 3, "a new one");
    }

    void KeepsContents()
    {
        SlotPool<std::vector<int>> pool;
        pool[pool.Take()].assign(100, 7);
        pool.Return(0);
        NS_TEST_ASSERT_MSG_EQ(pool[pool.Take()].size(), 100, "what it held, and its memory");
    }

    void NeverSharesASlot()
    {
        std::mt19937 random(1);
        SlotPool<int> pool;
        std::set<uint32_t> taken;
        std::size_t most = 0;
        for (int i = 0; i < 10000; ++i)
        {
            if (taken.empty() || Draw(random, 2) == 0)
            {
                NS_TEST_ASSERT_MSG_EQ(taken.insert(pool.Take()).second, true, "not taken twice");
            }
            else
            {
                const auto slot = std::next(taken.begin(), Draw(random, taken.size()));
                pool.Return(*slot);
                taken.erase(slot);
            }
            most = std::max(most, taken.size());
            NS_TEST_ASSERT_MSG_EQ(pool.GetTaken(), taken.size(), "taken");
            NS_TEST_ASSERT_MSG_EQ(pool.GetCount(), most, "as many as ever at once");
        }
    }

    void KeepsReferences()
    {
        SlotPool<int> pool;
        int& first = pool[pool.Take()];
        first = 5;
        for (int i = 0; i < 10000; ++i)
        {
            pool.Take();
        }
        NS_TEST_ASSERT_MSG_EQ(&first, &pool[0], "the same place");
    }

    void KeepsItemsApart()
    {
        // 3000 items of 4 KiB take several huge pages.
        constexpr uint32_t ITEMS = 3000;
        SlotPool<std::array<uint64_t, 512>> pool;
        for (uint32_t i = 0; i < ITEMS; ++i)
        {
            pool[pool.Take()].fill(i);
        }
        for (uint32_t i = 0; i < ITEMS; ++i)
        {
            NS_TEST_ASSERT_MSG_EQ(pool[i].front(), i, "the start of an item");
            NS_TEST_ASSERT_MSG_EQ(pool[i].back(), i, "its end");
        }
    }
};

const UnitTestSuite<SlotPoolTest> g_slotPoolTests(
    "slot-pool",
    {
        {"the slot that was returned last is taken first", &SlotPoolTest::TakesTheLastReturned},
        {"a slot keeps what it holds", &SlotPoolTest::KeepsContents},
        {"no slot is taken twice, and none is wasted", &SlotPoolTest::NeverSharesASlot},
        {"an item stays where it is", &SlotPoolTest::KeepsReferences},
        {"items do not overlap", &SlotPoolTest::KeepsItemsApart},
    });

} // namespace

} // namespace cosim
