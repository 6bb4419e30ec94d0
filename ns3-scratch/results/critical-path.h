/*
 * SPDX-License-Identifier: GPL-2.0-only
 */

#ifndef COSIM_CRITICAL_PATH_H
#define COSIM_CRITICAL_PATH_H

#include "network/bundle-network.h"
#include "network/run-observer.h"
#include "results/message-parts.h"
#include "results/messages-in-flight.h"
#include "stream/stream.h"
#include "support/flat-map.h"

#include <array>
#include <cstdint>
#include <map>
#include <utility>
#include <vector>

namespace cosim
{

/// What a cause belongs to: a node of a trace, or a collective.
struct CauseLabel
{
    const Trace* trace{nullptr}; //!< null: a collective
    uint32_t id{0};              //!< index of the node, or id of the collective

    bool operator==(const CauseLabel&) const = default;
};

struct Cause;

/// A counted reference to a Cause, or to nothing: the start of the run.
class CauseRef
{
  public:
    CauseRef() = default;

    explicit CauseRef(Cause* cause);
    CauseRef(const CauseRef& other);

    CauseRef(CauseRef&& other) noexcept
        : m_cause(std::exchange(other.m_cause, nullptr))
    {
    }

    CauseRef& operator=(CauseRef other) noexcept
    {
        std::swap(m_cause, other.m_cause);
        return *this;
    }

    ~CauseRef();

    const Cause* operator->() const
    {
        return m_cause;
    }

    /// @return the end of the cause; 0 for the start of the run [ps]
    uint64_t GetEnd() const;

    /// Let the cause forget its own cause.
    void Cut() const;

  private:
    Cause* m_cause{nullptr};
};

/**
 * Something that took time, and what happened before it. It lasts from the end of its parent to its
 * own end, so the lengths of a chain of causes add up.
 *
 * A cause lives as long as a later one, or an observer, refers to it. What nothing waits for any
 * more is freed, so the chains of a run need much less memory than the run has events.
 */
struct Cause
{
    CauseRef parent;
    uint64_t endPs;
    CauseLabel label;
    Rank rank; //!< the rank at which it ends
    PathKind kind;
    uint32_t references{0};
};

/// The time of a critical path, or of a part of it, by PathKind [ps].
using PathTimes = std::array<uint64_t, PATH_KINDS.size()>;

/// A part of a critical path that belongs to one node or collective.
struct PathStep
{
    CauseLabel label;
    uint64_t startPs;
    uint64_t endPs;
    Rank firstRank; //!< the rank at which it starts
    Rank lastRank;  //!< the rank at which it ends
    PathTimes times{};
};

/// The critical path of an iteration.
struct IterationPath
{
    uint64_t startPs;
    uint64_t endPs;
    PathTimes times{};           //!< of the whole path; they add up to endPs - startPs
    std::vector<PathStep> steps; //!< by time; the longest ones, if there are too many
    uint64_t othersLeftOut{0};   //!< number of further steps
};

/// Collects the critical paths of iterations from the causes of their last nodes.
class PathRecord
{
  public:
    /// The largest number of steps of a path that are kept.
    static constexpr std::size_t MAX_STEPS = 1000;

    /// @param stream the workload. If jobs share a cluster, the whole run counts as one iteration.
    explicit PathRecord(const Stream& stream);

    /**
     * @param event a node that has ended
     * @param end the cause of its end
     */
    void OnNodeEnded(const NodeEvent& event, const CauseRef& end);

    /// @return the paths of the iterations that have ended, from the first one on
    const std::vector<IterationPath>& GetPaths() const
    {
        return m_paths;
    }

  private:
    /// An iteration that has not ended.
    struct Iteration
    {
        uint64_t nodesLeft{0};
        CauseRef end; //!< of the node that ended last so far
    };

    void Collect(Iteration& iteration);

    bool m_isShared{false}; //!< true if jobs share a cluster
    std::vector<Iteration> m_iterations;
    std::vector<IterationPath> m_paths;
};

/**
 * Follows what makes each iteration as long as it is.
 *
 * Whatever ends has a cause: the last event that it waited for. The chain of causes from the last
 * node of an iteration back to the start of the iteration is its critical path.
 */
class CriticalPath : public RunObserver
{
  public:
    /**
     * @param stream the workload; must outlive this object, except for its programs
     * @param links links as they are now; must outlive this object
     */
    CriticalPath(const Stream& stream, const LiveLinks& links);

