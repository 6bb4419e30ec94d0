/*
 * SPDX-License-Identifier: GPL-2.0-only
 */

#include "support/unit-test.h"
#include "transport/pfc-buffer.h"

#include <cstdint>
#include <memory>
#include <string>

namespace cosim
{

namespace
{

using Verdict = SwitchBuffer::Verdict;

constexpr uint8_t DATA = 3;
constexpr uint32_t PACKET = 1000;

/// Notes the frames that a buffer sends.
class Frames final : public PauseChannel
{
  public:
    void SetPaused(uint32_t link, uint8_t trafficClass, bool isPaused) override
    {
        text += std::to_string(link) + "/" + std::to_string(trafficClass) +
                (isPaused ? " pause " : " resume ");
    }

    std::string text;
};

/**
 * Links 0 and 1 lead into node 2, link 2 leads out. The memory has 20 kB: each of the two links has
 * a reserve of 1 kB and 3 kB of headroom, so 12 kB are shared. A link may take half of what is
 * free, and resumes 2 kB below.
 */
class Switch
{
  public:
    /**
     * @param rules as in PfcBuffer
     * @param lossy classes that are never paused
     */
    explicit Switch(BufferRules rules = {}, std::vector<uint32_t> lossy = {})
    {
        m_topology.lossyClasses = std::move(lossy);
        m_topology.sharedMemoryAlphaPpm = 500'000;
        m_topology.ranks = 2;
        m_topology.nodes = 3;
        m_topology.linkSource = {0, 1, 2};
        m_topology.linkTarget = {2, 2, 0};
        m_topology.linkHeadroomBytes = {3000, 3000, 3000};
        m_topology.linkSharePpm = {500'000, 500'000, 500'000};
        m_topology.reserveBytes = 1000;
        m_topology.resumeBytes = 2000;
        m_topology.pauseFrameBytes = 64;
        rules.node = 2;
        m_buffer =
            std::make_unique<PfcBuffer>(rules, std::make_shared<PfcLinks>(m_topology), 20'000);
        m_buffer->SetPauseChannel(frames);
        m_buffer->AddPort(m_queue);
        LinkState link{2, 0, 1'000'000, 0, 20'000, 2500, 0, true};
        link.ecnFullBytes = 2500;
        m_buffer->SetLink(0, link);
    }

    Verdict Enter(uint32_t link, uint8_t trafficClass = DATA)
    {
        return m_buffer->Enter(0, {PACKET, link, trafficClass, true}, true);
    }

    bool Leave(uint32_t link, uint8_t trafficClass = DATA)
    {
        return m_buffer->Leave(0, {PACKET, link, trafficClass, true});
    }

    PfcBuffer& Get()
    {
        return *m_buffer;
    }

    Frames frames;

  private:
    class Queue : public EgressQueue
    {
        void Update() override
        {
        }
    };

    Topology m_topology;
    Queue m_queue;
    std::unique_ptr<PfcBuffer> m_buffer;
};

class PfcBufferTest : public UnitTest<PfcBufferTest>
{
  public:
    using UnitTest::UnitTest;

    /**
     * The first packet takes the reserve. Each further one takes 1000 of the 12 000 shared bytes,
     * and the threshold is half of the rest: after k of them, (12 000 - 1000 k) / 2. After four it
     * is 4000, which they have reached: pause.
     */
    void PausesAtItsPartOfTheFreeMemory()
    {
        Switch one;
        NS_TEST_ASSERT_MSG_EQ(one.Get().GetThreshold(0), 6000, "at first");
        one.Enter(0);
        NS_TEST_ASSERT_MSG_EQ(one.Get().GetThreshold(0), 6000, "the reserve is not shared");
        for (int i = 1; i <= 3; ++i)
        {
            one.Enter(0);
            NS_TEST_ASSERT_MSG_EQ(one.Get().GetThreshold(0), 6000 - 500 * i, "threshold");
        }
        NS_TEST_ASSERT_MSG_EQ(one.frames.text, "", "3000 are below 4500");
        one.Enter(0);
        NS_TEST_ASSERT_MSG_EQ(one.frames.text, "0/3 pause ", "4000 of 4000");
        NS_TEST_ASSERT_MSG_EQ(one.Get().GetThreshold(1), 4000, "the other link has less");
    }

    /**
     * A queue of a lossy class may hold half of what is free. With k packets in it, the next one
     * fits if 1000 (k + 1) <= (12 000 - 1000 k) / 2: four of them do. Nothing is paused, and what
     * they have taken lowers the threshold of other classes to (12 000 - 4000) / 2.
     */
    void DropsLossyClassesAndPausesOthers()
    {
        Switch one({}, {1});
        for (int i = 0; i < 4; ++i)
        {
            NS_TEST_ASSERT_MSG_EQ((one.Enter(0, 1) == Verdict::DROP), false, "room");
        }
        NS_TEST_ASSERT_MSG_EQ((one.Enter(0, 1) == Verdict::DROP), true, "no room");
        NS_TEST_ASSERT_MSG_EQ(one.frames.text, "", "never paused");
        NS_TEST_ASSERT_MSG_EQ(one.Get().GetHeadroomUse().drops, 0, "no lack of headroom");
        NS_TEST_ASSERT_MSG_EQ(one.Get().GetThreshold(0), 4000, "shared memory");
        for (int i = 0; i < 4; ++i)
        {
            one.Leave(0, 1);
        }
        NS_TEST_ASSERT_MSG_EQ(one.Get().GetThreshold(0), 6000, "all is free again");
    }

    /**
     * After the pause, a fifth packet would have 5000 shared bytes of 4000, so it takes headroom,
     * as do two more. The next one is dropped. Headroom lacked 1000 bytes, then 2000.
     */
    void DropsOnlyWithoutHeadroom()
    {
        Switch one;
        for (int i = 0; i < 5 + 3; ++i)
        {
            NS_TEST_ASSERT_MSG_EQ((one.Enter(0) == Verdict::DROP), false, "room");
        }
        for (const uint64_t lack : {1000, 2000})
        {
            NS_TEST_ASSERT_MSG_EQ((one.Enter(0) == Verdict::DROP), true, "no room");
            NS_TEST_ASSERT_MSG_EQ(one.Get().GetHeadroomUse().lackBytes, lack, "lack");
        }
        const HeadroomUse use = one.Get().GetHeadroomUse();
        NS_TEST_ASSERT_MSG_EQ(use.peakBytes, 3000, "peak");
        NS_TEST_ASSERT_MSG_EQ(use.limitBytes, 3000, "limit");
        NS_TEST_ASSERT_MSG_EQ(use.drops, 2, "drops");
        NS_TEST_ASSERT_MSG_EQ((one.Enter(1) == Verdict::DROP), false, "the other link has room");
    }

    /**
     * Eight packets are there: 1000 in the reserve, 4000 shared, 3000 in headroom. The first three
     * that leave empty the headroom; with two more, 2000 shared bytes are left and the threshold is
     * 5000: 2000 + 2000 <= 5000, so it resumes. With one more only, 3000 + 2000 > 4500.
     */
    void ResumesBelowTheThreshold()
    {
        Switch one;
        for (int i = 0; i < 8; ++i)
        {
            one.Enter(0);
        }
        for (int i = 0; i < 4; ++i)
        {
            one.Leave(0);
        }
        NS_TEST_ASSERT_MSG_EQ(one.frames.text, "0/3 pause ", "not yet");
        one.Leave(0);
        NS_TEST_ASSERT_MSG_EQ(one.frames.text, "0/3 pause 0/3 resume ", "now");
        for (int i = 0; i < 3; ++i)
        {
            one.Leave(0);
        }
        NS_TEST_ASSERT_MSG_EQ(one.Get().GetThreshold(0), 6000, "all memory is free again");
    }

    /// ACKs go by in a class that is never paused, and take no memory.
    void LetsPromptPacketsPass()
    {
        Switch one;
        for (int i = 0; i < 100; ++i)
        {
            one.Enter(0, PfcBuffer::PROMPT_CLASS);
        }
        NS_TEST_ASSERT_MSG_EQ(one.frames.text, "", "no pause");
        NS_TEST_ASSERT_MSG_EQ(one.Get().GetThreshold(0), 6000, "no memory");
    }

    /// Two classes of a link are paused one by one.
    void CountsClassesApart()
    {
        Switch one;
        for (int i = 0; i < 5; ++i)
        {
            one.Enter(0, 1);
        }
        NS_TEST_ASSERT_MSG_EQ(one.frames.text, "0/1 pause ", "class 1");
        one.Enter(0, DATA);
        NS_TEST_ASSERT_MSG_EQ(one.frames.text, "0/1 pause ", "class 3 has its reserve");
    }

    /// The queue is compared with 2500 when a packet leaves, without that packet.
    void MarksWhenPacketsLeave()
    {
        Switch one({.marksAtDequeue = true});
        for (int i = 0; i < 4; ++i)
        {
            NS_TEST_ASSERT_MSG_EQ((one.Enter(0) == Verdict::ADMIT), true, "no mark");
        }
        NS_TEST_ASSERT_MSG_EQ(one.Leave(0), true, "3000 bytes are left");
        NS_TEST_ASSERT_MSG_EQ(one.Leave(0), false, "2000 bytes are left");
    }

    /// A paused link is stuck while all ports hold its packets, and not once one sends.
    void KnowsWhatIsStuck()
    {
        Switch one;
        const auto all = [](uint32_t) { return true; };
        const auto none = [](uint32_t) { return false; };
        NS_TEST_ASSERT_MSG_EQ(one.Get().IsStuck(0, DATA, all), false, "not paused");
        for (int i = 0; i < 5; ++i)
        {
            one.Enter(0);
        }
        NS_TEST_ASSERT_MSG_EQ(one.Get().IsStuck(0, DATA, all), true, "held");
        NS_TEST_ASSERT_MSG_EQ(one.Get().IsStuck(0, DATA, none), false, "it drains");
        one.Get().OnLinkDown(0);
        NS_TEST_ASSERT_MSG_EQ(one.Get().IsStuck(0, DATA, all), false, "the pause has ended");
    }
};

const UnitTestSuite<PfcBufferTest> g_pfcBufferTests(
    "pfc-buffer",
    {
        {"a link is paused at its part of the free memory",
         &PfcBufferTest::PausesAtItsPartOfTheFreeMemory},
        {"lossy classes drop and are not paused", &PfcBufferTest::DropsLossyClassesAndPausesOthers},
        {"packets are dropped only without headroom", &PfcBufferTest::DropsOnlyWithoutHeadroom},
        {"a link resumes below its threshold", &PfcBufferTest::ResumesBelowTheThreshold},
        {"prompt packets pass", &PfcBufferTest::LetsPromptPacketsPass},
        {"classes count apart", &PfcBufferTest::CountsClassesApart},
        {"packets are marked when they leave", &PfcBufferTest::MarksWhenPacketsLeave},
        {"what is stuck is known", &PfcBufferTest::KnowsWhatIsStuck},
    });

} // namespace

} // namespace cosim
