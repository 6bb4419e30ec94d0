/*
 * SPDX-License-Identifier: GPL-2.0-only
 */

#include "clock/simulator-session.h"
#include "simulation/simulation.h"
#include "support/unit-test.h"

#include "ns3/fatal-error.h"

#include <chrono>
#include <string>

namespace cosim
{

namespace
{

/// @return a stream with two computations of a single rank, one after the other
Stream
MakeStream()
{
    Stream stream;
    stream.header.seed = 1;
    stream.settings.fabric = "analytical";
    stream.settings.system.concurrentChunks = {1};
    stream.topology.ranks = 1;
    stream.topology.nodes = 1;
    stream.topology.dimensions = {"scale_out"};
    stream.topology.pathBegin = {0};
    Trace trace;
    trace.ranks = {0};
    trace.layers = {"layer"};
    trace.names = {"first", "second"};
    trace.type = {NodeType::COMPUTE, NodeType::COMPUTE};
    trace.layer = trace.iteration = trace.collective = trace.peer = {0, 0};
    trace.durationPs = {1000, 2000};
    trace.bytes = trace.tag = {0, 0};
    trace.depBegin = {0, 0, 1};
    trace.dep = {0};
    stream.traces.push_back(trace);
    return stream;
}

/// Fails as ns-3 does when the second computation ends.
class FailingObserver : public RunObserver
{
  public:
    uint32_t GetKinds() const override
    {
        return NODES;
    }

    void OnNodeEnded(const NodeEvent& event) override
    {
        if (event.node == 1)
        {
            NS_FATAL_ERROR("nothing works");
        }
    }
};

class SimulationTest : public UnitTest<SimulationTest>
{
  public:
    using UnitTest::UnitTest;

    void RunsToTheEnd()
    {
        Simulation simulation(MakeStream());
        simulation.Build();
        const std::string status = simulation.Run({}, std::chrono::seconds(1));
        NS_TEST_ASSERT_MSG_EQ(status, "complete", "no error");
    }

    /// The last case, because ns-3 cannot be used again in this process.
    void KeepsThePartialResultOfAFatalError()
    {
        FailingObserver failing;
        Simulation simulation(MakeStream());
        simulation.Observe(failing);
        simulation.Build();
        const std::string status = simulation.Run({}, std::chrono::seconds(1));
        NS_TEST_ASSERT_MSG_EQ(status, "failed", "the run ends");
        const std::string result = simulation.GetResult();
        NS_TEST_ASSERT_MSG_NE(result.find("ns-3 cannot continue: msg=\\\"nothing works\\\""),
                              std::string::npos,
                              result);
        NS_TEST_ASSERT_MSG_NE(result.find("\"time_ns\":3,"), std::string::npos, result);
        simulation.Close();
        std::string error;
        try
        {
            const SimulatorSession again(1);
        }
        catch (const CoreError& caught)
        {
            error = caught.what();
        }
        NS_TEST_ASSERT_MSG_NE(error.find("start another process"), std::string::npos, error);
    }
};

const UnitTestSuite<SimulationTest> g_simulationTests(
    "simulation",
    {
        {"a run without an error", &SimulationTest::RunsToTheEnd},
        {"a fatal error of ns-3", &SimulationTest::KeepsThePartialResultOfAFatalError},
    });

} // namespace

} // namespace cosim