    /// @return the paths of the iterations that have ended
    const PathRecord& GetRecord() const
    {
        return m_record;
    }

    uint32_t GetKinds() const override
    {
        return NODES | COLLECTIVES | CHUNKS | STEPS | MESSAGES | LOSSES | PAUSES;
    }

    void OnNodeBegun(const NodeEvent& event) override;
    void OnNodeEnded(const NodeEvent& event) override;
    void OnCollectiveBegun(const CollectiveEvent& event) override;
    void OnCollectiveEnded(const CollectiveEvent& event) override;
    void OnChunkEnded(const ChunkEvent& event) override;
    void OnChunkAdmitted(const AdmissionEvent& event) override;
    void OnStepReady(const StepEvent& event) override;
    void OnStepDone(const StepEvent& event) override;
    void OnStepSent(const StepMessageEvent& event) override;
    void OnStepReceived(const StepMessageEvent& event) override;

    void OnMessageDelivered(const MessageEvent& event) override
    {
        m_parts.OnDelivered(event);
    }

    void OnPacketRetransmitted(const FlowEvent& event, uint32_t /* payloadBytes */) override
    {
        m_parts.OnRetransmission(event);
    }

    void OnFlowTimedOut(const FlowEvent& event, uint64_t waitedPs) override
    {
        m_parts.OnTimeout(event, waitedPs);
    }

    void OnPortPaused(const PortPauseEvent& event) override
    {
        m_parts.OnPaused(event);
    }

    void OnPortResumed(const PortPauseEvent& event) override
    {
        m_parts.OnResumed(event);
    }

  private:
    /// A message on its way, and why it was sent then.
    struct Pending
    {
        SentMessage message;
        CauseRef cause;
    };

    /// A collective that runs at a rank.
    struct Running
    {
        CauseRef issued;
        CauseRef last; //!< its issue, or the latest end of a chunk
    };

    /// A rank and its trace.
    struct Worker
    {
        std::vector<CauseRef> nodes;   //!< per node: its beginning, then its end
        std::vector<uint32_t> waiting; //!< per node: number of nodes that wait for it
        CauseRef computed;             //!< end of its latest COMPUTE node
    };

    /// A chunk of a collective at a rank; NO_CHUNK for the collective itself.
    struct Place
    {
        uint32_t collective{0};
        Rank rank{0};
        uint32_t chunk{0};

        bool operator==(const Place&) const = default;

        uint64_t Hash() const
        {
            return MixHash(static_cast<uint64_t>(rank) << 32 | chunk, collective);
        }
    };

    /// A step that is ready.
    struct Step
    {
        uint64_t id{0};

        bool operator==(const Step&) const = default;

        uint64_t Hash() const
        {
            return MixHash(id, 0);
        }
    };

    static constexpr uint32_t NO_CHUNK = UINT32_MAX;

    Worker& GetWorker(const NodeEvent& event);
    CauseRef GetBeginning(Worker& worker, const NodeEvent& event);
    CauseRef GetEnd(const NodeEvent& event, const CauseRef& begun);
    CauseRef Extend(CauseRef parent, uint64_t endPs, PathKind kind, CauseLabel label, Rank rank);
    LinkLoads::Owner GetOwner(const Collective& collective, Rank rank);
    void Send(const MessageKey& key, SentMessage message, CauseRef cause);
    CauseRef Receive(const MessageKey& key, uint64_t nowPs, CauseLabel label);

    const Stream& m_stream;
    uint64_t m_injectionPs;
    MessageParts m_parts;
    PathRecord m_record;
    std::vector<Worker> m_workers;         //!< indexed by rank
    std::map<uint64_t, CauseRef> m_timers; //!< latest beginning of the timers with a tag
    MessagesInFlight<Pending> m_messages;
    FlatMap<Place, Running> m_collectives; //!< until they end at the rank
    FlatMap<Place, CauseRef> m_ended;      //!< until their nodes end
    /// end of the last phase of a chunk at a rank, until its next phase begins or the collective
    /// ends
    FlatMap<Place, CauseRef> m_chunks;
    FlatMap<Step, CauseRef> m_steps; //!< steps that are ready
    /// group of each rank, for the collectives that several groups run, by id
    std::map<uint32_t, std::vector<uint32_t>> m_groups;
    CauseRef m_now; //!< why the current events happen
};

} // namespace cosim

#endif // COSIM_CRITICAL_PATH_H
