/*
 * SPDX-License-Identifier: GPL-2.0-only
 */

#include "support/unit-test.h"
#include "transport/drop-tail-buffer.h"
#include "transport/shared-buffer.h"

#include <cstdint>
#include <memory>
#include <utility>

namespace cosim
{

namespace
{

using Verdict = SwitchBuffer::Verdict;

constexpr uint64_t MILLION = 1'000'000;
constexpr uint32_t PACKET = 100;

/// A port: its queue, which holds packets until Release.
class Port : public EgressQueue
{
  public:
    /**
     * @param buffer the buffer of its node
     * @param bufferBytes, thresholdBytes, isUp as in LinkState
     */
    Port(SwitchBuffer& buffer, uint64_t bufferBytes, uint64_t thresholdBytes = 0, bool isUp = true)
        : m_buffer(buffer),
          m_number(buffer.AddPort(*this)),
          isGuarded(
              buffer.SetLink(m_number, {0, 9, MILLION, 0, bufferBytes, thresholdBytes, 0, isUp}))
    {
    }

    void Update() override
    {
        for (; isReleased && packets > 0; --packets)
        {
            Leave(false);
        }
        isReleased = false;
    }

    Verdict Offer(bool isEcnCapable, bool isDroppable, uint32_t bytes = PACKET)
    {
        return m_buffer.Enter(m_number, {bytes, Passage::NO_LINK, 0, isEcnCapable}, isDroppable);
    }

    bool Leave(bool isEcnCapable)
    {
        return m_buffer.Leave(m_number, {PACKET, Passage::NO_LINK, 0, isEcnCapable});
    }

    /// Offer packets until one is not admitted. @return the number of admitted ones
    uint32_t Fill()
    {
        while (Offer(false, true) == Verdict::ADMIT)
        {
            ++packets;
        }
        return packets;
    }

  private:
    SwitchBuffer& m_buffer;
    uint32_t m_number;

  public:
    bool isGuarded;
    uint32_t packets{0};
    bool isReleased{false}; //!< true: the packets will have left at the next Update
};

class SwitchBufferTest : public UnitTest<SwitchBufferTest>
{
  public:
    using UnitTest::UnitTest;

