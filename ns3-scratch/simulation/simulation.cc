/*
 * SPDX-License-Identifier: GPL-2.0-only
 */

#include "simulation/simulation.h"

#include "clock/causal-simulator.h"
#include "clock/fatal-errors.h"
#include "fabrics/registry.h"
#include "simulation/stall-report.h"
#include "stream/stream-validator.h"

#include "ns3/simulator.h"

#include <exception>
#include <stdexcept>
#include <string>
#include <utility>

namespace cosim
{

namespace
{

/// Free the memory of the steps of programs, which can be large. The executor has copied them.
void
FreePrograms(Stream& stream)
{
    for (Program& program : stream.programs)
    {
        for (auto* steps : {&program.stepBegin,
                            &program.phase,
                            &program.peer,
                            &program.offset,
                            &program.count,
                            &program.target,
                            &program.depBegin,
                            &program.dep,
                            &program.route,
                            &program.offsetTurn,
                            &program.targetTurn})
        {
            *steps = {};
        }
        program.op = {};
    }
}

} // namespace

Simulation::Simulation(Stream stream)
    : m_stream(std::move(stream))
{
}

Simulation::~Simulation()
{
    Close();
}

void
Simulation::Observe(RunObserver& observer)
{
    m_others.push_back(&observer);
}

void
Simulation::RecordCriticalPath()
{
    m_wantsPath = true;
}

void
Simulation::WriteTimeline(const TimelineOptions& options, TextSink sink)
{
    for (const Rank rank : options.ranks)
    {
        if (rank >= m_stream.topology.ranks)
        {
            throw std::invalid_argument("the timeline shows rank " + std::to_string(rank) +
                                        ", but ranks are 0 … " +
                                        std::to_string(m_stream.topology.ranks - 1));
        }
    }
    m_timeline = std::make_unique<Timeline>(m_stream, options, std::move(sink));
    for (RunObserver* observer : m_timeline->GetObservers())
    {
        Observe(*observer);
    }
}

void
Simulation::WriteSeries(const SeriesOptions& options, TextSink links, TextSink flows)
{
    m_series = std::make_unique<SeriesWriter>(m_stream.topology,
                                              options,
                                              std::move(links),
                                              std::move(flows));
    Observe(m_series->GetSampler());
}

void
Simulation::Build()
{
    if (m_session || m_isClosed)
    {
        throw CoreError("a Simulation is built only once");
    }
    if (m_others.empty() && !m_wantsPath)
    { // nobody asks what single ranks do
        m_folded = std::make_unique<FoldedStream>(m_stream);
    }
    MakeRecord();
    m_session = std::make_unique<SimulatorSession>(m_stream.header.seed);
    std::string error;
    try
    {
        error = CatchFatalErrors([this] { BuildNetwork(); });
    }
    catch (...)
    {
        Close();
        throw;
    }
    if (!error.empty())
    {
        Abandon();
        throw CoreError("ns-3 cannot build the network: " + error);
    }
    if (!m_stream.topology.folding.Exists())
    {
        FreePrograms(m_stream);
    }
    m_outcome.status = "interrupted"; // the status until the run has ended
    m_outcome.events = ns3::Simulator::GetEventCount();
}

/// Make the observers that record the data for the result.
void
Simulation::MakeRecord()
{
    m_observers = {};
    m_record = std::make_unique<RunRecord>(m_stream, m_observers);
    for (RunObserver* observer : m_others)
    {
        m_observers.Add(*observer);
    }
}

/// Build everything again, for all ranks.
void
Simulation::BuildWhole()
{
    DestroyNetwork();
    m_folded->Restore();
    m_folded.reset();
    MakeRecord();
    m_session = std::make_unique<SimulatorSession>(m_stream.header.seed);
    BuildNetwork();
    FreePrograms(m_stream);
}

void
Simulation::BuildNetwork()
{
    m_fabric = MakeFabric(m_stream.topology, m_stream.settings);
    if (m_wantsPath)
    {
        m_path = std::make_unique<CriticalPath>(m_stream, m_fabric->GetLiveLinks());
        m_observers.Add(*m_path);
    }
    if (m_series)
    {
        m_series->GetSampler().SetFabric(m_fabric.get());
    }
    if (m_timeline)
    {
        m_timeline->SetFabric(m_fabric.get());
    }
    m_circuits = MakeCircuitSwitch(m_stream.topology, *m_fabric, m_observers);
    m_fabric->Start();
    m_events = MakeLinkEvents(m_stream.topology, *m_fabric, m_observers);
    m_fabric->SetObservers(m_observers);
    m_background = std::make_unique<BackgroundTraffic>(m_stream.topology, *m_fabric, m_observers);
    m_executor = std::make_unique<TraceExecutor>(m_stream, *m_fabric, m_observers, *this);
    m_failures =
        std::make_unique<JobFailures>(m_stream.topology, *m_fabric, *m_executor, m_observers);
}

void
Simulation::WatchTimeLimit()
{
    const uint64_t limit = m_stream.settings.timeLimitPs;
    const ns3::Time end(static_cast<int64_t>(limit == 0 ? MAX_TIME_PS : limit));
    CausalSimulator& simulator = CausalSimulator::Get();
    m_timeLimit =
        simulator.Watch(simulator.GetNowPs() + (end - m_fabric->SimGetTime()).GetTimeStep(),
                        [this] { OnTimeLimit(); });
}

std::string
Simulation::Run(const ProgressHook& hook, std::chrono::duration<double> interval)
{
    if (!m_executor || m_hasRun)
    {
        throw CoreError(m_hasRun
                            ? "a Simulation runs only once"
                            : "a Simulation runs only after it is built and before it is closed");
    }
    m_hasRun = true;
    m_reports.Start(hook, interval);
    RunEvents();
    if (m_stream.topology.folding.Exists() && m_outcome.status != "interrupted" &&
        (m_outcome.status != "complete" || m_fabric->IsAmbiguous()))
    { // what ranks do in the same picosecond matters, or what is wrong with single ones
        BuildWhole();
        RunEvents();
    }
    CausalSimulator::Get().SetPollHook({});
    if (m_timeline)
    {
        m_timeline->Finish(m_outcome.timePs);
    }
    if (m_series)
    {
        m_series->Finish();
    }
    if (m_reports.IsWanted())
    {
        m_reports.Report(GetProgress());
    }
    m_reports.Finish();
    return m_outcome.status;
}

/// Run all events, and note how the run has ended.
void
Simulation::RunEvents()
{
    CausalSimulator::Get().SetPollHook([this] { Poll(); });
    WatchTimeLimit();
    ns3::Simulator::ScheduleNow(&TraceExecutor::Start, m_executor.get());
    m_background->Start();
    m_failures->Start();
    m_outcome = {};
    try
    {
        const std::string error = CatchFatalErrors([] { ns3::Simulator::Run(); });
        if (!error.empty())
        {
            m_isAbandoned = true;
            End("failed", "ns-3 cannot continue: " + error);
        }
    }
    catch (const std::invalid_argument& error)
    { // messages of the workload do not match
        End("failed", error.what());
    }
    catch (const std::exception& error)
    {
        End("failed", error.what());
        throw;
    }
    if (m_outcome.status.empty())
    { // no event is left, or a failed fabric has stopped the simulator
        const std::string failure = m_fabric->GetFailure();
        End(failure.empty() ? "deadlock" : "failed",
            failure.empty() ? "no event is left: " + DescribeStall() : failure);
    }
}

std::string
Simulation::GetResult() const
{
    if (!m_executor)
    {
        throw CoreError("a Simulation has a result only after it is built and before it is closed");
    }
    return WriteResult({m_stream,
                        m_outcome,
                        *m_record,
                        m_executor->GetAdmission(),
                        m_fabric->GetStatistics(),
                        m_path ? &m_path->GetRecord() : nullptr});
}

ResultTables
Simulation::GetTables() const
{
    if (!m_executor)
    {
        throw CoreError("a Simulation has tables only after it is built and before it is closed");
    }
    return WriteTables(m_stream.topology, *m_fabric, m_record->pauses, m_outcome.timePs);
}

void
Simulation::Close()
{
    m_isClosed = true;
    if (m_isAbandoned)
    {
        Abandon();
        return;
    }
    DestroyNetwork();
}

/// Destroy everything that BuildNetwork has built, and the session.
void
Simulation::DestroyNetwork()
{
    m_failures.reset();
    m_executor.reset();
    m_background.reset();
    m_events.reset();
    m_path.reset(); // it refers to the links of the fabric
    m_circuits.reset();
    m_fabric.reset();
    m_session.reset();
}

/// Keep everything that ns-3 was using when it failed. Its stack, which stays, refers to it.
void
Simulation::Abandon()
{
    m_isClosed = true;
    SimulatorSession::Keep(std::move(m_failures));
    SimulatorSession::Keep(std::move(m_executor));
    SimulatorSession::Keep(std::move(m_background));
    SimulatorSession::Keep(std::move(m_events));
    SimulatorSession::Keep(std::move(m_path));
    SimulatorSession::Keep(std::move(m_circuits));
    SimulatorSession::Keep(std::move(m_fabric));
    if (m_session)
    {
        SimulatorSession::Abandon(std::move(m_session));
    }
}

void
Simulation::OnWorkloadDone()
{
    m_done.Request(); // what else happens now counts, in whichever order it happens
}

void
Simulation::OnWorkloadDeadlock(const std::string& report)
{
    const std::string failure = m_fabric->GetFailure();
    End(failure.empty() ? "deadlock" : "failed",
        failure.empty() ? "no progress is possible: " + report : failure);
}

void
Simulation::OnWorkloadError(const std::string& error)
{
    End("failed", error);
}

void
Simulation::OnTimeLimit()
{
    const std::string failure = m_fabric->GetFailure();
    if (!failure.empty())
    {
        End("failed", failure);
    }
    else
    {
        const std::string limit = m_stream.settings.timeLimitPs != 0
                                      ? "the time limit is reached: "
                                      : "the run takes longer than the " +
                                            std::to_string(MAX_TIME_PS) +
                                            " ps (26.7 days) that can be simulated: ";
        End("time_limit", limit + m_executor->DescribeWaiting(0));
    }
}

/// @return why nothing happens any more
std::string
Simulation::DescribeStall() const
{
    return DescribeSmallWindow(m_stream, *m_fabric) + m_executor->DescribeWaiting();
}

void
Simulation::End(const std::string& status, const std::string& error)
{
    if (!m_outcome.status.empty())
    {
        return; // the run has already ended, at the same time
    }
    m_outcome.status = status;
    m_outcome.error = error;
    m_outcome.timePs = static_cast<uint64_t>(m_fabric->SimGetTime().GetTimeStep());
    m_outcome.events = ns3::Simulator::GetEventCount();
    m_fabric->Finish();
    CausalSimulator::Get().Unwatch(m_timeLimit);
    ns3::Simulator::Stop();
}

void
Simulation::Poll()
{
    if (!m_outcome.status.empty() || !m_reports.IsDue())
    {
        return;
    }
    const std::string failure = m_fabric->GetFailure();
    if (!failure.empty())
    {
        End("failed", failure);
    }
    else if (m_reports.IsWanted() && !m_reports.Report(GetProgress()))
    {
        End("interrupted", "");
    }
}

RunProgress
Simulation::GetProgress() const
{
    RunProgress progress;
    progress.timeNs = static_cast<double>(m_fabric->SimGetTime().GetTimeStep()) / 1e3;
    progress.wallS = m_reports.GetWallS();
    progress.events = ns3::Simulator::GetEventCount();
    progress.packets = m_fabric->GetSentPackets();
    progress.deliveredBytes = m_fabric->GetDeliveredBytes();
    // What has been delivered of other traffic is not a part of the workload.
    progress.totalBytes = m_stream.topology.traffic.empty() ? m_executor->GetTotalBytes() : 0;
    return progress;
}

} // namespace cosim
