/*
 * SPDX-License-Identifier: GPL-2.0-only
 */

#include "support/flat-map.h"
#include "support/unit-test.h"

#include <map>
#include <memory>
#include <random>

namespace cosim
{

namespace
{

/// A key with few hashes, so that many keys want the same slot.
struct Crowded
{
    uint32_t number{0};

    bool operator==(const Crowded&) const = default;

    uint64_t Hash() const
    {
        return number % 7 + 13;
    }
};

/// A key with a good hash.
struct Spread
{
    uint32_t number{0};

    bool operator==(const Spread&) const = default;

    uint64_t Hash() const
    {
        return MixHash(number, 0);
    }
};

class FlatMapTest : public UnitTest<FlatMapTest>
{
  public:
    using UnitTest::UnitTest;

    void IsEmptyAtFirst()
    {
        FlatMap<Spread, int> map;
        NS_TEST_ASSERT_MSG_EQ(map.GetSize(), 0, "no entry");
        NS_TEST_ASSERT_MSG_EQ((map.Find({1}) == nullptr), true, "not found");
        NS_TEST_ASSERT_MSG_EQ(map.Extract({1}).has_value(), false, "nothing to extract");
    }

    /// The same operations on a FlatMap and on a std::map leave the same entries.
    template <typename Key>
    void CompareWithMap(uint32_t keys)
    {
        std::mt19937 random(1);
        FlatMap<Key, std::unique_ptr<int>> map;
        std::map<uint32_t, int> expected;
        for (int i = 0; i < 20000; ++i)
        {
            const auto number = static_cast<uint32_t>(Draw(random, keys));
            if (Draw(random, 2) == 0)
            {
                map[{number}] = std::make_unique<int>(i);
                expected[number] = i;
            }
            else
            {
                const auto value = map.Extract({number});
                const auto node = expected.extract(number);
                NS_TEST_ASSERT_MSG_EQ(value.has_value(), !node.empty(), "known or not");
                NS_TEST_ASSERT_MSG_EQ((value ? **value : 0),
                                      (node.empty() ? 0 : node.mapped()),
                                      "its value");
            }
            const auto found = map.Find({number});
            NS_TEST_ASSERT_MSG_EQ((found != nullptr), expected.contains(number), "found or not");
            NS_TEST_ASSERT_MSG_EQ(map.GetSize(), expected.size(), "number of entries");
        }
        std::map<uint32_t, int> visited;
        map.ForEach(
            [&visited](const Key& key, const auto& value) { visited.emplace(key.number, *value); });
        NS_TEST_ASSERT_MSG_EQ((visited == expected), true, "all entries");
    }

    void HoldsWhatAMapHolds()
    {
        CompareWithMap<Spread>(500);
    }

    void KeepsCrowdedKeysApart()
    {
        CompareWithMap<Crowded>(60);
    }
};

const UnitTestSuite<FlatMapTest> g_flatMapTests(
    "flat-map",
    {
        {"it is empty at first", &FlatMapTest::IsEmptyAtFirst},
        {"it holds what a map holds", &FlatMapTest::HoldsWhatAMapHolds},
        {"keys that want the same slot stay apart", &FlatMapTest::KeepsCrowdedKeysApart},
    });

} // namespace

} // namespace cosim
