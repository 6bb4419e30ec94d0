/*
 * SPDX-License-Identifier: GPL-2.0-only
 */

#include "support/radix-queue.h"
#include "support/unit-test.h"

#include <map>
#include <random>
#include <vector>

namespace cosim
{

namespace
{

class RadixQueueTest : public UnitTest<RadixQueueTest>
{
  public:
    using UnitTest::UnitTest;

    void AgreesWithMap()
    {
        std::mt19937_64 random(1);
        for (const int width : {0, 1, 4, 20, 50})
        { // with narrow keys, many are equal; with wide keys, there are many buckets
            RadixQueue<uint32_t> queue;
            std::multimap<uint64_t, uint32_t> model; // keeps equal keys in the order of insertion
            uint64_t now = 0;
            for (uint32_t i = 0; i < 5000; ++i)
            {
                if (model.empty() || random() % 8 < (i < 2500 ? 5 : 3))
                {
                    const uint64_t key = now + (random() & ((uint64_t{1} << width) - 1));
                    queue.Push(key, i);
                    model.emplace(key, i);
                }
                else
                {
                    now = model.begin()->first;
                    NS_TEST_ASSERT_MSG_EQ(queue.GetFirstKey(), now, "width " << width);
                    NS_TEST_ASSERT_MSG_EQ(queue.Pop(), model.begin()->second, "width " << width);
                    model.erase(model.begin());
                }
            }
        }
    }

    void KeepsTheOrderOfEqualKeys()
    {
        RadixQueue<uint32_t> queue;
        queue.Push(5, 0);
        queue.Push(9, 2);
        queue.Push(5, 1);
        NS_TEST_ASSERT_MSG_EQ(queue.Pop(), 0, "the first of those with key 5");
        queue.Push(5, 10); // to the bucket that is being popped
        queue.Push(9, 3);  // its key now differs from the last popped key in another bit
        std::vector<uint32_t> order;
        while (queue.GetFirstKey() != RadixQueue<uint32_t>::NEVER)
        {
            order.push_back(queue.Pop());
        }
        NS_TEST_ASSERT_MSG_EQ(Join(order), "1 10 2 3", "the order in which they went in");
    }

    void AnnouncesItemsThatComeCloser()
    {
        RadixQueue<uint32_t> queue;
        for (const uint32_t key : {5, 4, 6, 7})
        {
            queue.Push(key, key);
        }
        std::string closer;
        const auto approach = [&](uint32_t item, std::size_t before) {
            closer += std::to_string(item) + "<" + std::to_string(before) + " ";
        };
        for (uint32_t key = 4; key < 8; ++key)
        {
            NS_TEST_ASSERT_MSG_EQ(queue.Pop(approach), key, "by key");
        }
        // All have bit 2, and differ from 0 in no higher one; 6 and 7 also differ from 4 in bit 1.
        NS_TEST_ASSERT_MSG_EQ(closer, "5<4 4<4 6<4 7<4 5<1 6<2 7<2 7<1 ", "calls");
    }

    void AnnouncesItemsOfTheSameKey()
    {
        constexpr uint32_t ITEMS = 20;
        RadixQueue<uint32_t> queue;
        for (uint32_t item = 0; item < ITEMS; ++item)
        {
            queue.Push(0, item);
        }
        std::string closer;
        for (uint32_t item = 0; item < ITEMS; ++item)
        {
            const auto approach = [&](uint32_t other, std::size_t before) {
                NS_TEST_ASSERT_MSG_EQ(other, item + before, "so many leave before it");
                closer += std::to_string(other) + " ";
            };
            NS_TEST_ASSERT_MSG_EQ(queue.Pop(approach), item, "in order");
        }
        NS_TEST_ASSERT_MSG_EQ(closer,
                              "16 6 17 7 18 8 19 9 10 11 12 13 14 15 16 17 18 19 ",
                              "those that are 16 and 6 items away");
    }

    void TakesTheLargestKeys()
    {
        constexpr uint64_t largest = (uint64_t{1} << 63) - 1;
        RadixQueue<uint32_t> queue;
        NS_TEST_ASSERT_MSG_EQ(queue.GetFirstKey(), queue.NEVER, "empty");
        queue.Push(largest, 2);
        queue.Push(0, 0);
        queue.Push(uint64_t{1} << 62, 1);
        for (uint32_t i = 0; i < 3; ++i)
        {
            NS_TEST_ASSERT_MSG_EQ(queue.Pop(), i, "by key");
        }
        queue.Push(largest, 3);
        NS_TEST_ASSERT_MSG_EQ(queue.GetFirstKey(), largest, "the clock stands at the last key");
        queue.Pop();
        NS_TEST_ASSERT_MSG_EQ(queue.GetFirstKey(), queue.NEVER, "empty again");
    }

    void Restarts()
    {
        RadixQueue<uint32_t> queue;
        queue.Push(1000, 0);
        queue.Pop();
        queue.Restart();
        for (const uint32_t key : {7, 3, 900})
        {
            queue.Push(key, key);
        }
        for (const uint32_t key : {3, 7, 900})
        {
            NS_TEST_ASSERT_MSG_EQ(queue.GetFirstKey(), key, "after the restart");
            NS_TEST_ASSERT_MSG_EQ(queue.Pop(), key, "after the restart");
        }
    }
};

const UnitTestSuite<RadixQueueTest> g_radixQueueTests(
    "radix-queue",
    {
        {"items come out as from a multimap", &RadixQueueTest::AgreesWithMap},
        {"equal keys come out in order, also those pushed meanwhile",
         &RadixQueueTest::KeepsTheOrderOfEqualKeys},
        {"items that come closer are announced", &RadixQueueTest::AnnouncesItemsThatComeCloser},
        {"items of the same key are announced", &RadixQueueTest::AnnouncesItemsOfTheSameKey},
        {"keys reach to 2^63 - 1", &RadixQueueTest::TakesTheLargestKeys},
        {"after a restart, small keys are accepted again", &RadixQueueTest::Restarts},
    });

} // namespace

} // namespace cosim
