/*
 * SPDX-License-Identifier: GPL-2.0-only
 */

#include "support/block-pool.h"
#include "support/unit-test.h"

#include <cstdint>
#include <set>

namespace cosim
{

namespace
{

class BlockPoolTest : public UnitTest<BlockPoolTest>
{
  public:
    using UnitTest::UnitTest;

    void KeepsBlocksApart()
    {
        // 3000 blocks of 4 KiB take several huge pages.
        constexpr std::size_t SIZE = 512;
        constexpr std::size_t BLOCKS = 3000;
        BlockPool<uint64_t, SIZE> pool;
        std::vector<uint64_t*> blocks;
        for (std::size_t i = 0; i < BLOCKS; ++i)
        {
            blocks.push_back(pool.Take());
            std::fill_n(blocks.back(), SIZE, i);
        }
        NS_TEST_ASSERT_MSG_EQ(pool.GetTaken(), BLOCKS, "all are in use");
        for (std::size_t i = 0; i < BLOCKS; ++i)
        {
            NS_TEST_ASSERT_MSG_EQ(blocks[i][0], i, "the first item of a block");
            NS_TEST_ASSERT_MSG_EQ(blocks[i][SIZE - 1], i, "its last item");
        }
    }

    void ReusesBlocks()
    {
        BlockPool<uint32_t, 3> pool;
        uint32_t* const first = pool.Take();
        pool.Take();
        pool.Return(first);
        NS_TEST_ASSERT_MSG_EQ(pool.GetTaken(), 1, "one is in use");
        NS_TEST_ASSERT_MSG_EQ((pool.Take() == first), true, "the block that was returned");
        NS_TEST_ASSERT_MSG_EQ(pool.GetCount(), 2, "no third block");
    }
};

const UnitTestSuite<BlockPoolTest> g_blockPoolTests(
    "block-pool",
    {
        {"blocks do not overlap", &BlockPoolTest::KeepsBlocksApart},
        {"returned blocks are used again", &BlockPoolTest::ReusesBlocks},
    });

} // namespace

} // namespace cosim
