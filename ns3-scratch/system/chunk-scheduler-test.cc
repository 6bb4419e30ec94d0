/*
 * SPDX-License-Identifier: GPL-2.0-only
 */

#include "support/unit-test.h"
#include "system/chunk-scheduler.h"

#include <random>
#include <string>
#include <utility>
#include <vector>

namespace cosim
{

namespace
{

/// Records the parts that start.
class Recorder : public ChunkStarter
{
  public:
    void StartPart(const ChunkPart& part) override
    {
        m_started.push_back(part);
    }

    /// @return the parts that started since the last call
    std::vector<ChunkPart> Take()
    {
        return std::exchange(m_started, {});
    }

    /// @return the parts that started since the last call, each as collective.part.chunk
    std::vector<std::string> TakeNames()
    {
        std::vector<std::string> names;
        for (const ChunkPart& part : Take())
        {
            names.push_back(std::to_string(part.collective) + "." + std::to_string(part.part) +
                            "." + std::to_string(part.chunk));
        }
        return names;
    }

  private:
    std::vector<ChunkPart> m_started;
};

/// @return settings with this order
SystemSettings
MakeSettings(Scheduling scheduling, ChunkOrder order = ChunkOrder::INDEX)
{
    SystemSettings settings;
    settings.scheduling = scheduling;
    settings.chunkOrder = order;
    return settings;
}

class ChunkSchedulerTest : public UnitTest<ChunkSchedulerTest>
{
  public:
    using UnitTest::UnitTest;

    void OrdersWhatWaits()
    {
        for (const Scheduling scheduling : {Scheduling::LIFO, Scheduling::FIFO})
        {
            Recorder recorder;
            ChunkScheduler scheduler(2, {1}, MakeSettings(scheduling), recorder);
            const uint32_t lane = scheduler.GetLane(0, {0, 1});
            scheduler.Enqueue(lane, 1, 0, 0, {100, 0, 0}, 1); // takes the slot
            scheduler.Enqueue(lane, 1, 1, 0, {1, 0, 0}, 2);
            scheduler.Enqueue(lane, 1, 2, 0, {2, 0, 0}, 2);
            scheduler.Enqueue(lane, 1, 2, 1, {2, 1, 1}, 1); // a later phase of the same chunk
            scheduler.Enqueue(lane, 0, 0, 0, {0, 0, 0}, 1); // a priority class that starts first
            std::vector<std::string> order = recorder.TakeNames();
            for (int i = 0; i < 7; ++i)
            {
                scheduler.Release(0, 0);
                scheduler.Release(1, 0);
                const std::vector<std::string> next = recorder.TakeNames();
                order.insert(order.end(), next.begin(), next.end());
            }
            const std::string expected = scheduling == Scheduling::LIFO
                                             ? "100.0.0 0.0.0 2.0.0 2.1.1 2.0.1 1.0.0 1.0.1"
                                             : "100.0.0 0.0.0 1.0.0 1.0.1 2.0.0 2.1.1 2.0.1";
            NS_TEST_ASSERT_MSG_EQ(Join(order), expected, "class, issue, chunk, later phase");
        }
    }

    void OrdersByArrival()
    {
        Recorder recorder;
        const auto settings = MakeSettings(Scheduling::LIFO, ChunkOrder::ARRIVAL);
        ChunkScheduler scheduler(2, {1}, settings, recorder);
        const uint32_t lane = scheduler.GetLane(0, {0, 1});
        scheduler.Enqueue(lane, 1, 0, 0, {5, 0, 0}, 3); // chunk 0 takes the slot
        scheduler.Enqueue(lane, 1, 0, 1, {5, 1, 0}, 1); // it comes back after chunks 1 and 2
        for (int i = 0; i < 3; ++i)
        {
            scheduler.Release(0, 0);
            scheduler.Release(1, 0);
        }
        const std::vector<std::string> expected{"5.0.0", "5.0.1", "5.0.2", "5.1.0"};
        NS_TEST_ASSERT_MSG_EQ((recorder.TakeNames() == expected), true, "in the order of arrival");
    }

