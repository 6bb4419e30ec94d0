/*
 * SPDX-License-Identifier: GPL-2.0-only
 */

#include "clock/simulator-session.h"
#include "fabrics/message/agenda.h"
#include "support/unit-test.h"

#include "ns3/simulator.h"

#include <cstdint>
#include <string>
#include <utility>
#include <vector>

namespace cosim
{

namespace
{

using ns3::Simulator;

/// An owner that writes down its calls, and plans further events.
class Diary
{
  public:
    uint64_t Now() const
    {
        return static_cast<uint64_t>(Simulator::Now().GetTimeStep());
    }

    void OnPlanned(uint32_t subject, uint64_t now)
    {
        Write(std::to_string(subject), now);
        if (subject == STOP)
        {
            agenda.Close();
        }
        for (const uint64_t at : m_followers)
        {
            agenda.Plan(at, subject + 1);
        }
        m_followers.clear();
    }

    void OnNear(uint32_t subject, std::size_t before)
    {
        near.emplace_back(subject, before);
    }

    void OnPass(uint64_t now)
    {
        Write("pass", now);
        for (const uint64_t at : m_late)
        {
            agenda.Plan(at, LATE);
        }
        m_late.clear();
    }

    void OnServed(uint64_t now)
    {
        Write("served", now);
    }

    /// @param at times of events that the next event plans
    void LetFollow(const std::vector<uint64_t>& at)
    {
        m_followers = at;
    }

    /// @param at times of events that the next pass plans
    void LetPassPlan(const std::vector<uint64_t>& at)
    {
        m_late = at;
    }

    static constexpr uint32_t STOP = 99;
    static constexpr uint32_t LATE = 50;

    Agenda<Diary> agenda{*this};
    std::string text;
    std::vector<std::pair<uint32_t, std::size_t>> near; //!< arguments of OnNear

  private:
    void Write(const std::string& what, uint64_t now)
    {
        text += what + "@" + std::to_string(now) + " ";
    }

    std::vector<uint64_t> m_followers;
    std::vector<uint64_t> m_late;
};

class AgendaTest : public UnitTest<AgendaTest>
{
  public:
    using UnitTest::UnitTest;

    void ServesEachTimeOnceInTheOrderOfTheTimes()
    {
        const SimulatorSession session(1);
        Diary diary;
        diary.agenda.Plan(20, 1);
        diary.agenda.Plan(10, 2);
        diary.agenda.Plan(20, 3);
        const uint64_t before = Simulator::GetEventCount();
        Simulator::Run();
        NS_TEST_ASSERT_MSG_EQ(diary.text,
                              "2@10 pass@10 served@10 1@20 3@20 pass@20 served@20 ",
                              "calls");
        NS_TEST_ASSERT_MSG_EQ(diary.near.size(), 3, "each event comes nearer once");
        NS_TEST_ASSERT_MSG_EQ(Simulator::GetEventCount() - before, 2, "one event for each time");
    }

    void ServesWhatIsPlannedForNowBeforeTheEnd()
    {
        const SimulatorSession session(1);
        Diary diary;
        diary.LetFollow({10, 30});
        diary.LetPassPlan({10});
        diary.agenda.Plan(10, 1);
        Simulator::Run();
        NS_TEST_ASSERT_MSG_EQ(diary.text,
                              "1@10 2@10 pass@10 50@10 pass@10 served@10 2@30 pass@30 served@30 ",
                              "calls");
    }

    void ServesARequestWithoutAnEvent()
    {
        const SimulatorSession session(1);
        Diary diary;
        diary.agenda.RequestService(0);
        diary.agenda.RequestService(0);
        Simulator::Run();
        NS_TEST_ASSERT_MSG_EQ(diary.text, "pass@0 served@0 ", "calls");
    }

    void HandlesNothingAfterItIsClosed()
    {
        const SimulatorSession session(1);
        Diary diary;
        diary.agenda.Plan(10, Diary::STOP);
        diary.agenda.Plan(10, 2);
        Simulator::Run();
        NS_TEST_ASSERT_MSG_EQ(diary.text, "99@10 pass@10 served@10 ", "calls");
    }
};

const UnitTestSuite<AgendaTest> g_agendaTests(
    "agenda",
    {
        {"each time is served once, in the order of the times",
         &AgendaTest::ServesEachTimeOnceInTheOrderOfTheTimes},
        {"what is planned for now comes before the end of the service",
         &AgendaTest::ServesWhatIsPlannedForNowBeforeTheEnd},
        {"a request is served without an event", &AgendaTest::ServesARequestWithoutAnEvent},
        {"a closed agenda handles nothing", &AgendaTest::HandlesNothingAfterItIsClosed},
    });

} // namespace

} // namespace cosim
