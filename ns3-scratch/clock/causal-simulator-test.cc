/*
 * SPDX-License-Identifier: GPL-2.0-only
 */

#include "clock/causal-simulator.h"
#include "clock/simulator-session.h"
#include "support/unit-test.h"

#include "ns3/event-id.h"
#include "ns3/make-event.h"
#include "ns3/object-factory.h"
#include "ns3/simulator.h"

#include <functional>
#include <memory>
#include <random>
#include <vector>

namespace cosim
{

namespace
{

using ns3::Simulator;
using ns3::TimeStep;

/**
 * Runs events that schedule, cancel and remove other events at random, and records their order and
 * which events they find pending.
 */
class RandomEvents
{
  public:
    /// @param seed determines the events
    explicit RandomEvents(uint32_t seed)
        : m_random(seed)
    {
    }

    /// @return the numbers of the events in the order in which they ran, each followed by -1 if a
    /// random event was pending then
    std::vector<int> Run()
    {
        for (int i = 0; i < 20; ++i)
        {
            Add();
        }
        Simulator::Run();
        return m_order;
    }

  private:
    void Add()
    {
        const int number = m_added++;
        // Use few different times, including the current time, so that most events share their
        // time.
        m_events.push_back(Simulator::Schedule(TimeStep(Draw(m_random, 4)), [this, number] {
            m_order.push_back(number);
            for (uint32_t i = Draw(m_random, 4); i > 0 && m_added < 2000; --i)
            {
                Add();
            }
            const ns3::EventId other = m_events[Draw(m_random, m_events.size())];
            if (other.IsPending())
            {
                m_order.push_back(-1);
            }
            if (Draw(m_random, 16) == 0)
            {
                Simulator::Remove(other);
            }
            else if (Draw(m_random, 16) == 0)
            {
                Simulator::Cancel(other);
            }
        }));
    }

    std::mt19937 m_random;
    int m_added{0};
    std::vector<ns3::EventId> m_events;
    std::vector<int> m_order;
};

class CausalSimulatorTest : public UnitTest<CausalSimulatorTest>
{
  public:
    using UnitTest::UnitTest;

    void AgreesWithNs3()
    {
        for (uint32_t seed = 1; seed <= 20; ++seed)
        {
            std::vector<int> ours;
            std::vector<int> theirs;
            {
                const SimulatorSession session(1);
                ours = RandomEvents(seed).Run();
            }
            {
                const SimulatorSession session(1);
                Simulator::Destroy(); // the next call makes a simulator of ns-3
                Simulator::SetScheduler(ns3::ObjectFactory("ns3::PriorityQueueScheduler"));
                theirs = RandomEvents(seed).Run();
            }
            NS_TEST_ASSERT_MSG_GT(ours.size(), 20, "events schedule others, seed " << seed);
            NS_TEST_ASSERT_MSG_EQ(Join(ours), Join(theirs), "seed " << seed);
        }
    }

    void OrdersByOrigin()
    {
        const SimulatorSession session(1);
        CausalSimulator& simulator = CausalSimulator::Get();
        std::vector<std::string> order;
        const auto note = [&order](const char* name) {
            return [&order, name] { order.push_back(name); };
        };
        const auto schedule = [&](int64_t delay, const char* name, const EventOrigin& origin) {
            const ns3::Ptr<ns3::EventImpl> event(ns3::MakeEvent(std::function<void()>(note(name))),
                                                 false);
            simulator.Schedule(simulator.GetNowPs() + delay, PeekPointer(event), origin);
        };
        Simulator::Schedule(TimeStep(10), note("plain, scheduled at 0"));
        Simulator::Schedule(TimeStep(5), [&] {
            const EventOrigin early = simulator.MakeOrigin();
            Simulator::Schedule(TimeStep(5), note("plain, scheduled at 5"));
            schedule(5, "scheduled at 5 before it", early);
            schedule(5, "as if scheduled at 4", {4, 0, simulator.TakeNumber()});
            schedule(5, "as if scheduled at 7, cause 1", {7, 1, simulator.TakeNumber()});
            schedule(4, "earlier", {8, 8, simulator.TakeNumber()});
        });
        Simulator::Schedule(TimeStep(7), [&] {
            Simulator::Schedule(TimeStep(3), note("plain, scheduled at 7, cause 0"));
        });
        Simulator::Run();
        NS_TEST_ASSERT_MSG_EQ(Join(order),
                              "earlier "
                              "plain, scheduled at 0 "
                              "as if scheduled at 4 "
                              "scheduled at 5 before it "
                              "plain, scheduled at 5 "
                              "plain, scheduled at 7, cause 0 "
                              "as if scheduled at 7, cause 1",
                              "by time, then scheduled, then cause, then number");
    }

