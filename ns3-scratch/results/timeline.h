/*
 * SPDX-License-Identifier: GPL-2.0-only
 */

#ifndef COSIM_TIMELINE_H
#define COSIM_TIMELINE_H

#include "network/run-observer.h"
#include "results/collective-tracks.h"
#include "results/counter-tracks.h"
#include "results/job-tracks.h"
#include "results/timeline-tracks.h"
#include "results/trace-text.h"
#include "stream/stream.h"

#include <cstdint>
#include <map>
#include <utility>
#include <vector>

namespace cosim
{

/**
 * Writes the timeline of a run in the Chrome-trace format while it runs.
 *
 * Each rank is a process, with a thread for its computation and one for each communication stream.
 * A stream holds a collective; in it the chunks, one after another; in a chunk its phases. Chunks
 * of a collective that run at the same time have streams of their own. Arrows lead from the phase
 * that sends a message to the phase that receives it.
 */
class Timeline : public RunObserver
{
  public:
    /**
     * @param stream the workload; must outlive this object, except for the steps of its programs
     * @param options what to show
     * @param sink receives the text
     */
    Timeline(const Stream& stream, const TimelineOptions& options, TextSink sink);

    /// @return the observers that see the run for this timeline: this one, and those of its parts
    std::vector<RunObserver*> GetObservers();

    /// @param fabric the fabric of the run; must outlive the run
    void SetFabric(const Fabric* fabric)
    {
        m_counters.GetSampler().SetFabric(fabric);
    }

    /**
     * Complete the file.
     *
     * @param timePs end of the run [ps]: what has not ended ends here
     */
    void Finish(uint64_t timePs);

    uint32_t GetKinds() const override
    {
        return NODES | LOSSES | LINKS | PAUSES;
    }

    void OnNodeBegun(const NodeEvent& event) override;
    void OnNodeEnded(const NodeEvent& event) override;
    void OnPacketRetransmitted(const FlowEvent& event, uint32_t payloadBytes) override;
    void OnFlowTimedOut(const FlowEvent& event, uint64_t waitedPs) override;
    void OnPortPaused(const PortPauseEvent& event) override;
    void OnPortResumed(const PortPauseEvent& event) override;
    void OnLinkPauseBegun(const LinkChange& change) override;
    void OnLinksChanged(uint64_t timePs) override;

  private:
    void WriteWait(const NodeEvent& event, TraceEvent& line) const;
    void BeginCompute(const NodeEvent& event, uint64_t beginPs);
    bool ShowsMark(const FlowEvent& event);
    TraceEvent BeginMark(const char* name, const FlowEvent& event);

    TraceText m_text;
    TimelineTracks m_tracks;
    CollectiveTracks m_collectives;
    CounterTracks m_counters;
    JobTracks m_jobs;
    std::vector<std::vector<uint64_t>> m_nodeTimes; //!< per rank and node: its latest event [ps]
    std::vector<bool> m_isComputing; //!< per rank: true while the file shows a computation
    std::map<std::pair<Rank, uint32_t>, uint32_t> m_messageNodes; //!< streams of running messages
    const Topology& m_topology;
    std::map<uint32_t, bool> m_pauseThreads; //!< of ports: true while the file shows a pause
    bool m_isPaused{false};                  //!< true while the file shows a reconfiguration
};

} // namespace cosim

#endif // COSIM_TIMELINE_H
