/*
 * SPDX-License-Identifier: GPL-2.0-only
 */

#ifndef COSIM_CRITICAL_PATH_H
#define COSIM_CRITICAL_PATH_H

#include "network/run-observer.h"
#include "results/cause.h"
#include "results/message-parts.h"
#include "results/messages-in-flight.h"
#include "results/path-record.h"
#include "stream/stream.h"
#include "support/flat-map.h"

#include <cstdint>
#include <map>
#include <utility>
#include <vector>

namespace cosim
{

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

    uint32_t GetKinds() const override;
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
    void OnMessageDelivered(const MessageEvent& event) override;
    void OnPacketRetransmitted(const FlowEvent& event, uint32_t payloadBytes) override;
    void OnFlowTimedOut(const FlowEvent& event, uint64_t waitedPs) override;

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
