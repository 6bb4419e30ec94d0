/*
 * SPDX-License-Identifier: GPL-2.0-only
 */

#include "support/pair-index.h"
#include "support/unit-test.h"

#include <map>
#include <random>
#include <utility>
#include <vector>

namespace cosim
{

namespace
{

class PairIndexTest : public UnitTest<PairIndexTest>
{
  public:
    using UnitTest::UnitTest;

    void AgreesWithMap()
    {
        std::mt19937 random(1);
        for (uint32_t ids = 1; ids < 20; ++ids)
        {
            std::vector<uint32_t> sources;
            std::vector<uint32_t> targets;
            std::map<std::pair<uint32_t, uint32_t>, uint32_t> model;
            const uint32_t pairs = Draw(random, 2 * ids * ids);
            for (uint32_t i = 0; i < pairs; ++i)
            { // some pairs repeat, some do not occur
                sources.push_back(Draw(random, ids));
                targets.push_back(Draw(random, ids));
                model.try_emplace({sources.back(), targets.back()}, i);
            }
            const PairIndex index(ids, sources, targets);
            for (uint32_t source = 0; source < ids; ++source)
            {
                for (uint32_t target = 0; target < ids; ++target)
                {
                    const auto known = model.find({source, target});
                    const uint32_t expected =
                        known == model.end() ? PairIndex::NONE : known->second;
                    NS_TEST_ASSERT_MSG_EQ(index.Find(source, target),
                                          expected,
                                          source << " to " << target << " of " << ids);
                }
            }
        }
    }

    void DoesNotReadTheNextRow()
    {
        const PairIndex index(4, {0, 1, 3}, {2, 3, 1});
        NS_TEST_ASSERT_MSG_EQ(index.Find(0, 2), 0, "there");
        NS_TEST_ASSERT_MSG_EQ(index.Find(0, 1), PairIndex::NONE, "before the first target");
        NS_TEST_ASSERT_MSG_EQ(index.Find(0, 3), PairIndex::NONE, "behind the last target");
        NS_TEST_ASSERT_MSG_EQ(index.Find(2, 0), PairIndex::NONE, "a source without targets");
        NS_TEST_ASSERT_MSG_EQ(index.Find(3, ~uint32_t{0}), PairIndex::NONE, "the largest number");
    }
};

const UnitTestSuite<PairIndexTest> g_pairIndexTests(
    "pair-index",
    {
        {"a pair is found as in a map, the first of equal ones", &PairIndexTest::AgreesWithMap},
        {"a target outside of its source's row is not found",
         &PairIndexTest::DoesNotReadTheNextRow},
    });

} // namespace

} // namespace cosim
