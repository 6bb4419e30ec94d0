/*
 * SPDX-License-Identifier: GPL-2.0-only
 */

#include "support/unit-test.h"
#include "system/chunk-queue.h"

#include <string>
#include <vector>

namespace cosim
{

namespace
{

class ChunkQueueTest : public UnitTest<ChunkQueueTest>
{
  public:
    using UnitTest::UnitTest;

    void OrdersWhatWaits()
    {
        for (const Scheduling scheduling : {Scheduling::LIFO, Scheduling::FIFO})
        {
            ChunkQueue queue(8, scheduling);
            queue.Add(7, 2, 1, 0);
            queue.Add(3, 2, 1, 1);
            queue.Add(5, 1, 0, 2); // a priority class that starts first
            queue.Wait(7, 0, 2, 0, 10);
            queue.Wait(3, 1, 1, 0, 20);
            queue.Wait(3, 0, 1, 1, 21); // a later phase of a lower chunk
            queue.Wait(5, 0, 1, 0, 30);
            const std::string expected =
                scheduling == Scheduling::LIFO ? "5.0 3.0 3.1 7.0 7.1" : "5.0 7.0 7.1 3.0 3.1";
            NS_TEST_ASSERT_MSG_EQ(Join(TakeAll(queue)), expected, "class, issue, chunk, phase");
            NS_TEST_ASSERT_MSG_EQ(queue.GetTaken(), 5, "each has a slot");
        }
    }

    void PrefersWhatHasData()
    {
        ChunkQueue queue(8, Scheduling::LIFO);
        queue.NoteData(7, 2, 10); // before the collective is issued
        queue.Add(7, 4, 1, 0);
        queue.Add(3, 2, 1, 1);
        queue.Add(5, 1, 0, 2); // a priority class that starts first
        queue.Wait(3, 0, 2, 0, 20);
        queue.Wait(5, 0, 1, 0, 30);
        queue.NoteData(7, 0, 11); // a later phase, which the chunk has not reached
        queue.Wait(7, 0, 4, 0, 10);
        queue.NoteData(7, 1, 10);
        queue.NoteData(7, 1, 10); // the second message changes nothing
        queue.NoteData(3, 1, 20);
        NS_TEST_ASSERT_MSG_EQ(Join(TakeAll(queue)),
                              "5.0 3.1 7.1 7.2 3.0 7.0 7.3",
                              "class, data, issue, chunk");
        queue.Wait(7, 3, 1, 1, 11);
        queue.Wait(7, 0, 1, 1, 11);
        NS_TEST_ASSERT_MSG_EQ(Join(TakeAll(queue)), "7.0", "data came before the phase");
    }

    void KeepsTheLastSlotForTheOldest()
    {
        ChunkQueue queue(2, Scheduling::LIFO);
        queue.Add(0, 2, 1, 0);
        queue.Add(1, 3, 1, 1);
        queue.Wait(1, 0, 3, 0, 0);
        NS_TEST_ASSERT_MSG_EQ(Join(TakeAll(queue)), "1.0", "collective 0 is not here yet");
        queue.Wait(0, 1, 1, 0, 0);
        NS_TEST_ASSERT_MSG_EQ(Join(TakeAll(queue)), "", "chunk 0 is older than chunk 1");
        queue.Wait(0, 0, 1, 0, 0);
        NS_TEST_ASSERT_MSG_EQ(Join(TakeAll(queue)), "0.0", "the oldest chunk");
        queue.Leave(1, 0, false);
        NS_TEST_ASSERT_MSG_EQ(Join(TakeAll(queue)), "1.1", "the oldest chunk has a slot");
        queue.Leave(0, 0, true);
        NS_TEST_ASSERT_MSG_EQ(Join(TakeAll(queue)), "", "the oldest chunk comes back");
        queue.Wait(0, 0, 1, 2, 0);
        NS_TEST_ASSERT_MSG_EQ(Join(TakeAll(queue)), "0.0", "it is back");
        queue.Leave(0, 0, false);
        NS_TEST_ASSERT_MSG_EQ(Join(TakeAll(queue)), "0.1", "now chunk 1 is the oldest");
        queue.Leave(0, 1, false);
        NS_TEST_ASSERT_MSG_EQ(Join(TakeAll(queue)), "1.2", "now collective 1 is the oldest");
        NS_TEST_ASSERT_MSG_EQ(queue.IsWaiting(), false, "all have started");
    }

    void NamesItsCollectives()
    {
        ChunkQueue queue(1, Scheduling::FIFO);
        queue.Add(4, 1, 1, 0);
        queue.Add(2, 1, 1, 1);
        queue.Add(6, 1, 1, 2);
        queue.Wait(4, 0, 1, 0, 0);
        queue.Wait(2, 0, 1, 0, 0);
        TakeAll(queue);
        NS_TEST_ASSERT_MSG_EQ(queue.IsWaiting(), true, "collective 2 waits");
        NS_TEST_ASSERT_MSG_EQ((queue.GetCollectives() == std::set<uint32_t>{2, 4}),
                              true,
                              "collective 6 has not reached the queue");
    }

  private:
    /// @return what takes slots now, each as collective.chunk
    static std::vector<std::string> TakeAll(ChunkQueue& queue)
    {
        std::vector<std::string> names;
        while (const auto next = queue.TakeNext())
        {
            names.push_back(std::to_string(next->collective) + "." + std::to_string(next->chunk));
        }
        return names;
    }
};

const UnitTestSuite<ChunkQueueTest> g_chunkQueueTests(
    "chunk-queue",
    {
        {"what waits starts by class, issue (LIFO or FIFO), chunk and phase",
         &ChunkQueueTest::OrdersWhatWaits},
        {"chunks with data start before those without", &ChunkQueueTest::PrefersWhatHasData},
        {"the last free slot is kept for the oldest chunk",
         &ChunkQueueTest::KeepsTheLastSlotForTheOldest},
        {"it names the collectives that wait or have a slot", &ChunkQueueTest::NamesItsCollectives},
    });

} // namespace

} // namespace cosim
