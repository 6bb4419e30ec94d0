/*
 * SPDX-License-Identifier: GPL-2.0-only
 */

#ifndef COSIM_JOB_TRACKS_H
#define COSIM_JOB_TRACKS_H

#include "network/run-observer.h"
#include "results/run-record.h"
#include "results/timeline-tracks.h"
#include "results/trace-text.h"
#include "stream/stream.h"

#include <cstddef>
#include <cstdint>
#include <vector>

namespace cosim
{

/// The tracks of jobs in a timeline: one for each, with its iterations.
class JobTracks : public RunObserver
{
  public:
    /// The process that shows the jobs.
    static constexpr uint32_t PROCESS = TimelineTracks::NETWORK + 1;

    /**
     * @param stream the workload
     * @param tracks decides what is shown; must outlive this object
     * @param text receives the events; must outlive this object
     */
    JobTracks(const Stream& stream, TimelineTracks& tracks, TraceText& text);

    /// End the iterations that are shown. @param timePs end of the run [ps]
    void Finish(uint64_t timePs);

    uint32_t GetKinds() const override
    {
        return m_record.GetKinds();
    }

    void OnNodeBegun(const NodeEvent& event) override;
    void OnNodeEnded(const NodeEvent& event) override;

  private:
    /// The iteration of a job that runs.
    struct Current
    {
        std::size_t iteration{0};
        uint64_t beginPs{UINT64_MAX}; //!< UINT64_MAX: the job has not started [ps]
        bool isTried{false};          //!< true if it was written, or the file had no room
        bool isOpen{false};           //!< true while the file shows it
    };

    void Show(std::size_t job, uint64_t timePs);

    TimelineTracks& m_tracks;
    TraceText& m_text;
    JobRecord m_record;
    std::vector<Current> m_current; //!< per job
};

} // namespace cosim

#endif // COSIM_JOB_TRACKS_H