    void KnowsTheOriginOfTheEventThatRuns()
    {
        const SimulatorSession session(1);
        CausalSimulator& simulator = CausalSimulator::Get();
        Simulator::Schedule(TimeStep(3), [&] {
            Simulator::Schedule(TimeStep(4), [&] {
                NS_TEST_ASSERT_MSG_EQ(simulator.GetCurrent().scheduledPs, 3, "scheduled at 3");
                NS_TEST_ASSERT_MSG_EQ(simulator.GetCurrent().causePs, 0, "by one scheduled at 0");
                NS_TEST_ASSERT_MSG_EQ(simulator.MakeOrigin().scheduledPs, 7, "now");
                NS_TEST_ASSERT_MSG_EQ(simulator.MakeOrigin().causePs, 3, "by this one");
            });
        });
        Simulator::Run();
        NS_TEST_ASSERT_MSG_EQ(Simulator::Now().GetTimeStep(), 7, "both ran");
    }

    void AdvancesOnlyBeforeTheNextEvent()
    {
        const SimulatorSession session(1);
        CausalSimulator& simulator = CausalSimulator::Get();
        Simulator::Schedule(TimeStep(10), [] {});
        Simulator::Schedule(TimeStep(3), [&] {
            const uint64_t before = Simulator::GetEventCount();
            NS_TEST_ASSERT_MSG_EQ(simulator.Advance(7), false, "another event comes at that time");
            NS_TEST_ASSERT_MSG_EQ(simulator.Advance(9), false, "or before");
            NS_TEST_ASSERT_MSG_EQ(simulator.GetNowPs(), 3, "the time has not changed");
            NS_TEST_ASSERT_MSG_EQ(simulator.Advance(6), true, "no event comes by then");
            NS_TEST_ASSERT_MSG_EQ(simulator.GetNowPs(), 9, "the new time");
            NS_TEST_ASSERT_MSG_EQ(Simulator::GetEventCount() - before, 1, "it is an event");
            NS_TEST_ASSERT_MSG_EQ(simulator.GetCurrent().scheduledPs, 3, "scheduled at 3");
            Simulator::Schedule(TimeStep(0), [&] { Simulator::Stop(); });
        });
        Simulator::Run();
        NS_TEST_ASSERT_MSG_EQ(simulator.GetNowPs(), 9, "an event can still come before the other");
        NS_TEST_ASSERT_MSG_EQ(simulator.Advance(0), false, "the simulator has stopped");
    }

    void WatchesWithoutKeepingOn()
    {
        const SimulatorSession session(1);
        CausalSimulator& simulator = CausalSimulator::Get();
        std::vector<std::string> order;
        const auto note = [&order](const char* name) {
            return [&order, name] { order.push_back(name); };
        };
        Simulator::Schedule(TimeStep(5), note("event at 5"));
        Simulator::Schedule(TimeStep(9), note("event at 9"));
        simulator.Watch(5, note("watch at 5"));
        simulator.Watch(5, note("second watch at 5"));
        const uint64_t ended = simulator.Watch(6, note("ended"));
        simulator.Watch(7, [&] {
            NS_TEST_ASSERT_MSG_EQ(simulator.GetNowPs(), 7, "it sees its own time");
            NS_TEST_ASSERT_MSG_EQ(simulator.Advance(1), true, "no event and no watch by 8");
            simulator.Watch(100, note("after the last event"));
        });
        simulator.Watch(3, [&] {
            NS_TEST_ASSERT_MSG_EQ(simulator.Advance(2), false, "a watch comes by then");
            simulator.Unwatch(ended);
        });
        Simulator::Run();
        NS_TEST_ASSERT_MSG_EQ(Join(order),
                              "watch at 5 second watch at 5 event at 5 event at 9",
                              "watches come before the events of their time");
        NS_TEST_ASSERT_MSG_EQ(simulator.GetNowPs(), 9, "the last event ends the run");
        NS_TEST_ASSERT_MSG_EQ(Simulator::GetEventCount(), 3, "two events and an advance");
    }

