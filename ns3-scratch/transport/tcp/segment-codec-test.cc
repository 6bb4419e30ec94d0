/*
 * SPDX-License-Identifier: GPL-2.0-only
 */

#include "stream/stream.h"
#include "support/unit-test.h"
#include "transport/tcp/segment-codec.h"

#include "ns3/tcp-option-sack-permitted.h"
#include "ns3/tcp-option-sack.h"
#include "ns3/tcp-option-ts.h"
#include "ns3/tcp-option-winscale.h"

#include <memory>

namespace cosim
{

namespace
{

constexpr uint32_t LINK_BYTES = 2;
constexpr uint32_t IP_BYTES = 20;

/// @return a segment with this number of SACK blocks
Segment
MakeSegment(std::size_t blocks)
{
    Segment segment{};
    segment.flags = ns3::TcpHeader::ACK;
    segment.window = 1234;
    segment.sequence = ns3::SequenceNumber32(5000);
    segment.acknowledgment = ns3::SequenceNumber32(4294967295U);
    segment.timestamp = 17;
    segment.timestampEcho = 16;
    if (blocks > 0)
    {
        segment.sackBlocks = std::make_unique<ns3::TcpOptionSack::SackList>();
        for (uint32_t i = 0; i < blocks; ++i)
        {
            segment.sackBlocks->emplace_back(ns3::SequenceNumber32(100 * i),
                                             ns3::SequenceNumber32(100 * i + 50));
        }
    }
    return segment;
}

/// @return the header of a segment with all its options
ns3::TcpHeader
MakeHeader(const Segment& segment, bool timestamps)
{
    ns3::TcpHeader header;
    FillHeader(segment, timestamps, header);
    if (segment.sackBlocks)
    {
        const auto option = ns3::CreateObject<ns3::TcpOptionSack>();
        for (const ns3::TcpOptionSack::SackBlock& block : *segment.sackBlocks)
        {
            option->AddSackBlock(block);
        }
        header.AppendOption(option);
    }
    return header;
}

class SegmentCodecTest : public UnitTest<SegmentCodecTest>
{
  public:
    using UnitTest::UnitTest;

    void HasTheSizeOfNs3()
    {
        for (const bool timestamps : {false, true})
        {
            for (std::size_t blocks = 0; blocks <= GetSackRoom(timestamps); ++blocks)
            {
                for (const uint32_t payload : {0, 1, 8960})
                {
                    Segment segment = MakeSegment(blocks);
                    segment.payloadBytes = payload;
                    const ns3::TcpHeader header = MakeHeader(segment, timestamps);
                    NS_TEST_ASSERT_MSG_EQ(
                        GetWireBytes(segment, timestamps, LINK_BYTES),
                        LINK_BYTES + IP_BYTES + header.GetSerializedSize() + payload,
                        "timestamps " << timestamps << ", SACK blocks " << blocks);
                }
            }
        }
    }

    void HasTheSynSizeOfNs3()
    {
        for (uint32_t options = 0; options < 8; ++options)
        {
            TcpSettings settings;
            settings.linkHeaderBytes = LINK_BYTES;
            settings.windowScaling = (options & 1) != 0;
            settings.sack = (options & 2) != 0;
            settings.timestamps = (options & 4) != 0;
            ns3::TcpHeader header;
            if (settings.windowScaling)
            {
                header.AppendOption(ns3::CreateObject<ns3::TcpOptionWinScale>());
            }
            if (settings.sack)
            {
                header.AppendOption(ns3::CreateObject<ns3::TcpOptionSackPermitted>());
            }
            if (settings.timestamps)
            {
                header.AppendOption(ns3::CreateObject<ns3::TcpOptionTS>());
            }
            NS_TEST_ASSERT_MSG_EQ(GetSynWireBytes(settings),
                                  LINK_BYTES + IP_BYTES + header.GetSerializedSize(),
                                  "window scale 1, SACK 2, timestamps 4: " << options);
        }
    }

    void FillsTheRoomForSack()
    {
        for (const bool timestamps : {false, true})
        {
            const ns3::TcpHeader header =
                MakeHeader(MakeSegment(GetSackRoom(timestamps)), timestamps);
            NS_TEST_ASSERT_MSG_EQ(header.HasOption(ns3::TcpOption::SACK), true, "they have room");
            const ns3::TcpHeader full =
                MakeHeader(MakeSegment(GetSackRoom(timestamps) + 1), timestamps);
            NS_TEST_ASSERT_MSG_EQ(full.HasOption(ns3::TcpOption::SACK), false, "one more has not");
        }
    }

    void FillsTheHeader()
    {
        ns3::TcpHeader header;
        FillHeader(MakeSegment(2), true, header);
        NS_TEST_ASSERT_MSG_EQ(header.GetFlags(), ns3::TcpHeader::ACK, "flags");
        NS_TEST_ASSERT_MSG_EQ(header.GetWindowSize(), 1234, "window");
        NS_TEST_ASSERT_MSG_EQ(header.GetSequenceNumber().GetValue(), 5000, "sequence number");
        NS_TEST_ASSERT_MSG_EQ(header.GetAckNumber().GetValue(), 4294967295U, "acknowledgement");
        NS_TEST_ASSERT_MSG_EQ(header.HasOption(ns3::TcpOption::SACK), false, "SACK blocks");
        const auto stamp =
            ns3::DynamicCast<const ns3::TcpOptionTS>(header.GetOption(ns3::TcpOption::TS));
        NS_TEST_ASSERT_MSG_EQ(stamp->GetTimestamp(), 17, "timestamp");
        NS_TEST_ASSERT_MSG_EQ(stamp->GetEcho(), 16, "its echo");
    }
};

const UnitTestSuite<SegmentCodecTest> g_segmentCodecTests(
    "segment-codec",
    {
        {"a segment is as long as ns-3's header says", &SegmentCodecTest::HasTheSizeOfNs3},
        {"so is a SYN", &SegmentCodecTest::HasTheSynSizeOfNs3},
        {"as many SACK blocks as fit in a header, and no more",
         &SegmentCodecTest::FillsTheRoomForSack},
        {"the fields come to ns-3's header", &SegmentCodecTest::FillsTheHeader},
    });

} // namespace

} // namespace cosim
