/*
 * SPDX-License-Identifier: GPL-2.0-only
 */

#ifndef COSIM_TIMING_RECORD_H
#define COSIM_TIMING_RECORD_H

#include "network/run-observer.h"
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
     * Add a computation of one rank.
     *
     * @param iteration index of the iteration
     * @param layer index of the layer
     * @param durationPs for how long it ran [ps], whatever else ran at the same time
     */
    void AddComputed(uint32_t iteration, uint32_t layer, uint64_t durationPs);

    /**
     * Add exposed communication of one rank: a time for which its compute stream has waited.
     *
     * @param iteration index of the iteration
     * @param layer index of the layer
     * @param fromPs when the wait began [ps]
     * @param toPs when it ended [ps]
     */
    void AddExposed(uint32_t iteration, uint32_t layer, uint64_t fromPs, uint64_t toPs);

    uint32_t GetKinds() const override
    {
        return NODES;
    }

    void OnNodeBegun(const NodeEvent& event) override;
    void OnNodeEnded(const NodeEvent& event) override;

    /// @return the number of iterations
    uint32_t GetIterations() const
    {
        return static_cast<uint32_t>(m_iterations.size());
    }

    /// @return the number of layers
    uint32_t GetLayers() const
    {
        return m_layers;
    }

    /// @return the number of iterations that have ended, as all before them
    uint32_t GetEnded() const
    {
        return static_cast<uint32_t>(m_ends.size());
    }

    /// Times of a rank, or of all ranks together [ps].
    struct Times
    {
        uint64_t compute{0};
        uint64_t exposed{0}; //!< communication that it waits for
    };

    /// @return the times that belong to a layer in an iteration, mean over the ranks
    Times GetLayer(uint32_t iteration, uint32_t layer) const;

    /**
     * @param iteration an iteration that has ended, as all before it
     * @return what the ranks do between the end of the iteration before and its end, mean over the
     * ranks: at least one COMPUTE node runs, or none runs and the rank waits for communication.
     * These parts are together at most its time.
     */
    Times GetParts(uint32_t iteration) const;

    /// @return when an iteration and all before it have ended [ps]; it must be so
    uint64_t GetPartsEnd(uint32_t iteration) const
    {
        return m_ends[iteration];
    }

  private:
    /// Progress of an iteration.
    struct Iteration
    {
        uint64_t end{0}; //!< end of the last finished node [ps]
        uint64_t nodesLeft{0};
    };

    /// The COMPUTE nodes of a rank that run.
    struct Computing
    {
        uint32_t nodes{0}; //!< their number
        uint64_t since{0}; //!< since when there are some [ps]
    };

    void AddPart(uint64_t fromPs, uint64_t toPs, uint64_t Times::* part);
    void CloseParts();
    Times GetMean(const Times& sum) const;

    uint32_t m_layers;
    uint64_t m_workers{0};              //!< number of ranks with a trace
    std::vector<Computing> m_computing; //!< indexed by rank
    std::vector<Times> m_sums;          //!< indexed by iteration, then by layer, over the ranks
    std::vector<Times> m_parts;         //!< indexed by iteration, summed over the ranks
    std::vector<uint64_t> m_ends;       //!< of the iterations that have ended in order [ps]
    std::vector<Iteration> m_iterations;
};

/**
 * Computes what needs the start of each node: the time of each computation, and the exposed
 * communication, the time that the compute streams of the ranks wait for communication.
 *
 * A rank waits while it runs no COMPUTE node. A wait lasts from the end of the last one to the end
 * of the collective or receive that the compute stream waited for. It counts for the layer and the
 * iteration of the dependency that finished last. If that dependency started during the wait, the
 * time before its start counts for the dependency that it waited for itself, and so on. The wait
 * after the last COMPUTE node of a rank is counted in the same way.
 */
class ExposedTime : public RunObserver
{
  public:
    /**
     * @param stream the workload
     * @param timing receives the exposed time; must outlive this observer
     */
    ExposedTime(const Stream& stream, TimingRecord& timing);

    uint32_t GetKinds() const override
    {
        return NODES;
    }

    void OnNodeBegun(const NodeEvent& event) override;
    void OnNodeEnded(const NodeEvent& event) override;

  private:
    static constexpr uint32_t NONE = ~uint32_t{0}; //!< marks "no node"

    /// When a node ran [ps].
    struct Span
    {
        uint64_t start{0};
        uint64_t end{0};
    };

    /// State of a rank that has a trace.
    struct Worker
    {
        std::size_t firstSpan{0}; //!< that of its first node in m_spans
        std::size_t nodesLeft{0};
        uint64_t idleSince{0}; //!< end of the last COMPUTE node [ps]
        uint32_t computing{0}; //!< number of running COMPUTE nodes
    };

    static uint32_t GetLastDependency(const Trace& trace, const Span* spans, uint32_t node);
    static uint32_t GetLastCommunication(const Trace& trace, const Span* spans);
    void Count(const Trace& trace, const Worker& worker, uint64_t now, uint32_t last);

    TimingRecord& m_timing;
    std::vector<Worker> m_workers; //!< indexed by rank
    std::vector<Span> m_spans;     //!< of the nodes of all ranks
};

} // namespace cosim

#endif // COSIM_TIMING_RECORD_H