    void NeedsASlotAtAllRanks()
    {
        Recorder recorder;
        ChunkScheduler scheduler(3, {2, 1}, MakeSettings(Scheduling::FIFO), recorder);
        const uint32_t lane = scheduler.GetLane(0, {2, 0, 1});
        NS_TEST_ASSERT_MSG_EQ(scheduler.GetLane(0, {0, 1, 2}), lane, "a lane is a set of ranks");
        const uint32_t other = scheduler.GetLane(1, {0, 1, 2});
        NS_TEST_ASSERT_MSG_NE(other, lane, "in one dimension");
        scheduler.Enqueue(lane, 0, 0, 0, {0, 0, 0}, 4);
        NS_TEST_ASSERT_MSG_EQ(Join(recorder.TakeNames()), "0.0.0 0.0.1", "two slots");
        scheduler.Enqueue(other, 0, 1, 0, {1, 0, 0}, 2);
        NS_TEST_ASSERT_MSG_EQ(Join(recorder.TakeNames()), "1.0.0", "dimensions are independent");
        scheduler.Release(0, 0);
        scheduler.Release(2, 0);
        NS_TEST_ASSERT_MSG_EQ(Join(recorder.TakeNames()), "", "rank 1 has none yet");
        scheduler.Release(1, 0);
        NS_TEST_ASSERT_MSG_EQ(Join(recorder.TakeNames()), "0.0.2", "now it has");
        NS_TEST_ASSERT_MSG_EQ(scheduler.GetMaxOutstanding(0), 2, "dimension 0");
        NS_TEST_ASSERT_MSG_EQ(scheduler.GetMaxOutstanding(1), 1, "dimension 1");
    }

    void DoesNotStarveLargeGroups()
    {
        Recorder recorder;
        ChunkScheduler scheduler(3, {1}, MakeSettings(Scheduling::FIFO), recorder);
        const uint32_t left = scheduler.GetLane(0, {0, 1});
        const uint32_t all = scheduler.GetLane(0, {0, 1, 2});
        const uint32_t right = scheduler.GetLane(0, {2});
        scheduler.Enqueue(left, 0, 0, 0, {0, 0, 0}, 1);
        scheduler.Enqueue(all, 0, 1, 0, {1, 0, 0}, 1);
        scheduler.Enqueue(right, 0, 2, 0, {2, 0, 0}, 1);
        NS_TEST_ASSERT_MSG_EQ(Join(recorder.TakeNames()), "0.0.0", "rank 2 is kept for all");
        scheduler.Release(0, 0);
        scheduler.Release(1, 0);
        NS_TEST_ASSERT_MSG_EQ(Join(recorder.TakeNames()), "1.0.0", "all");
        for (const Rank rank : {0, 1, 2})
        {
            scheduler.Release(rank, 0);
        }
        NS_TEST_ASSERT_MSG_EQ(Join(recorder.TakeNames()), "2.0.0", "then rank 2 alone");
    }

    void LetsOthersPass()
    {
        Recorder recorder;
        ChunkScheduler scheduler(3, {1}, MakeSettings(Scheduling::FIFO), recorder);
        const uint32_t left = scheduler.GetLane(0, {0, 1});
        const uint32_t right = scheduler.GetLane(0, {1, 2});
        scheduler.Enqueue(left, 0, 0, 0, {0, 0, 0}, 2);
        scheduler.Enqueue(right, 0, 1, 0, {1, 0, 0}, 1);
        recorder.Take();
        scheduler.Release(0, 0);
        NS_TEST_ASSERT_MSG_EQ(Join(recorder.TakeNames()), "", "both need rank 1");
        scheduler.Release(1, 0);
        NS_TEST_ASSERT_MSG_EQ(Join(recorder.TakeNames()), "0.0.1", "the earlier issue");
        scheduler.Release(1, 0);
        NS_TEST_ASSERT_MSG_EQ(Join(recorder.TakeNames()), "1.0.0", "who needs not rank 0");
    }