    void RunsAPartAsideFromAnEarlierTime()
    {
        const SimulatorSession session(1);
        CausalSimulator& simulator = CausalSimulator::Get();
        std::vector<std::string> order;
        const auto note = [&](const std::string& name) {
            return [&order, &simulator, name] {
                order.push_back(name + " at " + std::to_string(simulator.GetNowPs()));
            };
        };
        Simulator::Schedule(TimeStep(12), note("outside"));
        Simulator::Schedule(TimeStep(10), [&] {
            {
                CausalSimulator::Aside aside(simulator, 2);
                Simulator::Schedule(TimeStep(1), note("first"));
                aside.RunTo(5);
                NS_TEST_ASSERT_MSG_EQ(simulator.GetNowPs(), 5, "the clock is set back");
                NS_TEST_ASSERT_MSG_EQ(simulator.MakeOrigin().causePs, 5, "nothing is later at 5");
                Simulator::Schedule(TimeStep(5), note("present"));
                Simulator::Schedule(TimeStep(6), note("rest"));
                Simulator::Schedule(TimeStep(8), note("last"));
                aside.RunTo(aside.GetPresentPs());
            }
            note("back")();
        });
        Simulator::Run();
        NS_TEST_ASSERT_MSG_EQ(
            Join(order),
            "first at 3 present at 10 back at 10 rest at 11 outside at 12 last at 13",
            "what is left takes its place");
    }

    /// A watch comes before the events of its time, and after the queue has looked at the next one.
    void RunsAPartAsideOfAWatch()
    {
        const SimulatorSession session(1);
        CausalSimulator& simulator = CausalSimulator::Get();
        std::vector<std::string> order;
        const auto note = [&order](const char* name) {
            return [&order, name] { order.push_back(name); };
        };
        Simulator::Schedule(TimeStep(100), note("at 100"));
        Simulator::Schedule(TimeStep(65), note("at 65"));
        simulator.Watch(20, [&] {
            CausalSimulator::Aside aside(simulator, 5);
            Simulator::Schedule(TimeStep(14), note("at 19"));
            Simulator::Schedule(TimeStep(15), note("at 20"));
            Simulator::Schedule(TimeStep(61), note("at 66"));
            aside.RunTo(20);
            note("watch")();
        });
        Simulator::Run();
        NS_TEST_ASSERT_MSG_EQ(Join(order),
                              "at 19 watch at 20 at 65 at 66 at 100",
                              "nothing of the time of the watch has happened");
    }

    void CallsAsIfItWereEarlier()
    {
        const SimulatorSession session(1);
        CausalSimulator& simulator = CausalSimulator::Get();
        Simulator::Schedule(TimeStep(5), [&] {
            simulator.CallAsAt(2, [&] {
                NS_TEST_ASSERT_MSG_EQ(Simulator::Now().GetTimeStep(), 2, "the earlier time");
            });
            NS_TEST_ASSERT_MSG_EQ(Simulator::Now().GetTimeStep(), 5, "the time goes on as before");
        });
        Simulator::Run();
    }
};

const UnitTestSuite<CausalSimulatorTest> g_causalSimulatorTests(
    "causal-simulator",
    {
        {"events run in the order of ns-3's own scheduler", &CausalSimulatorTest::AgreesWithNs3},
        {"at one time, an event's origin gives its place", &CausalSimulatorTest::OrdersByOrigin},
        {"an event knows when it and its cause were scheduled",
         &CausalSimulatorTest::KnowsTheOriginOfTheEventThatRuns},
        {"the clock advances without an event up to the next one",
         &CausalSimulatorTest::AdvancesOnlyBeforeTheNextEvent},
        {"a watch looks at the simulation and does not keep it running",
         &CausalSimulatorTest::WatchesWithoutKeepingOn},
        {"a part runs aside from an earlier time",
         &CausalSimulatorTest::RunsAPartAsideFromAnEarlierTime},
        {"a part runs aside while a watch looks", &CausalSimulatorTest::RunsAPartAsideOfAWatch},
        {"a function can be called as if it were earlier",
         &CausalSimulatorTest::CallsAsIfItWereEarlier},
    });

} // namespace

} // namespace cosim
