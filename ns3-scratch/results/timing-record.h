/*
 * SPDX-License-Identifier: GPL-2.0-only
 */

#ifndef COSIM_TIMING_RECORD_H
#define COSIM_TIMING_RECORD_H

#include "network/run-observer.h"
#include "results/repetition.h"
#include "stream/stream.h"

#include <cstdint>
#include <vector>

namespace cosim
{

/**
 * Records where the time of a workload goes: compute and exposed communication per layer and
 * iteration, summed over the ranks, and the end of each iteration.
 *
 * An iteration ends when its last node is done on the last rank, but not before the previous
 * iteration ends. It is done when its weights are updated, even if the next iteration has already
 * begun.
 */
class TimingRecord : public RunObserver
{
  public:
    /// @param stream the workload
    explicit TimingRecord(const Stream& stream);

    /**
     * Add exposed communication of one rank.
     *
     * @param iteration index of the iteration
     * @param layer index of the layer
     * @param ps time that the rank's compute stream waited for communication [ps]
     */
    void AddExposed(uint32_t iteration, uint32_t layer, uint64_t ps);

    /// The record at a time.
    class State;

    /// @return the record now
    State GetState() const;

    /**
     * Record iterations that repeat what was recorded since an earlier time.
     *
     * @param from the record at the earlier time
     * @param repetition the repeated iterations
     */
    void Repeat(const State& from, const Repetition& repetition);

    uint32_t GetKinds() const override;
    void OnNodeBegun(const NodeEvent& event) override;
    void OnNodeEnded(const NodeEvent& event) override;

    /// @return the number of iterations
    uint32_t GetIterations() const;

    /// @return the number of layers
    uint32_t GetLayers() const;

    /// @return true if an iteration has ended; earlier iterations may not have ended
    bool IsComplete(uint32_t iteration) const;

    /// @return the time at which the last node of an iteration finished [ps]
    uint64_t GetEnd(uint32_t iteration) const;

    /// @return the compute time of a layer in an iteration, mean over the ranks [ps]
    uint64_t GetCompute(uint32_t iteration, uint32_t layer) const;

    /// @return the exposed communication of a layer in an iteration, mean over the ranks [ps]
    uint64_t GetExposed(uint32_t iteration, uint32_t layer) const;

  private:
    /// Times of one layer in one iteration, summed over the ranks [ps].
    struct Sums
    {
        uint64_t compute{0};
        uint64_t exposed{0};
    };

    /// Progress of an iteration.
    struct Iteration
    {
        uint64_t end{0}; //!< end of the last finished node [ps]
        uint64_t nodesLeft{0};
    };

    void RepeatIteration(const State& from, const Repetition& repetition, uint32_t iteration);
    uint64_t Mean(uint64_t sum) const;
    const Sums& At(uint32_t iteration, uint32_t layer) const;

    uint32_t m_layers;
    uint64_t m_workers{0};                //!< number of ranks with a trace
    std::vector<uint64_t> m_computeStart; //!< per rank: start of its last COMPUTE node [ps]
    std::vector<Sums> m_sums;             //!< indexed by iteration, then by layer
    std::vector<Iteration> m_iterations;
    uint32_t m_last{0}; //!< latest iteration of which a node has ended
};

class TimingRecord::State
{
    friend class TimingRecord;

    uint32_t m_begin{0};                 //!< earlier iterations have ended
    std::vector<Sums> m_sums;            //!< from that iteration on; later ones are 0
    std::vector<Iteration> m_iterations; //!< from that iteration on; later ones have not begun
};

} // namespace cosim

#endif // COSIM_TIMING_RECORD_H