    /// A single queue stops where q = α · (B - q), which is q = α / (1 + α) · B.
    void LetsAQueueHaveAlphaTimesTheFreeMemory()
    {
        for (const auto& [alphaPpm, expected] :
             {std::pair{MILLION, 61U}, {2 * MILLION, 81U}, {MILLION / 2, 41U}, {9 * MILLION, 109U}})
        {
            SharedBuffer buffer({}, 12'000, alphaPpm);
            Port port(buffer, 12'000);
            const double alpha = static_cast<double>(alphaPpm) / MILLION;
            const double limit = alpha * 12'000 / (1 + alpha);
            const uint32_t packets = port.Fill();
            NS_TEST_ASSERT_MSG_LT(packets * PACKET, limit + PACKET, "below the limit");
            NS_TEST_ASSERT_MSG_GT(packets * PACKET, limit - 2 * PACKET, "close to the limit");
            NS_TEST_ASSERT_MSG_LT(packets, expected, "as computed by hand");
        }
    }

    /// With n full queues, each has α / (1 + n·α) of the memory, and 1 / (1 + n·α) stays free.
    void DividesTheMemoryAmongBusyPorts()
    {
        SharedBuffer buffer({}, 12'000, MILLION);
        Port first(buffer, 4000);
        Port second(buffer, 4000);
        Port third(buffer, 4000);
        NS_TEST_ASSERT_MSG_EQ(first.Fill(), 60, "half of 12 kB");
        NS_TEST_ASSERT_MSG_EQ(second.Fill(), 30, "half of the rest");
        NS_TEST_ASSERT_MSG_EQ(third.Fill(), 15, "half of the rest");
        first.isReleased = true;
        NS_TEST_ASSERT_MSG_EQ(third.Fill(), 45, "what is left of the first queue is free");
    }

    void AdmitsWhatWasAdmittedBeforeAndMarks()
    {
        SharedBuffer buffer({}, 1000, MILLION);
        Port port(buffer, 1000, 300);
        NS_TEST_ASSERT_MSG_EQ(port.Fill(), 5, "half of the memory");
        const bool isDropped = port.Offer(true, true) == Verdict::DROP;
        NS_TEST_ASSERT_MSG_EQ(isDropped, true, "full is full, also with ECN");
        const bool isKept = port.Offer(false, false, 5000) == Verdict::ADMIT;
        NS_TEST_ASSERT_MSG_EQ(isKept, true, "a packet that must not be dropped");
        const bool isMarked = port.Offer(true, false) == Verdict::MARK;
        NS_TEST_ASSERT_MSG_EQ(isMarked, true, "the queue is above the threshold");
    }

    void LeavesOtherLinksAlone()
    {
        SharedBuffer buffer({}, 1000, MILLION);
        const Port unlimited(buffer, 0);
        NS_TEST_ASSERT_MSG_EQ(unlimited.isGuarded, false, "it is unlimited");
        Port marking(buffer, 0, 100);
        NS_TEST_ASSERT_MSG_EQ(marking.isGuarded, true, "it has a threshold");
        for (int packet = 0; packet < 20; ++packet)
        {
            marking.Offer(false, true);
        }
        Port limited(buffer, 1000);
        NS_TEST_ASSERT_MSG_EQ(limited.Fill(), 5, "it has the memory for itself");
        Port down(buffer, 1000, 0, false);
        const bool isDropped = down.Offer(false, false) == Verdict::DROP;
        NS_TEST_ASSERT_MSG_EQ(isDropped, true, "a link that is down");
    }

    /// Three packets wait and the threshold is two: the third is marked when they arrive; of those
    /// that leave, the one behind which two wait is.
    void MarksWhenPacketsArriveOrLeave()
    {
        for (const bool atDequeue : {false, true})
        {
            DropTailBuffer buffer(BufferRules{0, atDequeue});
            Port port(buffer, 0, uint64_t{2} * PACKET);
            uint32_t arrivals = 0;
            for (const Verdict verdict : {Verdict::ADMIT, Verdict::ADMIT, Verdict::MARK})
            {
                const bool isMarked = port.Offer(true, true) == Verdict::MARK;
                const bool isExpected = verdict == Verdict::MARK && !atDequeue;
                NS_TEST_ASSERT_MSG_EQ(isMarked, isExpected, "arrival " << arrivals++);
            }
            NS_TEST_ASSERT_MSG_EQ(port.Leave(true), atDequeue, "two packets stay");
            NS_TEST_ASSERT_MSG_EQ(port.Leave(true), false, "one stays");
            NS_TEST_ASSERT_MSG_EQ(port.Leave(false), false, "none stays");
        }
    }

    /// Packets of any size take a slot, and three slots fit.
    void CountsPacketsOrBytes()
    {
        DropTailBuffer buffer(BufferRules{10 * PACKET, false});
        Port port(buffer, uint64_t{39} * PACKET);
        NS_TEST_ASSERT_MSG_EQ(port.Fill(), 3, "slots");
        port.isReleased = true;
        NS_TEST_ASSERT_MSG_EQ(port.Fill(), 3, "slots after three have left");
    }
};

const UnitTestSuite<SwitchBufferTest> g_switchBufferTests(
    "switch-buffer",
    {
        {"a queue has α times the free memory",
         &SwitchBufferTest::LetsAQueueHaveAlphaTimesTheFreeMemory},
        {"busy ports divide the memory", &SwitchBufferTest::DividesTheMemoryAmongBusyPorts},
        {"admitted packets stay, and ECN marks",
         &SwitchBufferTest::AdmitsWhatWasAdmittedBeforeAndMarks},
        {"links without a limit, or down, have none", &SwitchBufferTest::LeavesOtherLinksAlone},
        {"marks when packets arrive, or when they leave",
         &SwitchBufferTest::MarksWhenPacketsArriveOrLeave},
        {"a buffer counts packets, or bytes", &SwitchBufferTest::CountsPacketsOrBytes},
    });

} // namespace

} // namespace cosim
