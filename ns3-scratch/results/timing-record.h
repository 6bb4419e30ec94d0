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
 * iteration, and between the ends of two iterations, summed over the ranks, and these ends.
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
     * Add exposed communication of one rank: a time for which its compute stream has waited.
     *
     * @param iteration index of the iteration
     * @param layer index of the layer
     * @param fromPs when the wait began [ps]
     * @param toPs when it ended [ps]
     */
    void AddExposed(uint32_t iteration, uint32_t layer, uint64_t fromPs, uint64_t toPs);

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

    /// What the ranks do between the end of the iteration before and the end of an iteration.
    struct Parts
    {
        uint64_t compute{0}; //!< at least one COMPUTE node runs [ps]
        uint64_t exposed{0}; //!< none runs, and the rank waits for communication [ps]
    };

    /**
     * @param iteration an iteration that has ended, as all before it
     * @return the parts of its time, mean over the ranks; they are together at most its time
     */
    Parts GetParts(uint32_t iteration) const;

    /// @return when an iteration and all before it have ended [ps]; it must be so
    uint64_t GetPartsEnd(uint32_t iteration) const;

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

    /// The COMPUTE nodes of a rank that run.
    struct Computing
    {
        uint32_t nodes{0};     //!< their number
        uint64_t since{0};     //!< since when there are some [ps]
        uint64_t lastBegin{0}; //!< start of the last one [ps]
    };

    void AddPart(uint64_t fromPs, uint64_t toPs, uint64_t Parts::* part);
    void CloseParts();
    void RepeatIteration(const State& from, const Repetition& repetition, uint32_t iteration);
    void RepeatParts(const State& from, const Repetition& repetition);
    uint64_t Mean(uint64_t sum) const;
    const Sums& At(uint32_t iteration, uint32_t layer) const;

    uint32_t m_layers;
    uint64_t m_workers{0};              //!< number of ranks with a trace
    std::vector<Computing> m_computing; //!< indexed by rank
    std::vector<Sums> m_sums;           //!< indexed by iteration, then by layer
    std::vector<Parts> m_parts;         //!< indexed by iteration, summed over the ranks
    std::vector<uint64_t> m_ends;       //!< of the iterations that have ended in order [ps]
    std::vector<Iteration> m_iterations;
    uint32_t m_last{0}; //!< latest iteration of which a node has ended
};

class TimingRecord::State
{
    friend class TimingRecord;

    uint32_t m_begin{0};                 //!< earlier iterations have ended
    std::vector<Sums> m_sums;            //!< from that iteration on; later ones are 0
    std::vector<Iteration> m_iterations; //!< from that iteration on; later ones have not begun
    uint32_t m_firstPart{0};             //!< the iteration of the first of the parts
    std::vector<Parts> m_parts;          //!< from that iteration on; later ones are 0
};

} // namespace cosim

#endif // COSIM_TIMING_RECORD_H
