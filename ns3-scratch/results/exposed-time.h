/*
 * SPDX-License-Identifier: GPL-2.0-only
 */

#ifndef COSIM_EXPOSED_TIME_H
#define COSIM_EXPOSED_TIME_H

#include "network/run-observer.h"
#include "results/timing-record.h"
#include "stream/stream.h"

#include <cstdint>
#include <vector>

namespace cosim
{

/**
 * Finds the exposed communication: how long the compute streams of the ranks wait for it.
 *
 * While the compute stream has to wait, the time from its last COMPUTE node to the end of the
 * collective or receive that it waited for is exposed communication, and counts for the layer and
 * the iteration of the dependency that finished last. Where that one was started during the wait,
 * the time before its start counts for the one that it waited for in turn, and so on. The wait
 * after a rank's last COMPUTE node is counted likewise.
 */
class ExposedTime : public RunObserver
{
  public:
    /**
     * @param stream the work
     * @param timing where the time is counted; must outlive this observer
     */
    ExposedTime(const Stream& stream, TimingRecord& timing);

    uint32_t GetKinds() const override;
    void OnNodeBegun(const NodeEvent& event) override;
    void OnNodeEnded(const NodeEvent& event) override;

  private:
    static constexpr uint32_t NONE = ~uint32_t{0}; //!< no node

    /// A rank that has a trace.
    struct Worker
    {
        std::vector<uint64_t> start; //!< per node that has begun [ps]
        std::vector<uint64_t> end;   //!< per node that is done [ps]
        uint64_t idleSince{0};       //!< end of the last COMPUTE node [ps]
        std::size_t nodesLeft{0};
    };

    static uint32_t GetLastDependency(const Trace& trace, const Worker& worker, uint32_t node);
    static uint32_t GetLastCommunication(const Trace& trace, const Worker& worker);
    void Count(const Trace& trace, const Worker& worker, uint64_t now, uint32_t last);

    TimingRecord& m_timing;
    std::vector<Worker> m_workers; //!< by rank
};

} // namespace cosim

#endif // COSIM_EXPOSED_TIME_H
