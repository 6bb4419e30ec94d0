/*
 * SPDX-License-Identifier: GPL-2.0-only
 */

#include "support/unit-test.h"
#include "transport/tcp/reassembly.h"

#include "ns3/packet.h"
#include "ns3/tcp-header.h"
#include "ns3/tcp-rx-buffer.h"

#include <algorithm>
#include <cstdint>
#include <random>

namespace cosim
{

namespace
{

using ns3::SequenceNumber32;

class ReassemblyTest : public UnitTest<ReassemblyTest>
{
  public:
    using UnitTest::UnitTest;

    void AgreesWithNs3()
    {
        for (uint32_t seed = 1; seed <= 200; ++seed)
        {
            Compare(seed);
        }
    }

  private:
    static constexpr uint32_t WINDOW = 40;

    /// Compare with ns-3's buffer over random segments, which overlap and repeat each other.
    void Compare(uint32_t seed)
    {
        std::mt19937 random(seed);
        SequenceNumber32 next(4294967000U); // wraps around
        Reassembly reassembly(WINDOW);
        const auto buffer = ns3::CreateObject<ns3::TcpRxBuffer>();
        buffer->SetMaxBufferSize(WINDOW);
        buffer->SetNextRxSequence(next);
        for (int i = 0; i < 1000; ++i)
        {
            const uint32_t bytes = 1 + Draw(random, seed % 2 == 0 ? 4 : 12);
            const auto first = next + static_cast<int32_t>(Draw(random, WINDOW + 6)) - 6;
            ns3::TcpHeader header;
            header.SetSequenceNumber(first);
            const bool isNew = buffer->Add(ns3::Create<ns3::Packet>(bytes), header);
            buffer->Extract(buffer->Available());
            NS_TEST_ASSERT_MSG_EQ(reassembly.Add({first, first + bytes}, next),
                                  isNew,
                                  "new data, seed " << seed);
            NS_TEST_ASSERT_MSG_EQ(next, buffer->NextRxSequence(), "in order, seed " << seed);
            NS_TEST_ASSERT_MSG_EQ(reassembly.IsEmpty(), (buffer->Size() == 0), "seed " << seed);
            NS_TEST_ASSERT_MSG_EQ(
                std::ranges::equal(reassembly.GetSackBlocks(), buffer->GetSackList()),
                true,
                "SACK blocks, seed " << seed);
        }
    }
};

const UnitTestSuite<ReassemblyTest> g_reassemblyTests(
    "reassembly",
    {
        {"segments in any order, as in ns-3's buffer", &ReassemblyTest::AgreesWithNs3},
    });

} // namespace

} // namespace cosim
