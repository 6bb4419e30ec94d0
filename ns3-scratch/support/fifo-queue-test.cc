/*
 * SPDX-License-Identifier: GPL-2.0-only
 */

#include "support/fifo-queue.h"
#include "support/unit-test.h"

#include <deque>
#include <memory>
#include <random>

namespace cosim
{

namespace
{

/// Counts its instances.
struct Counted
{
    Counted()
    {
        ++alive;
    }

    Counted(const Counted& /* other */)
    {
        ++alive;
    }

    Counted& operator=(const Counted&) = default;

    ~Counted()
    {
        --alive;
    }

    static inline int alive = 0;
};

class FifoQueueTest : public UnitTest<FifoQueueTest>
{
  public:
    using UnitTest::UnitTest;

    void AgreesWithDeque()
    {
        std::mt19937 random(1);
        FifoQueue<uint32_t> queue;
        std::deque<uint32_t> model;
        for (uint32_t i = 0; i < 20000; ++i)
        {
            // Alternate between growth and draining, so that the queue is sometimes empty and
            // sometimes long.
            if (model.empty() || Draw(random, 8) < (i / 2000 % 2 == 0 ? 5U : 3U))
            {
                queue.Push(i);
                model.push_back(i);
            }
            else
            {
                NS_TEST_ASSERT_MSG_EQ(queue.Front(), model.front(), "front at operation " << i);
                NS_TEST_ASSERT_MSG_EQ(queue.Pop(), model.front(), "popped at operation " << i);
                model.pop_front();
            }
            NS_TEST_ASSERT_MSG_EQ(queue.IsEmpty(), model.empty(), "operation " << i);
        }
    }

    void DropsWhatIsSpent()
    {
        FifoQueue<Counted> queue;
        queue.Push({});
        for (int i = 0; i < 10000; ++i)
        { // the queue is never empty
            queue.Push({});
            queue.Pop();
            NS_TEST_ASSERT_MSG_LT(Counted::alive, 100, "items held for 2 at most in the queue");
        }
    }

    void HoldsWhatOnlyMoves()
    {
        FifoQueue<std::unique_ptr<int>> queue;
        for (int i = 0; i < 100; ++i)
        {
            queue.Push(std::make_unique<int>(i));
        }
        for (int i = 0; i < 100; ++i)
        {
            NS_TEST_ASSERT_MSG_EQ(*queue.Pop(), i, "order");
            queue.Push(std::make_unique<int>(100 + i));
        }
        NS_TEST_ASSERT_MSG_EQ(*queue.Front(), 100, "the rest stands behind");
    }
};

const UnitTestSuite<FifoQueueTest> g_fifoQueueTests(
    "fifo-queue",
    {
        {"items come out as from a deque", &FifoQueueTest::AgreesWithDeque},
        {"a queue that is never empty does not grow", &FifoQueueTest::DropsWhatIsSpent},
        {"items need no copy", &FifoQueueTest::HoldsWhatOnlyMoves},
    });

} // namespace

} // namespace cosim
