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
 * Where the time of a workload went: compute and exposed communication of each layer in each
 * iteration, summed over the ranks, and when the iterations ended.
 *
 * An iteration ends when its last node is done on the last rank, or with the iteration before it
 * if that ends later: it is done when its weights are updated, though the next one may have begun.
 */
class TimingRecord : public RunObserver
{
  public:
    /// @param stream the work
    explicit TimingRecord(const Stream& stream);

    /**
     * @param iteration the iteration
     * @param layer the layer
     * @param ps time that a rank's compute stream waited for communication
     */
    void AddExposed(uint32_t iteration, uint32_t layer, uint64_t ps);

    uint32_t GetKinds() const override;
    void OnNodeBegun(const NodeEvent& event) override;
    void OnNodeEnded(const NodeEvent& event) override;

    /// @return how many iterations there are
    uint32_t GetIterations() const;

    /// @return how many layers there are
    uint32_t GetLayers() const;

    /// @return whether an iteration has ended; those before it may not have
    bool IsComplete(uint32_t iteration) const;

    /// @return when the last node of an iteration was done [ps]
    uint64_t GetEnd(uint32_t iteration) const;

    /// @return the mean over the ranks of a layer's compute in an iteration [ps]
    uint64_t GetCompute(uint32_t iteration, uint32_t layer) const;

    /// @return the mean over the ranks of a layer's exposed communication in an iteration [ps]
    uint64_t GetExposed(uint32_t iteration, uint32_t layer) const;

  private:
    /// One layer in one iteration, summed over the ranks [ps].
    struct Sums
    {
        uint64_t compute{0};
        uint64_t exposed{0};
    };

    /// One iteration.
    struct Iteration
    {
        uint64_t end{0}; //!< of the last node that is done
        uint64_t nodesLeft{0};
    };

    uint64_t Mean(uint64_t sum) const;
    const Sums& At(uint32_t iteration, uint32_t layer) const;

    uint32_t m_layers;
    uint64_t m_workers{0};                //!< ranks that have work
    std::vector<uint64_t> m_computeStart; //!< of each rank's last COMPUTE node [ps]
    std::vector<Sums> m_sums;             //!< by iteration, then layer
    std::vector<Iteration> m_iterations;
};

} // namespace cosim

#endif // COSIM_TIMING_RECORD_H
