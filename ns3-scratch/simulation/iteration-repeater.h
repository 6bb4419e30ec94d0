/*
 * SPDX-License-Identifier: GPL-2.0-only
 */

#ifndef COSIM_ITERATION_REPEATER_H
#define COSIM_ITERATION_REPEATER_H

#include "network/fabric.h"
#include "results/repetition.h"
#include "results/run-record.h"
#include "stream/stream.h"
#include "support/state-digest.h"
#include "workload/iteration-pattern.h"
#include "workload/trace-executor.h"

#include <cstdint>
#include <deque>
#include <functional>

namespace cosim
{

/**
 * Skips iterations that would repeat earlier ones.
 *
 * It looks at the run at one time of each iteration: when each rank computes, and the network
 * carries nothing. If the state of the run then equals the state in an earlier iteration (exact),
 * or the last two iterations have taken nearly the same time (approximate), the run goes on in a
 * later iteration, and all records and counters count the skipped iterations as if they had been
 * simulated.
 *
 * Exact: the state has all that the future depends on, so the skipped iterations would be the same
 * to the picosecond. What it leaves out only grows and had no effect in the period that is
 * repeated, so it has none in the repetitions (see Repeatable::AddState).
 */
class IterationRepeater : private RestListener
{
  public:
    /**
     * @param stream the workload
     * @param network the network
     * @param executor runs the workload; must outlive this object
     * @param record the records of the run; must outlive this object
     * @param skipped called when the clock was set forward
     * @throws std::invalid_argument if the iterations on this network cannot be skipped
     */
    IterationRepeater(const Stream& stream,
                      Fabric& network,
                      TraceExecutor& executor,
                      RunRecord& record,
                      std::function<void()> skipped);

    IterationRepeater(const IterationRepeater&) = delete;
    IterationRepeater& operator=(const IterationRepeater&) = delete;

    /// @return what was skipped so far
    RepeatRecord GetRecord() const;

  private:
    /// The run at one time of an iteration.
    struct Rest
    {
        uint32_t iteration{0};
        int64_t timePs{0};    //!< on the clock of the simulator
        int64_t historyPs{0}; //!< see Repeatable::AddState
        StateDigest digest;
        NetworkCounters network;
        RunRecord::State record;
    };

    // RestListener
    bool OnRest(uint32_t iteration) override;

    Rest MakeRest(uint32_t iteration) const;
    void Compare(Rest now);
    void Estimate(const Rest& now);
    uint64_t LimitTimes(uint64_t times, uint64_t periodPs) const;
    void Repeat(const Rest& from, const Rest& now, uint64_t times);

    const Stream& m_stream;
    Fabric& m_fabric;
    Repeatable& m_network;
    TraceExecutor& m_executor;
    RunRecord& m_records;
    std::function<void()> m_skipped;
    IterationPattern m_pattern;
    RepeatRecord m_record;
    std::string m_obstacle; //!< the latest reason why states cannot be compared
    bool m_hasRested{false};
    bool m_isDone{false};     //!< true if nothing more will be skipped
    std::deque<Rest> m_rests; //!< the latest ones, in order of time
    int64_t m_lastPs{0};      //!< approximate: time between the last two rests; 0: unknown
    bool m_isCheck{false};    //!< approximate: the next rest checks a skip
};

} // namespace cosim

#endif // COSIM_ITERATION_REPEATER_H
