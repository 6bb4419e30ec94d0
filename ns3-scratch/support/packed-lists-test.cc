/*
 * SPDX-License-Identifier: GPL-2.0-only
 */

#include "support/packed-lists.h"
#include "support/unit-test.h"

#include <algorithm>
#include <random>
#include <vector>

namespace cosim
{

namespace
{

class PackedListsTest : public UnitTest<PackedListsTest>
{
  public:
    using UnitTest::UnitTest;

    void HoldsWhatItWasGiven()
    {
        constexpr uint32_t LISTS = 5;
        constexpr std::size_t LONGEST = 6;
        std::mt19937 random(1);
        PackedLists<uint32_t> packed(LISTS);
        std::vector<std::vector<uint32_t>> lists(LISTS);
        for (uint32_t i = 0; i < 1000; ++i)
        {
            const uint32_t list = Draw(random, LISTS);
            lists[list].assign(Draw(random, LONGEST + 1), i);
            packed.Set(list, lists[list]);
            for (uint32_t one = 0; one < LISTS; ++one)
            {
                NS_TEST_ASSERT_MSG_EQ(std::ranges::equal(packed.Get(one), lists[one]),
                                      true,
                                      "the items of list " << one);
            }
        }
        // A list leaves its room only for a longer one: at worst 1 + 2 + … + LONGEST items.
        NS_TEST_ASSERT_MSG_LT(packed.GetEnd(),
                              LISTS * LONGEST * (LONGEST + 1) / 2 + 1,
                              "the room is used again");
    }

    void NumbersItems()
    {
        PackedLists<uint32_t> packed(2);
        packed.Set(1, std::vector<uint32_t>{7, 8});
        packed.Set(0, std::vector<uint32_t>{9});
        NS_TEST_ASSERT_MSG_EQ(packed.GetBegin(1), 0, "the first one that was set");
        NS_TEST_ASSERT_MSG_EQ(packed.GetBegin(0), 2, "the next one");
        NS_TEST_ASSERT_MSG_EQ(*packed.GetItem(2), 9, "an item by its number");
        NS_TEST_ASSERT_MSG_EQ(packed.GetEnd(), 3, "as many as there are items");
    }
};

const UnitTestSuite<PackedListsTest> g_packedListsTests(
    "packed-lists",
    {
        {"lists hold what they were given, in little room", &PackedListsTest::HoldsWhatItWasGiven},
        {"each item has a number", &PackedListsTest::NumbersItems},
    });

} // namespace

} // namespace cosim
