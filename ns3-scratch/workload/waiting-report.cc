/*
 * SPDX-License-Identifier: GPL-2.0-only
 */

#include "workload/waiting-report.h"

#include "support/number-ranges.h"

#include <algorithm>
#include <sstream>

namespace cosim
{

namespace
{

/// @return part of a sentence that says what an unfinished rank waits for
std::string
Describe(const TraceWorker& worker, const CollectiveEngine& engine)
{
    const Trace& trace = *worker.plan->trace;
    std::ostringstream text;
    text << "rank " << worker.rank;
    const auto name = [&trace](uint32_t node) {
        return "node " + std::to_string(node) + " (" + trace.names[node] + ")";
    };
    for (uint32_t node = 0; node < worker.pending.size(); ++node)
    {
        if (worker.pending[node] == TraceWorker::BEGUN)
        {
            text << " waits for " << name(node);
            if (trace.type[node] == NodeType::COLLECTIVE)
            {
                text << ", " << engine.Describe(trace.collective[node], worker.rank);
            }
            else if (trace.type[node] == NodeType::RECV)
            {
                text << ", " << trace.bytes[node] << " bytes from rank "
                     << trace.GetPeer(node, worker.rank) << " with tag " << trace.tag[node];
            }
            return text.str();
        }
    }
    for (uint32_t node = 0; node < worker.pending.size(); ++node)
    {
        if (worker.pending[node] != TraceWorker::DONE)
        {
            text << " cannot start " << name(node);
            for (uint32_t d = trace.depBegin[node]; d < trace.depBegin[node + 1]; ++d)
            {
                if (worker.pending[trace.dep[d]] != TraceWorker::DONE)
                {
                    text << " before " << name(trace.dep[d]);
                    return text.str();
                }
            }
            if (!trace.startDepBegin.empty())
            {
                for (uint32_t d = trace.startDepBegin[node]; d < trace.startDepBegin[node + 1]; ++d)
                {
                    if (worker.pending[trace.startDep[d]] < TraceWorker::BEGUN)
                    {
                        text << " before the start of " << name(trace.startDep[d]);
                        return text.str();
                    }
                }
            }
            if (worker.GetLane(node) != 0)
            {
                text << " before lane " << worker.GetLane(node) << " has a free slot";
            }
            break;
        }
    }
    return text.str();
}

} // namespace

std::string
DescribeWaiting(const std::vector<TraceWorker>& workers,
                const CollectiveEngine& engine,
                uint32_t details)
{
    std::vector<Rank> ranks;
    std::string reasons;
    for (const TraceWorker& worker : workers)
    {
        if (worker.nodesLeft != 0)
        {
            if (ranks.size() < details)
            {
                reasons += "; " + Describe(worker, engine);
            }
            ranks.push_back(worker.rank);
        }
    }
    std::sort(ranks.begin(), ranks.end());
    const std::string deadlock = engine.GetAdmission().DescribeDeadlock();
    return std::to_string(ranks.size()) + " of " + std::to_string(workers.size()) +
           " ranks wait (" + DescribeRanges(ranks) + ")" +
           (deadlock.empty() ? "" : ": " + deadlock) + reasons;
}

} // namespace cosim
