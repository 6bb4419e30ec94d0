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
 * When the jobs of a stream ran, and each of their iterations.
 *
 * A job starts when the first of its nodes does. An iteration of it ends when the last node is done
 * on the last rank, or with the one before if that ends later, and the next counts from there.
 */
class JobRecord : public RunObserver
{
  public:
    /// An iteration of a job.
    struct Iteration
    {
        uint64_t end{0};       //!< of the last node that is done [ps]
        uint64_t nodesLeft{0}; //!< 0: it has ended
    };

    /// A job.
    struct Job
    {
        static constexpr uint64_t UNKNOWN = ~uint64_t{0}; //!< the time of what has not happened

        std::string name;
        uint64_t start{UNKNOWN}; //!< [ps]
        std::vector<Iteration> iterations;
    };

    /// @param stream the work
    explicit JobRecord(const Stream& stream);

    uint32_t GetKinds() const override;
    void OnNodeBegun(const NodeEvent& event) override;
    void OnNodeEnded(const NodeEvent& event) override;

    /// @return all jobs; none if ranks do not share the network
    const std::vector<Job>& GetJobs() const
    {
        return m_jobs;
    }

  private:
    std::vector<Job> m_jobs;
};

} // namespace cosim

#endif // COSIM_JOB_RECORD_H
