/*
 * SPDX-License-Identifier: GPL-2.0-only
 */

#include "support/ring-buffer.h"
#include "support/unit-test.h"

#include <deque>
#include <memory>
#include <random>

namespace cosim
{

namespace
{

/// Counts the instances that were constructed in new memory. Assignment constructs none.
struct Counted
{
    Counted()
    {
        ++made;
    }

    static inline int made = 0;
};

class RingBufferTest : public UnitTest<RingBufferTest>
{
  public:
    using UnitTest::UnitTest;

    void AgreesWithDeque()
    {
        std::mt19937 random(1);
        RingBuffer<uint32_t> ring;
        std::deque<uint32_t> model;
        for (uint32_t i = 0; i < 20000; ++i)
        {
            const uint32_t choice = Draw(random, 16);
            if (model.empty() || choice < (i / 2000 % 2 == 0 ? 9U : 6U))
            {
                ring.Push(i);
                model.push_back(i);
            }
            else if (choice < 14)
            {
                NS_TEST_ASSERT_MSG_EQ(ring.Pop(), model.front(), "popped at operation " << i);
                model.pop_front();
            }
            else
            {
                ring.PopBack();
                model.pop_back();
            }
            NS_TEST_ASSERT_MSG_EQ(ring.GetSize(), model.size(), "operation " << i);
            NS_TEST_ASSERT_MSG_EQ(ring.IsEmpty(), model.empty(), "operation " << i);
            if (!model.empty())
            {
                NS_TEST_ASSERT_MSG_EQ(ring.Front(), model.front(), "operation " << i);
                NS_TEST_ASSERT_MSG_EQ(ring.Back(), model.back(), "operation " << i);
                const std::size_t middle = model.size() / 2;
                NS_TEST_ASSERT_MSG_EQ(ring.At(middle), model[middle], "operation " << i);
            }
        }
    }

    void GrowsWhileWrapped()
    {
        for (uint32_t head = 0; head < 8; ++head)
        {
            RingBuffer<uint32_t> ring;
            for (uint32_t i = 0; i < 8 + head; ++i)
            {
                if (i >= 8)
                {
                    ring.Pop();
                }
                ring.Push(i);
            }
            ring.Push(8 + head); // full, with its first item at index `head`
            for (uint32_t i = head; i <= 8 + head; ++i)
            {
                NS_TEST_ASSERT_MSG_EQ(ring.Front(), i, "the first item stood at " << head);
                ring.Pop();
            }
            NS_TEST_ASSERT_MSG_EQ(ring.IsEmpty(), true, "nothing is left over");
        }
    }

    void StartsAgainAfterClear()
    {
        RingBuffer<uint32_t> ring;
        for (uint32_t i = 0; i < 5; ++i)
        {
            ring.Push(i);
        }
        ring.Clear();
        NS_TEST_ASSERT_MSG_EQ(ring.IsEmpty(), true, "all items are removed");
        ring.Push(7);
        NS_TEST_ASSERT_MSG_EQ(ring.Front(), 7, "the new item is the first");
    }

    void KeepsItsMemory()
    {
        RingBuffer<Counted> ring;
        for (int i = 0; i < 16; ++i)
        {
            ring.Push({});
        }
        const int made = Counted::made;
        const Counted item;
        for (int i = 0; i < 10000; ++i)
        {
            ring.Pop();
            ring.Push(item);
        }
        NS_TEST_ASSERT_MSG_EQ(Counted::made, made + 1, "no array is made for what passes through");
    }

    void HoldsWhatOnlyMoves()
    {
        RingBuffer<std::unique_ptr<int>> ring;
        for (int i = 0; i < 100; ++i)
        {
            ring.Push(std::make_unique<int>(i));
        }
        for (int i = 0; i < 100; ++i)
        {
            NS_TEST_ASSERT_MSG_EQ(*ring.Pop(), i, "order");
            ring.Push(std::make_unique<int>(100 + i));
        }
        NS_TEST_ASSERT_MSG_EQ(*ring.Front(), 100, "the rest stands behind");
    }

    void ReleasesWhatLeaves()
    {
        RingBuffer<std::shared_ptr<int>> ring;
        const auto item = std::make_shared<int>(0);
        ring.Push(item);
        ring.Push({});
        ring.Pop();
        NS_TEST_ASSERT_MSG_EQ(item.use_count(), 1, "the queue keeps no copy");
    }
};

const UnitTestSuite<RingBufferTest> g_ringBufferTests(
    "ring-buffer",
    {
        {"items come out at both ends as from a deque", &RingBufferTest::AgreesWithDeque},
        {"growth keeps the order wherever the first item stands",
         &RingBufferTest::GrowsWhileWrapped},
        {"a ring takes items again after it was cleared", &RingBufferTest::StartsAgainAfterClear},
        {"a ring that has its size allocates nothing", &RingBufferTest::KeepsItsMemory},
        {"items need no copy", &RingBufferTest::HoldsWhatOnlyMoves},
        {"an item that leaves is released", &RingBufferTest::ReleasesWhatLeaves},
    });

} // namespace

} // namespace cosim
