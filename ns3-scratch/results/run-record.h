/*
 * SPDX-License-Identifier: GPL-2.0-only
 */

#ifndef COSIM_RUN_RECORD_H
#define COSIM_RUN_RECORD_H

#include "network/run-observer.h"
#include "network/run-observers.h"
#include "results/timing-record.h"
#include "stream/stream.h"
#include "support/pair-index.h"

#include <cstddef>
#include <cstdint>
#include <map>
#include <string>
#include <utility>
#include <vector>

namespace cosim
{

/// Records when the collectives of a stream run.
class CollectiveRecord : public RunObserver
{
  public:
    /// Times of a collective, in simulated time [ps].
    struct Times
    {
        static constexpr uint64_t UNKNOWN = ~uint64_t{0}; //!< marks an event that has not happened

        uint64_t start{UNKNOWN}; //!< time at which the first rank issues it
        uint64_t end{0};         //!< latest time at which a rank finishes it
        /// number of ranks that have not finished; 0: the collective is done
        std::size_t ranksLeft{0};
    };

    /// @param stream the workload
    explicit CollectiveRecord(const Stream& stream);

    /**
     * @param collective id of the collective
     * @return its times
     */
    const Times& GetTimes(uint32_t collective) const
    {
        return m_times[collective];
    }

    uint32_t GetKinds() const override
    {
        return COLLECTIVES;
    }

    void OnCollectiveBegun(const CollectiveEvent& event) override;
    void OnCollectiveEnded(const CollectiveEvent& event) override;

  private:
    std::vector<Times> m_times; //!< indexed by collective id
};

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

    uint32_t GetKinds() const override
    {
        return m_jobs.empty() ? 0 : uint32_t{NODES};
    }

    void OnNodeBegun(const NodeEvent& event) override;
    void OnNodeEnded(const NodeEvent& event) override;

    /// @return all jobs; empty if the stream names no jobs
    const std::vector<Job>& GetJobs() const
    {
        return m_jobs;
    }

  private:
    Job* FindJob(const NodeEvent& event);

    std::vector<Job> m_jobs;
};

/// Records the reconfigurations of the links during a run, and the events of the scenario.
class LinkRecord : public RunObserver
{
  public:
    /// @return the reconfigurations that have begun, in the order of time
    const std::vector<LinkChange>& GetChanges() const
    {
        return m_changes;
    }

    uint32_t GetKinds() const override
    {
        return LINKS;
    }

    /// @return the events of the scenario that have happened, and what followed them, in order
    const std::vector<NetworkEventReport>& GetEvents() const
    {
        return m_events;
    }

    void OnNetworkEvent(const NetworkEventReport& report) override
    {
        m_events.push_back(report);
    }

    void OnLinkPauseBegun(const LinkChange& change) override
    {
        m_changes.push_back(change);
    }

  private:
    std::vector<LinkChange> m_changes;
    std::vector<NetworkEventReport> m_events;
};

/// A time for which a port was paused.
struct PortPause
{
    uint64_t startPs;
    uint64_t endPs;
    uint32_t link; //!< that the port feeds
    uint32_t source;
    uint32_t target;
    uint32_t hops; //!< as in PortPauseEvent
    uint8_t trafficClass;
};

/// Records the pauses of ports: the longest ones, if there are too many.
class PauseRecord : public RunObserver
{
  public:
    uint32_t GetKinds() const override
    {
        return PAUSES;
    }

    void OnPortPaused(const PortPauseEvent& event) override;
    void OnPortResumed(const PortPauseEvent& event) override;

    /**
     * @param nowPs current time [ps]: what is still paused ends here
     * @param most number of pauses at most
     * @return the longest pauses, by the time of their start
     */
    std::vector<PortPause> GetLongest(uint64_t nowPs, std::size_t most) const;

  private:
    /// Pauses that are kept; twice as many wait to be sorted out.
    static constexpr std::size_t KEPT = 100'000;

    std::vector<PortPause> m_ended;
    std::map<std::pair<uint32_t, uint8_t>, PortPause> m_running; //!< by link and class
};

/// A link between switches, and the flows that have sent messages over it.
struct SharedLink
{
    uint32_t link;
    uint64_t bytes;              //!< payload of the flows [bytes]
    std::vector<uint32_t> paths; //!< the flows, as indices of paths
};

/**
 * Finds the links between switches that most flows share.
 *
 * It counts the messages of each path of the stream; a detour around a failed link does not count.
 * It observes nothing unless the result lists shared links.
 */
class SharedLinks : public RunObserver
{
  public:
    /// @param topology links and paths; must outlive this object
    explicit SharedLinks(const Topology& topology);

    uint32_t GetKinds() const override
    {
        return m_topology.sharedLinks > 0 ? uint32_t{MESSAGES} : 0U;
    }

    void OnMessageDelivered(const MessageEvent& event) override;

    /// @return the links with at least two flows: most flows first, then most bytes
    std::vector<SharedLink> GetLinks() const;

  private:
    const Topology& m_topology;
    PairIndex m_pathOf;
    std::vector<uint64_t> m_bytes; //!< per path
    std::vector<bool> m_isUsed;    //!< per path: true if it has carried a message
};

/// The observers that record the data for the result of a run.
struct RunRecord
{
    /**
     * @param stream the workload
     * @param observers the observers of this record are added to it; the record must outlive its
     * use
     */
    RunRecord(const Stream& stream, RunObservers& observers)
        : timing(stream),
          exposed(stream, timing),
          jobs(stream),
          collectives(stream),
          shared(stream.topology)
    {
        observers.Add(timing);
        observers.Add(exposed);
        observers.Add(jobs);
        observers.Add(collectives);
        observers.Add(links);
        observers.Add(pauses);
        observers.Add(shared);
    }

    RunRecord(const RunRecord&) = delete;
    RunRecord& operator=(const RunRecord&) = delete;

    TimingRecord timing;
    ExposedTime exposed; //!< writes its sums to timing
    JobRecord jobs;
    CollectiveRecord collectives;
    LinkRecord links;
    PauseRecord pauses;
    SharedLinks shared;
};

} // namespace cosim

#endif // COSIM_RUN_RECORD_H
