/*
 * SPDX-License-Identifier: GPL-2.0-only
 */

#include "support/unit-test.h"
#include "transport/roce/go-back-n.h"
#include "transport/roce/selective-repeat.h"

#include <cstdint>
#include <vector>

namespace cosim
{

namespace
{

using Verdict = ReceiveOrder::Verdict;

/// Messages of 2500 and 1200 bytes in packets of 1000: 0, 1000, 2000 (500), 2500, 3500 (200).
MessageStream
MakeStream()
{
    MessageStream stream(1000);
    stream.Append(2500);
    stream.Append(1200);
    return stream;
}

class LossRecoveryTest : public UnitTest<LossRecoveryTest>
{
  public:
    using UnitTest::UnitTest;

    /// Each message has packets of its own, and the last one of each says so.
    void CutsMessagesIntoPackets()
    {
        MessageStream stream = MakeStream();
        const std::vector<std::pair<uint64_t, uint32_t>> parts{{0, 1000},
                                                               {1000, 1000},
                                                               {2000, 500},
                                                               {2500, 1000},
                                                               {3500, 200}};
        for (const auto& [begin, bytes] : parts)
        {
            NS_TEST_ASSERT_MSG_EQ(stream.GetPart(begin).bytes, bytes, "payload");
            NS_TEST_ASSERT_MSG_EQ(stream.GetPart(begin).isLast,
                                  (begin == 2000 || begin == 3500),
                                  "end of a message");
        }
        stream.Forget(2500);
        NS_TEST_ASSERT_MSG_EQ(stream.GetPart(2500).bytes, 1000, "the second message stays");
    }

    /// After a NACK for 1000, everything from there on comes again.
    void GoesBack()
    {
        const MessageStream stream = MakeStream();
        GoBackNSender sender;
        Expect(sender, stream, {0, 1000, 2000, 2500});
        sender.OnNack(stream, 1000, 2000);
        NS_TEST_ASSERT_MSG_EQ(sender.GetInFlight(), 0, "nothing counts as sent");
        Expect(sender, stream, {1000, 2000});
        sender.OnNack(stream, 0, 1000);
        Expect(sender, stream, {2500}); // an old NACK changes nothing
        sender.OnTimeout(stream);
        sender.OnAck(2500); // of the packets before the timeout
        Expect(sender, stream, {2500, 3500});
        NS_TEST_ASSERT_MSG_EQ(sender.HasNext(stream), false, "all is sent");
    }

    /// What is behind a gap is thrown away.
    void ThrowsAwayBehindAGap()
    {
        GoBackNReceiver receiver;
        NS_TEST_ASSERT_MSG_EQ((receiver.Take(0, 1000) == Verdict::TAKEN), true, "in order");
        NS_TEST_ASSERT_MSG_EQ((receiver.Take(2000, 500) == Verdict::MISSING), true, "a gap");
        NS_TEST_ASSERT_MSG_EQ((receiver.Take(0, 1000) == Verdict::REPEATED), true, "again");
        NS_TEST_ASSERT_MSG_EQ((receiver.Take(1000, 1000) == Verdict::TAKEN), true, "the gap");
        NS_TEST_ASSERT_MSG_EQ(receiver.GetExpected(), 2000, "2000 was thrown away");
    }

    /**
     * Packets 1000 and 2500 are lost. Reports of 2000 and 3500 let each be sent again once. If 1000
     * is lost again, the timeout sends it, and not what has arrived.
     */
    void RepeatsWhatIsMissing()
    {
        const MessageStream stream = MakeStream();
        SelectiveSender sender;
        Expect(sender, stream, {0, 1000, 2000, 2500, 3500});
        sender.OnNack(stream, 1000, 2000);
        NS_TEST_ASSERT_MSG_EQ(sender.GetInFlight(), 3700 - 1000 - 500, "without what has arrived");
        Expect(sender, stream, {1000});
        sender.OnNack(stream, 1000, 3500);
        Expect(sender, stream, {2500});
        NS_TEST_ASSERT_MSG_EQ(sender.HasNext(stream), false, "each only once");
        sender.OnNack(stream, 1000, 2500); // 1000 is lost again
        NS_TEST_ASSERT_MSG_EQ(sender.HasNext(stream), false, "until the timeout");
        sender.OnTimeout(stream);
        Expect(sender, stream, {1000});
        NS_TEST_ASSERT_MSG_EQ(sender.HasNext(stream), false, "the others have arrived");
        sender.OnAck(3700);
        NS_TEST_ASSERT_MSG_EQ(sender.GetInFlight(), 0, "all is acknowledged");
    }

    /// What is behind a gap is kept, and counts when the gap is filled.
    void KeepsWhatIsBehindAGap()
    {
        SelectiveReceiver receiver;
        NS_TEST_ASSERT_MSG_EQ((receiver.Take(1000, 1000) == Verdict::MISSING), true, "a gap");
        NS_TEST_ASSERT_MSG_EQ((receiver.Take(2500, 1000) == Verdict::MISSING), true, "another");
        NS_TEST_ASSERT_MSG_EQ((receiver.Take(1000, 1000) == Verdict::REPEATED), true, "again");
        NS_TEST_ASSERT_MSG_EQ((receiver.Take(0, 1000) == Verdict::TAKEN), true, "the gap");
        NS_TEST_ASSERT_MSG_EQ(receiver.GetExpected(), 2000, "up to the other gap");
        NS_TEST_ASSERT_MSG_EQ((receiver.Take(2000, 500) == Verdict::TAKEN), true, "the other");
        NS_TEST_ASSERT_MSG_EQ(receiver.GetExpected(), 3500, "all");
    }

  private:
    void Expect(SendOrder& sender, const MessageStream& stream, const std::vector<uint64_t>& begins)
    {
        for (const uint64_t begin : begins)
        {
            NS_TEST_ASSERT_MSG_EQ(sender.HasNext(stream), true, "there is a packet");
            NS_TEST_ASSERT_MSG_EQ(sender.TakeNext(stream), begin, "the packet");
        }
    }
};

const UnitTestSuite<LossRecoveryTest> g_lossRecoveryTests(
    "loss-recovery",
    {
        {"messages are cut into packets", &LossRecoveryTest::CutsMessagesIntoPackets},
        {"go-back-N goes back", &LossRecoveryTest::GoesBack},
        {"go-back-N throws away behind a gap", &LossRecoveryTest::ThrowsAwayBehindAGap},
        {"selective repeat repeats what is missing", &LossRecoveryTest::RepeatsWhatIsMissing},
        {"selective repeat keeps what is behind a gap", &LossRecoveryTest::KeepsWhatIsBehindAGap},
    });

} // namespace

} // namespace cosim
