/*
 * SPDX-License-Identifier: GPL-2.0-only
 */

#ifndef COSIM_JOB_RECORD_H
#define COSIM_JOB_RECORD_H

#include "network/run-observer.h"
#include "stream/stream.h"

#include <cstdint>
#include <string>
#include <vector>

namespace cosim
{

/**
 * Records when the jobs of a stream and their iterations run.
 *
 * A job starts when its first node begins. An iteration ends when its last node is done on the last
 * rank, but not before the previous iteration ends. The next iteration counts from that time.
 */
class JobRecord : public RunObserver
{
  public:
    /// Progress of an iteration of a job.
    struct Iteration
    {
        uint64_t end{0};       //!< end of the last finished node [ps]
        uint64_t nodesLeft{0}; //!< 0: the iteration has ended
    };

    /// Record of a job.
    struct Job
    {
        static constexpr uint64_t UNKNOWN = ~uint64_t{0}; //!< marks an event that has not happened

        std::string name;
        uint64_t start{UNKNOWN}; //!< [ps]
        std::vector<Iteration> iterations;
    };

    /// @param stream the workload
    explicit JobRecord(const Stream& stream);

    uint32_t GetKinds() const override;
    void OnNodeBegun(const NodeEvent& event) override;
    void OnNodeEnded(const NodeEvent& event) override;

    /// @return all jobs; empty if the stream names no jobs
    const std::vector<Job>& GetJobs() const
    {
        return m_jobs;
    }

  private:
    std::vector<Job> m_jobs;
};

} // namespace cosim

#endif // COSIM_JOB_RECORD_H
