/*
 * SPDX-License-Identifier: GPL-2.0-only
 */

#ifndef COSIM_PROGRESS_REPORTS_H
#define COSIM_PROGRESS_REPORTS_H

#include <chrono>
#include <cstdint>
#include <exception>
#include <functional>

namespace cosim
{

/// A snapshot of the progress of a run.
struct RunProgress
{
    double timeNs{0};           //!< simulated time [ns]
    double wallS{0};            //!< wall time since the run began [s]
    uint64_t events{0};         //!< number of events that ns-3 executed
    uint64_t packets{0};        //!< packets sent, ACKs included
    uint64_t deliveredBytes{0}; //!< payload bytes delivered in order
    uint64_t totalBytes{0};     //!< payload bytes of the whole workload; 0 with other traffic
};

/**
 * Function that is called about once per interval of wall time during a run, and once at its end.
 *
 * @return false to interrupt the run
 */
using ProgressHook = std::function<bool(const RunProgress&)>;

/// Decides when the hook of a run is called, and keeps an exception that it throws.
class ProgressReports
{
  public:
    /**
     * Begin.
     *
     * @param hook receives the progress; may be empty
     * @param interval the shortest wall time between two calls of the hook
     */
    void Start(const ProgressHook& hook, std::chrono::duration<double> interval);

    /// @return true if an interval has passed since this function returned true, or since Start
    bool IsDue();

    /// @return the wall time since Start [s]
    double GetWallS() const;

    /// @return true if the hook is not empty and has not thrown an exception
    bool IsWanted() const
    {
        return m_hook && !m_thrown;
    }

    /**
     * Call the hook.
     *
     * @param progress the progress of the run
     * @return true if the run goes on: the hook neither interrupted it nor threw an exception
     */
    bool Report(const RunProgress& progress);

    /// End: forget the hook, and throw the exception that it threw.
    void Finish();

  private:
    using Clock = std::chrono::steady_clock;

    ProgressHook m_hook;
    Clock::time_point m_started;
    Clock::time_point m_next;
    Clock::duration m_interval{};
    std::exception_ptr m_thrown;
};

} // namespace cosim

#endif // COSIM_PROGRESS_REPORTS_H
