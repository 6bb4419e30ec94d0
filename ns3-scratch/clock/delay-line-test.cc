/*
 * SPDX-License-Identifier: GPL-2.0-only
 */

#include "clock/delay-line.h"
#include "clock/simulator-session.h"
#include "support/unit-test.h"

#include "ns3/nstime.h"
#include "ns3/simulator.h"

#include <string>
#include <vector>

namespace cosim
{

namespace
{

using ns3::Simulator;
using ns3::TimeStep;

/// Records the items that a line returns. It adds a negative item again, with the opposite sign.
class Recorder
{
  public:
    /// @param delay delay of the line [ps]
    explicit Recorder(uint64_t delay)
        : m_line(TimeStep(delay), *this, &Recorder::OnItem, &Recorder::OnDone)
    {
    }

    /// @return the line
    DelayLine<int, Recorder>& GetLine()
    {
        return m_line;
    }

    /**
     * @return each returned item with its time; a bar marks the end of the items that were due
     * together
     */
    const std::vector<std::string>& GetNotes() const
    {
        return m_notes;
    }

  private:
    void OnItem(const int& item)
    {
        m_notes.push_back(std::to_string(item) + "@" +
                          std::to_string(Simulator::Now().GetTimeStep()));
        if (item < 0)
        {
            m_line.Push(-item);
        }
    }

    void OnDone()
    {
        m_notes.push_back("|");
    }

    DelayLine<int, Recorder> m_line;
    std::vector<std::string> m_notes;
};

class DelayLineTest : public UnitTest<DelayLineTest>
{
  public:
    using UnitTest::UnitTest;

    void DelaysEach()
    {
        const SimulatorSession session(1);
        Recorder recorder(10);
        for (const int item : {0, 3, 3, 3, 10, 25})
        { // add two items at time 3; they come back together
            Simulator::Schedule(TimeStep(static_cast<uint64_t>(item)),
                                [&recorder, item] { recorder.GetLine().Push(item); });
        }
        Simulator::Schedule(TimeStep(5), [&] {
            NS_TEST_ASSERT_MSG_EQ(recorder.GetLine().GetSize(), 4, "those from 0 and 3");
        });
        Simulator::Run();
        NS_TEST_ASSERT_MSG_EQ(Join(recorder.GetNotes()),
                              "0@10 | 3@13 3@13 3@13 | 10@20 | 25@35 |",
                              "each after 10");
        NS_TEST_ASSERT_MSG_EQ(recorder.GetLine().GetSize(), 0, "nothing is left");
    }

    void TakesItemsWhileItServes()
    {
        const SimulatorSession session(1);
        Recorder recorder(10);
        recorder.GetLine().Push(-1);
        recorder.GetLine().Push(2);
        Simulator::Schedule(TimeStep(4), [&] { recorder.GetLine().Push(-3); });
        Simulator::Run();
        NS_TEST_ASSERT_MSG_EQ(Join(recorder.GetNotes()),
                              "-1@10 2@10 | -3@14 | 1@20 | 3@24 |",
                              "what is put in while serving comes after the delay, once");
    }

    void TakesItemsOfNoDelayWhileItServes()
    {
        const SimulatorSession session(1);
        Recorder recorder(0);
        recorder.GetLine().Push(-1);
        Simulator::Run();
        NS_TEST_ASSERT_MSG_EQ(Join(recorder.GetNotes()), "-1@0 1@0 |", "due at once");
    }

    void HasOneEvent()
    {
        const SimulatorSession session(1);
        Recorder recorder(1000);
        for (int i = 0; i < 500; ++i)
        {
            recorder.GetLine().Push(i);
        }
        Simulator::Run();
        NS_TEST_ASSERT_MSG_EQ(Simulator::GetEventCount(), 1, "for items of one time");
        NS_TEST_ASSERT_MSG_EQ(recorder.GetNotes().size(), 501, "all come back, and one bar");
    }
};

const UnitTestSuite<DelayLineTest> g_delayLineTests(
    "delay-line",
    {
        {"items come back in order, each after the delay", &DelayLineTest::DelaysEach},
        {"items may be put in while others come back", &DelayLineTest::TakesItemsWhileItServes},
        {"so may items that are due at once", &DelayLineTest::TakesItemsOfNoDelayWhileItServes},
        {"items of one time share an event", &DelayLineTest::HasOneEvent},
    });

} // namespace

} // namespace cosim
