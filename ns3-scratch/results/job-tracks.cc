/*
 * SPDX-License-Identifier: GPL-2.0-only
 */

#include "results/job-tracks.h"

#include <algorithm>
#include <string>

namespace cosim
{

JobTracks::JobTracks(const Stream& stream, TimelineTracks& tracks, TraceText& text)
    : m_tracks(tracks),
      m_text(text),
      m_record(stream),
      m_current(m_record.GetJobs().size())
{
    if (m_current.empty())
    {
        return;
    }
    m_text.BeginMeta(PROCESS, 0, "process_name").Text("name", "jobs").End();
    for (std::size_t job = 0; job < m_current.size(); ++job)
    {
        const auto thread = static_cast<uint32_t>(job + 1);
        m_text.BeginMeta(PROCESS, thread, "thread_name")
            .Text("name", m_record.GetJobs()[job].name)
            .End();
        m_text.BeginMeta(PROCESS, thread, "thread_sort_index").Uint("sort_index", thread).End();
    }
}

/// Begin the iteration of a job that runs, once, from the start of the window on.
void
JobTracks::Show(std::size_t job, uint64_t timePs)
{
    Current& current = m_current[job];
    if (current.isTried || timePs < m_tracks.GetStart() ||
        current.iteration == m_record.GetJobs()[job].iterations.size())
    {
        return;
    }
    current.isTried = true;
    if (m_tracks.Accepts(timePs))
    {
        current.isOpen = true;
        m_text
            .Begin('B',
                   PROCESS,
                   static_cast<uint32_t>(job + 1),
                   std::max(current.beginPs, m_tracks.GetStart()))
            .Text("name", "iteration " + std::to_string(current.iteration))
            .End();
    }
}

void
JobTracks::OnNodeBegun(const NodeEvent& event)
{
    m_record.OnNodeBegun(event);
    const std::vector<uint32_t>& jobs = event.trace->job;
    if (!jobs.empty() && jobs[event.node] != 0)
    {
        const std::size_t job = jobs[event.node] - 1;
        m_current[job].beginPs = std::min(m_current[job].beginPs, event.timePs);
        Show(job, event.timePs);
    }
}

void
JobTracks::OnNodeEnded(const NodeEvent& event)
{
    m_record.OnNodeEnded(event);
    const std::vector<uint32_t>& jobs = event.trace->job;
    if (jobs.empty() || jobs[event.node] == 0)
    {
        return;
    }
    const std::size_t job = jobs[event.node] - 1;
    const std::vector<JobRecord::Iteration>& iterations = m_record.GetJobs()[job].iterations;
    Current& current = m_current[job];
    while (current.iteration < iterations.size() && iterations[current.iteration].nodesLeft == 0)
    {
        if (current.isOpen)
        {
            m_text.Begin('E', PROCESS, static_cast<uint32_t>(job + 1), event.timePs).End();
        }
        current = {current.iteration + 1, event.timePs, false, false};
        Show(job, event.timePs);
    }
}

void
JobTracks::Finish(uint64_t timePs)
{
    for (std::size_t job = 0; job < m_current.size(); ++job)
    {
        if (m_current[job].isOpen)
        {
            m_text.Begin('E', PROCESS, static_cast<uint32_t>(job + 1), timePs).End();
        }
    }
}

} // namespace cosim