    void CountsWhatIsTakenInANewLane()
    {
        Recorder recorder;
        ChunkScheduler scheduler(3, {1}, MakeSettings(Scheduling::FIFO), recorder);
        scheduler.Enqueue(scheduler.GetLane(0, {0, 1}), 0, 0, 0, {0, 0, 0}, 1);
        scheduler.Enqueue(scheduler.GetLane(0, {1, 2}), 0, 1, 0, {1, 0, 0}, 2);
        NS_TEST_ASSERT_MSG_EQ(Join(recorder.TakeNames()), "0.0.0", "rank 1 has no slot left");
        scheduler.Release(1, 0);
        NS_TEST_ASSERT_MSG_EQ(Join(recorder.TakeNames()), "1.0.0", "now it has");
    }

    void KeepsItsLimits()
    {
        std::mt19937 random(1);
        for (int i = 0; i < 50; ++i)
        {
            RunAtRandom(random);
        }
    }

  private:
    /// Random groups in two dimensions. In any order, the limits hold and all parts start.
    void RunAtRandom(std::mt19937& random)
    {
        const uint32_t ranks = 2 + Draw(random, 6);
        const std::vector<uint32_t> limits{1, 3};
        Recorder recorder;
        ChunkScheduler scheduler(ranks, limits, MakeSettings(Scheduling::LIFO), recorder);

        struct Group
        {
            uint32_t dimension;
            std::vector<Rank> ranks;
        };

        std::vector<Group> groups;
        std::vector<uint32_t> lanes;
        for (uint32_t i = 0; i < 10; ++i)
        {
            Group group{Draw(random, 2), {}};
            for (Rank rank = 0; rank < ranks; ++rank)
            {
                if (Draw(random, 2) == 0 || (rank == ranks - 1 && group.ranks.empty()))
                {
                    group.ranks.push_back(rank);
                }
            }
            lanes.push_back(scheduler.GetLane(group.dimension, group.ranks));
            groups.push_back(group);
        }

        std::vector<std::vector<uint32_t>> taken(2, std::vector<uint32_t>(ranks));
        std::vector<std::pair<uint32_t, Rank>> held; // slots in use
        const auto settle = [&] {
            for (const ChunkPart& part : recorder.Take())
            {
                const Group& group = groups[part.collective];
                for (const Rank rank : group.ranks)
                {
                    ++taken[group.dimension][rank];
                    held.emplace_back(group.dimension, rank);
                    NS_TEST_ASSERT_MSG_LT_OR_EQ(taken[group.dimension][rank],
                                                limits[group.dimension],
                                                "slots of rank " << rank);
                }
                ++m_started;
            }
        };
        m_started = 0;
        uint32_t chunks = 0;
        for (uint32_t issue = 0; issue < 40 || !held.empty();)
        {
            if (issue < 40 && (held.empty() || Draw(random, 4) == 0))
            {
                const uint32_t group = Draw(random, groups.size());
                const uint32_t count = 1 + Draw(random, 4);
                chunks += count;
                scheduler.Enqueue(lanes[group], Draw(random, 2), issue++, 0, {group, 0, 0}, count);
            }
            else
            {
                const std::size_t i = Draw(random, held.size());
                const auto [dimension, rank] = held[i];
                held[i] = held.back();
                held.pop_back();
                --taken[dimension][rank];
                scheduler.Release(rank, dimension);
            }
            settle();
        }
        NS_TEST_ASSERT_MSG_EQ(m_started, chunks, "every chunk starts once");
    }

    uint32_t m_started{0};
};

const UnitTestSuite<ChunkSchedulerTest> g_chunkSchedulerTests(
    "chunk-scheduler",
    {
        {"what waits starts by class, issue (LIFO or FIFO), chunk and phase",
         &ChunkSchedulerTest::OrdersWhatWaits},
        {"by arrival, what came first starts first", &ChunkSchedulerTest::OrdersByArrival},
        {"a part takes a slot at all of its ranks at once",
         &ChunkSchedulerTest::NeedsASlotAtAllRanks},
        {"small groups do not starve a large one", &ChunkSchedulerTest::DoesNotStarveLargeGroups},
        {"groups that share a rank take turns", &ChunkSchedulerTest::LetsOthersPass},
        {"a lane that is made while slots are taken waits for them",
         &ChunkSchedulerTest::CountsWhatIsTakenInANewLane},
        {"no rank exceeds its limit, and nothing waits for ever",
         &ChunkSchedulerTest::KeepsItsLimits},
    });

} // namespace

} // namespace cosim
