/*
 * SPDX-License-Identifier: GPL-2.0-only
 */

#ifndef COSIM_SIMULATION_H
#define COSIM_SIMULATION_H

#include "circuits/circuit-switch.h"
#include "circuits/link-events.h"
#include "clock/last-event.h"
#include "clock/simulator-session.h"
#include "network/fabric.h"
#include "network/run-observers.h"
#include "results/critical-path.h"
#include "results/result-writer.h"
#include "results/run-record.h"
#include "results/series-writer.h"
#include "results/table-writer.h"
#include "results/timeline.h"
#include "simulation/progress-reports.h"
#include "stream/stream.h"
#include "symmetry/folding.h"
#include "workload/background-traffic.h"
#include "workload/job-failures.h"
#include "workload/trace-executor.h"

#include "ns3/event-id.h"

#include <chrono>
#include <cstdint>
#include <memory>
#include <string>
#include <vector>

namespace cosim
{

/**
 * One run of a stream, from its records to its result. Call Observe, Build, Run, GetResult and
 * Close in this order.
 */
class Simulation : public WorkloadListener
{
  public:
    /// @param stream the stream to run; it must be validated
    explicit Simulation(Stream stream);
    ~Simulation() override;

    Simulation(const Simulation&) = delete;
    Simulation& operator=(const Simulation&) = delete;

    /**
     * @param observer receives the events of the run; must outlive the run. Call this before Build.
     */
    void Observe(RunObserver& observer);

    /// Record the critical path of each iteration for the result. Call this before Build.
    void RecordCriticalPath();

    /**
     * Write a timeline while the run lasts. Call this before Build.
     *
     * @param options what it shows
     * @param sink receives the text of the file, and tells how large the file is
     * @throws std::invalid_argument if a rank does not exist
     */
    void WriteTimeline(const TimelineOptions& options, TextSink sink);

    /**
     * Sample links and flows while the run lasts. Call this before Build.
     *
     * @param options what to sample
     * @param links receives the rows of links
     * @param flows receives the rows of flows
     * @throws std::invalid_argument if a link or a flow does not exist
     */
    void WriteSeries(const SeriesOptions& options, TextSink links, TextSink flows);

    /**
     * Create the nodes, links and connections. Afterwards the ns-3 objects exist.
     *
     * @throws std::invalid_argument if the stream names an unknown fabric or congestion control
     * @throws CoreError if it was called before, if another Simulation or Network is open in this
     * process, or if ns-3 fails
     */
    void Build();

    /**
     * Run the workload to its end.
     *
     * @param hook receives the progress; may be empty. If it throws, the run is interrupted and the
     * exception passes through.
     * @param interval the shortest wall time between two calls of the hook
     * @return "complete", "interrupted", "deadlock", "failed" or "time_limit"
     * @throws CoreError if the simulation has run before, is not built, or is closed
     */
    std::string Run(const ProgressHook& hook, std::chrono::duration<double> interval);

    /**
     * @return the result as JSON text; it is partial unless the run is complete
     * @throws CoreError before Build and after Close
     */
    std::string GetResult() const;

    /**
     * @return the tables of links, flows and completion times as CSV text
     * @throws CoreError before Build and after Close
     */
    ResultTables GetTables() const;

    /// Destroy the simulator and all its objects. Further calls have no effect.
    void Close();

    void OnWorkloadDone() override;
    void OnWorkloadDeadlock(const std::string& report) override;
    void OnWorkloadError(const std::string& error) override;

  private:
    void MakeRecord();
    void BuildNetwork();
    void BuildWhole();
    void DestroyNetwork();
    void RunEvents();
    void WatchTimeLimit();
    void Abandon();
    void OnTimeLimit();
    std::string DescribeStall() const;
    void End(const std::string& status, const std::string& error);
    void Poll();
    RunProgress GetProgress() const;

    Stream m_stream;
    std::unique_ptr<FoldedStream> m_folded; //!< null if single ranks are looked at
    std::vector<RunObserver*> m_others;     //!< observers that are not of m_record
    RunObservers m_observers;               //!< all of them, from Build on
    std::unique_ptr<RunRecord> m_record;
    bool m_wantsPath{false};
    std::unique_ptr<CriticalPath> m_path;   //!< null unless it is recorded
    std::unique_ptr<Timeline> m_timeline;   //!< null unless it is written
    std::unique_ptr<SeriesWriter> m_series; //!< null unless it is written
    std::unique_ptr<SimulatorSession> m_session;
    std::unique_ptr<Fabric> m_fabric;
    std::unique_ptr<BackgroundTraffic> m_background;
    std::unique_ptr<LinkEvents> m_events;      //!< null if no event changes links
    std::unique_ptr<CircuitSwitch> m_circuits; //!< null if the links do not change
    std::unique_ptr<TraceExecutor> m_executor;
    std::unique_ptr<JobFailures> m_failures;
    RunOutcome m_outcome;
    bool m_hasRun{false};
    bool m_isClosed{false};
    bool m_isAbandoned{false}; //!< ns-3 has failed in the middle of an event
    ProgressReports m_reports;
    LastEvent m_done{LastEvent::Turn::END, [this] { End("complete", ""); }};
    uint64_t m_timeLimit{0}; //!< watch at the end of the time that can be simulated
};

} // namespace cosim

#endif // COSIM_SIMULATION_H
