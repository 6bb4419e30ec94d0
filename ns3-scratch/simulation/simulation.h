/*
 * SPDX-License-Identifier: GPL-2.0-only
 */

#ifndef COSIM_SIMULATION_H
#define COSIM_SIMULATION_H

#include "circuits/circuit-switch.h"
#include "clock/simulator-session.h"
#include "network/fabric.h"
#include "network/run-observers.h"
#include "results/result-writer.h"
#include "results/run-record.h"
#include "stream/stream.h"
#include "workload/trace-executor.h"

#include "ns3/event-id.h"

#include <chrono>
#include <cstdint>
#include <exception>
#include <functional>
#include <memory>
#include <string>

namespace cosim
{

/// A snapshot of a run in progress.
struct RunProgress
{
    double timeNs{0};           //!< simulated time [ns]
    double wallS{0};            //!< wall time since the run began [s]
    uint64_t events{0};         //!< that ns-3 executed
    uint64_t deliveredBytes{0}; //!< payload delivered in order
    uint64_t totalBytes{0};     //!< payload of the whole workload
};

/**
 * One run of a stream, from its records to its result.
 */
class Simulation : public WorkloadListener
{
  public:
    /**
     * Called about every `interval` of wall time during a run, and once at its end.
     *
     * @return false to interrupt the run
     */
    using ProgressHook = std::function<bool(const RunProgress&)>;

    /// @param stream what to run; it was validated
    explicit Simulation(Stream stream);
    ~Simulation() override;

    Simulation(const Simulation&) = delete;
    Simulation& operator=(const Simulation&) = delete;

    /// @param observer hears of the run, which it must outlive; call it before Build
    void Observe(RunObserver& observer);

    /**
     * Make nodes, links and connections. After it, ns-3's objects exist.
     *
     * @throws std::invalid_argument if the stream names an unknown fabric or congestion control
     * @throws CoreError if it was called before, or another Simulation or Network is alive
     */
    void Build();

    /**
     * Run the workload to its end.
     *
     * @param hook is told the progress; may be empty. If it throws, the run is interrupted and the
     * exception passes through
     * @param interval the least wall time between two calls of the hook
     * @return "complete", "interrupted", "deadlock", "failed" or "time_limit"
     * @throws CoreError if it was run before or is closed
     */
    std::string Run(const ProgressHook& hook, std::chrono::duration<double> interval);

    /**
     * @return the result as JSON text; partial unless the run was complete
     * @throws CoreError before Build and after Close
     */
    std::string GetResult() const;

    /// Destroy the simulator and all of its objects. Nothing happens the second time.
    void Close();

    void OnWorkloadDone() override;
    void OnWorkloadDeadlock(const std::string& report) override;
    void OnWorkloadError(const std::string& error) override;
    void OnWorkloadActivity() override;

  private:
    void OnTimeLimit();
    void End(const std::string& status, const std::string& error);
    void Poll();
    RunProgress GetProgress() const;

    using Clock = std::chrono::steady_clock;

    Stream m_stream;
    RunObservers m_observers;
    RunRecord m_record;
    std::unique_ptr<SimulatorSession> m_session;
    std::unique_ptr<Fabric> m_fabric;
    std::unique_ptr<CircuitSwitch> m_circuits; //!< null: there are no circuits
    std::unique_ptr<TraceExecutor> m_executor;
    RunOutcome m_outcome;
    bool m_hasRun{false};
    bool m_isClosed{false};
    ProgressHook m_hook;
    Clock::time_point m_started;
    Clock::time_point m_nextReport;
    Clock::duration m_interval{};
    ns3::EventId m_timeLimit;
    std::exception_ptr m_thrown; //!< by the hook
};

} // namespace cosim

#endif // COSIM_SIMULATION_H
