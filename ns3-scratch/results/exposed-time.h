/*
 * SPDX-License-Identifier: GPL-2.0-only
 */

#ifndef COSIM_EXPOSED_TIME_H
#define COSIM_EXPOSED_TIME_H

#include "network/run-observer.h"
#include "results/repetition.h"
#include "results/timing-record.h"
#include "stream/stream.h"

#include <cstdint>
#include <vector>

namespace cosim
{

/**
 * Computes the exposed communication: the time that the compute streams of the ranks wait for
 * communication.
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

    /// @param repetition iterations that each rank skips while it computes
    void Skip(const Repetition& repetition);

    uint32_t GetKinds() const override;
    void OnNodeBegun(const NodeEvent& event) override;
    void OnNodeEnded(const NodeEvent& event) override;

  private:
    static constexpr uint32_t NONE = ~uint32_t{0}; //!< marks "no node"

    /// State of a rank that has a trace.
    struct Worker
    {
        std::vector<uint64_t> start; //!< per node: time at which it began [ps]
        std::vector<uint64_t> end;   //!< per node: time at which it finished [ps]
        uint64_t idleSince{0};       //!< end of the last COMPUTE node [ps]
        uint32_t computing{0};       //!< number of running COMPUTE nodes
        std::size_t nodesLeft{0};
    };

    static uint32_t GetLastDependency(const Trace& trace, const Worker& worker, uint32_t node);
    static uint32_t GetLastCommunication(const Trace& trace, const Worker& worker);
    void Count(const Trace& trace, const Worker& worker, uint64_t now, uint32_t last);

    TimingRecord& m_timing;
    std::vector<Worker> m_workers; //!< indexed by rank
};

} // namespace cosim

#endif // COSIM_EXPOSED_TIME_H
