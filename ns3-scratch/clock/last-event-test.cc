/*
 * SPDX-License-Identifier: GPL-2.0-only
 */

#include "clock/last-event.h"
#include "clock/simulator-session.h"
#include "support/unit-test.h"

#include "ns3/simulator.h"

#include <string>

namespace cosim
{

namespace
{

using ns3::Simulator;
using ns3::TimeStep;

/// @return what happens when usual events and last events of both turns are mixed
std::string
RunMixed()
{
    const SimulatorSession session(1);
    std::string notes;
    LastEvent send(LastEvent::Turn::SEND, [&notes] { notes += "S"; });
    LastEvent choose(LastEvent::Turn::CHOOSE, [&notes] {
        notes += "C";
        if (notes == "abcC")
        {
            Simulator::ScheduleNow([&notes] { notes += "d"; });
        }
    });
    Simulator::Schedule(TimeStep(5), [&] {
        notes += "a";
        send.Request();
        choose.Request();
        Simulator::ScheduleNow([&] {
            notes += "c";
            send.Request();
        });
    });
    Simulator::Schedule(TimeStep(5), [&notes] { notes += "b"; });
    Simulator::Schedule(TimeStep(6), [&] {
        notes += "e";
        choose.Request();
    });
    Simulator::Run();
    return notes;
}

class LastEventTest : public UnitTest<LastEventTest>
{
  public:
    using UnitTest::UnitTest;

    void FollowsAllOthers()
    {
        NS_TEST_ASSERT_MSG_EQ(RunMixed(), "abcCdSeC", "once for all requests, the choice first");
    }
};

const UnitTestSuite<LastEventTest> g_lastEventTests(
    "last-event",
    {
        {"last events follow all others of their time", &LastEventTest::FollowsAllOthers},
    });

} // namespace

} // namespace cosim
