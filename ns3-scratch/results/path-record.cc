/*
 * SPDX-License-Identifier: GPL-2.0-only
 */

#include "results/path-record.h"

#include <algorithm>

namespace cosim
{

PathRecord::PathRecord(const Stream& stream)
{
    for (const Trace& trace : stream.traces)
    {
        m_isShared = m_isShared || !trace.jobs.empty();
    }
    for (const Trace& trace : stream.traces)
    {
        for (const uint32_t iteration : trace.iteration)
        {
            const std::size_t index = m_isShared ? 0 : iteration;
            m_iterations.resize(std::max(m_iterations.size(), index + 1));
            m_iterations[index].nodesLeft += trace.ranks.size();
        }
    }
}

void
PathRecord::OnNodeEnded(const NodeEvent& event, const CauseRef& end)
{
    Iteration& iteration = m_iterations[m_isShared ? 0 : event.trace->iteration[event.node]];
    if (end.GetEnd() >= iteration.end.GetEnd())
    {
        iteration.end = end;
    }
    --iteration.nodesLeft;
    while (m_paths.size() < m_iterations.size() && m_iterations[m_paths.size()].nodesLeft == 0)
    {
        Collect(m_iterations[m_paths.size()]);
    }
}

/// Walk from the end of an iteration back to the end of the one before it.
void
PathRecord::Collect(Iteration& iteration)
{
    IterationPath path{m_paths.empty() ? 0 : m_paths.back().endPs, 0, {}, {}};
    path.endPs = std::max(path.startPs, iteration.end.GetEnd());
    CauseRef at = std::move(iteration.end);
    for (; at.GetEnd() > path.startPs; at = CauseRef(at->parent))
    {
        const uint64_t start = std::max(at->parent.GetEnd(), path.startPs);
        const auto kind = static_cast<std::size_t>(at->kind);
        path.times[kind] += at->endPs - start;
        if (path.steps.empty() || path.steps.back().label != at->label)
        {
            path.steps.push_back({at->label, start, at->endPs, at->rank, at->rank});
        }
        PathStep& step = path.steps.back();
        step.startPs = start;
        step.firstRank = at->rank;
        step.times[kind] += at->endPs - start;
    }
    at.Cut(); // the next iterations need only its end
    if (path.steps.size() > MAX_STEPS)
    {
        path.othersLeftOut = path.steps.size() - MAX_STEPS;
        std::nth_element(path.steps.begin(),
                         path.steps.begin() + MAX_STEPS,
                         path.steps.end(),
                         [](const PathStep& a, const PathStep& b) {
                             return a.endPs - a.startPs > b.endPs - b.startPs;
                         });
        path.steps.resize(MAX_STEPS);
    }
    std::sort(path.steps.begin(), path.steps.end(), [](const PathStep& a, const PathStep& b) {
        return a.startPs < b.startPs;
    });
    m_paths.push_back(std::move(path));
}

} // namespace cosim
