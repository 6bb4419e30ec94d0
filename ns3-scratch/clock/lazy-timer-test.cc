/*
 * SPDX-License-Identifier: GPL-2.0-only
 */

#include "clock/causal-simulator.h"
#include "clock/lazy-timer.h"
#include "clock/simulator-session.h"
#include "support/unit-test.h"

#include "ns3/simulator.h"

#include <functional>
#include <string>
#include <utility>
#include <vector>

namespace cosim
{

namespace
{

using ns3::Simulator;
using ns3::TimeStep;

/// A timer that calls a function.
class CallingTimer final : public LazyTimer
{
  public:
    /// @param expired called on expiry
    explicit CallingTimer(std::function<void()> expired)
        : LazyTimer(CausalSimulator::Get()),
          m_expired(std::move(expired))
    {
    }

  private:
    // LazyTimer
    void OnExpiry() override
    {
        m_expired();
    }

    std::function<void()> m_expired;
};

class LazyTimerTest : public UnitTest<LazyTimerTest>
{
  public:
    using UnitTest::UnitTest;

    void ExpiresWhenItWasArmedLastFor()
    {
        const SimulatorSession session(1);
        std::vector<int64_t> expiries;
        CallingTimer timer([&] { expiries.push_back(Simulator::Now().GetTimeStep()); });
        timer.Arm(TimeStep(10));
        // re-arm for a later time
        Simulator::Schedule(TimeStep(5), [&] { timer.Arm(TimeStep(20)); });
        Simulator::Schedule(TimeStep(12), [&] {
            NS_TEST_ASSERT_MSG_EQ(timer.IsArmed(), true, "pushed back");
            NS_TEST_ASSERT_MSG_EQ(timer.GetDelayLeft().GetTimeStep(), 13, "until 25");
            timer.Arm(TimeStep(3)); // re-arm for an earlier time
        });
        Simulator::Schedule(TimeStep(30), [&] {
            NS_TEST_ASSERT_MSG_EQ(timer.IsArmed(), false, "it expires once");
            timer.Arm(TimeStep(0)); // re-arm for the current time
        });
        Simulator::Run();
        NS_TEST_ASSERT_MSG_EQ(Join(expiries), "15 30", "times of expiry");
    }

    void IsArmedAgainOnExpiry()
    {
        const SimulatorSession session(1);
        std::vector<int64_t> expiries;
        CallingTimer timer([&] {
            NS_TEST_ASSERT_MSG_EQ(timer.IsArmed(), false, "it has expired");
            expiries.push_back(Simulator::Now().GetTimeStep());
            if (expiries.size() < 4)
            {
                timer.Arm(TimeStep(static_cast<uint64_t>(10 * expiries.size())));
            }
        });
        timer.Arm(TimeStep(10));
        Simulator::Run();
        NS_TEST_ASSERT_MSG_EQ(Join(expiries), "10 20 40 70", "times of expiry");
    }

    void DoesNotExpireWhenCancelled()
    {
        const SimulatorSession session(1);
        std::vector<int64_t> expiries;
        CallingTimer timer([&] { expiries.push_back(Simulator::Now().GetTimeStep()); });
        timer.Arm(TimeStep(10));
        Simulator::Schedule(TimeStep(5), [&] {
            timer.Cancel();
            timer.Cancel();
            NS_TEST_ASSERT_MSG_EQ(timer.IsArmed(), false, "cancelled");
        });
        Simulator::Schedule(TimeStep(20), [&] { timer.Arm(TimeStep(20)); });
        Simulator::Schedule(TimeStep(25), [&] { timer.Cancel(); });
        Simulator::Schedule(TimeStep(26), [&] { timer.Arm(TimeStep(7)); });
        Simulator::Run();
        NS_TEST_ASSERT_MSG_EQ(Join(expiries), "33", "only what was armed last");
    }

    void DoesNotKeepTheClockRunning()
    {
        const SimulatorSession session(1);
        CallingTimer timer([] {});
        Simulator::Schedule(TimeStep(3), [&] { timer.Arm(TimeStep(20)); });
        Simulator::Schedule(TimeStep(5), [&] { timer.Cancel(); });
        const ns3::EventId other = Simulator::Schedule(TimeStep(30), [] {}); // of ns-3 itself
        Simulator::Schedule(TimeStep(7), [&] { Simulator::Cancel(other); });
        Simulator::Run();
        NS_TEST_ASSERT_MSG_EQ(Simulator::Now().GetTimeStep(), 7, "the last event that did a thing");
    }

    void LeavesNoEventsBehind()
    {
        const SimulatorSession session(1);
        int expired = 0;
        CallingTimer timer([&] { ++expired; });
        for (uint64_t i = 0; i < 1000; ++i)
        { // re-arm as on every ACK
            Simulator::Schedule(TimeStep(i), [&] { timer.Arm(TimeStep(5000)); });
        }
        Simulator::Run();
        NS_TEST_ASSERT_MSG_EQ(expired, 1, "expiries");
        NS_TEST_ASSERT_MSG_EQ(Simulator::Now().GetTimeStep(), 5999, "after the last time armed");
        NS_TEST_ASSERT_MSG_EQ(Simulator::GetEventCount(),
                              1002,
                              "1000 of this test and 2 of its own");
    }

    void KeepsItsPlaceAmongEqualTimes()
    {
        for (const uint64_t before : {10, 20})
        { // armed before for an earlier time, and for the same time
            const SimulatorSession session(1);
            std::vector<std::string> order;
            CallingTimer timer([&] { order.push_back("timer"); });
            timer.Arm(TimeStep(before));
            Simulator::Schedule(TimeStep(5), [&] {
                Simulator::Schedule(TimeStep(15), [&] { order.push_back("5"); });
            });
            Simulator::Schedule(TimeStep(6), [&] { timer.Arm(TimeStep(14)); });
            Simulator::Schedule(TimeStep(7), [&] {
                Simulator::Schedule(TimeStep(13), [&] { order.push_back("7"); });
            });
            Simulator::Run();
            NS_TEST_ASSERT_MSG_EQ(Join(order), "5 timer 7", "armed at 6, before for " << before);
        }
    }
};

const UnitTestSuite<LazyTimerTest> g_lazyTimerTests(
    "lazy-timer",
    {
        {"it expires once, when it was armed last for",
         &LazyTimerTest::ExpiresWhenItWasArmedLastFor},
        {"it can be armed where it expires", &LazyTimerTest::IsArmedAgainOnExpiry},
        {"a cancelled timer does not expire", &LazyTimerTest::DoesNotExpireWhenCancelled},
        {"a cancelled timer does not keep the clock running",
         &LazyTimerTest::DoesNotKeepTheClockRunning},
        {"arming it again costs no event", &LazyTimerTest::LeavesNoEventsBehind},
        {"among events of one time it stands where it was armed last",
         &LazyTimerTest::KeepsItsPlaceAmongEqualTimes},
    });

} // namespace

} // namespace cosim
