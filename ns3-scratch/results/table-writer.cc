/*
 * SPDX-License-Identifier: GPL-2.0-only
 */

#include "results/table-writer.h"

#include "results/csv-writer.h"

#include <algorithm>
#include <cstdint>
#include <utility>
#include <vector>

namespace cosim
{

namespace
{

double
Nanoseconds(uint64_t ps)
{
    return static_cast<double>(ps) / 1e3;
}

/**
 * @param rows candidates
 * @param weight returns how telling a row is
 * @return the most telling rows, at most MAX_TABLE_ROWS, in the order of the candidates
 */
template <typename Weight>
std::vector<uint32_t>
Select(std::vector<uint32_t> rows, Weight weight)
{
    if (rows.size() > MAX_TABLE_ROWS)
    {
        std::nth_element(rows.begin(),
                         rows.begin() + MAX_TABLE_ROWS,
                         rows.end(),
                         [&weight](uint32_t a, uint32_t b) {
                             return std::pair(-weight(a), a) < std::pair(-weight(b), b);
                         });
        rows.resize(MAX_TABLE_ROWS);
        std::sort(rows.begin(), rows.end());
    }
    return rows;
}

std::string
WriteLinks(const Topology& topology, const Fabric& fabric)
{
    const std::vector<LinkCounters> counters = fabric.GetLinks();
    const auto elapsed = static_cast<double>(fabric.GetElapsed());
    std::vector<uint32_t> rows(counters.size());
    for (uint32_t link = 0; link < rows.size(); ++link)
    {
        rows[link] = link;
    }
    rows = Select(std::move(rows), [&counters](uint32_t link) {
        return static_cast<double>(counters[link].wireBytes);
    });
    CsvWriter csv("link,source,target,dimension,rate_bps,latency_ns,buffer_bytes,wire_bytes,"
                  "utilization,drops,ecn_marks,max_queue_bytes");
    for (const uint32_t link : rows)
    {
        const LinkState& state = fabric.GetLiveLinks().Get(link);
        const LinkCounters& counted = counters[link];
        csv.Uint(link).Uint(state.source).Uint(state.target);
        csv.Name(topology.dimensions[state.dimension]).Uint(state.rateBps);
        csv.Double(Nanoseconds(state.latencyPs)).Uint(state.bufferBytes);
        csv.Uint(counted.wireBytes);
        csv.Double(
            elapsed == 0 ? 0 : std::clamp(static_cast<double>(counted.busyPs) / elapsed, 0.0, 1.0));
        csv.Uint(counted.drops).Uint(counted.marks).Uint(counted.maxQueueBytes);
        csv.EndLine();
    }
    return csv.Take();
}

double
Slowdown(const FlowCounters& flow)
{
    return flow.idealPs == 0
               ? 0
               : static_cast<double>(flow.completionPs) / static_cast<double>(flow.idealPs);
}

std::string
WriteFlows(const Topology& topology, const Fabric& fabric)
{
    std::vector<uint32_t> rows;
    std::vector<uint32_t> routes(topology.pathSource.size());
    for (uint32_t path = 0; path < topology.pathSource.size(); ++path)
    {
        if (path > 0 && topology.pathSource[path] == topology.pathSource[path - 1] &&
            topology.pathTarget[path] == topology.pathTarget[path - 1])
        {
            routes[path] = routes[path - 1] + 1;
        }
        if (fabric.GetFlow(path).messages > 0)
        {
            rows.push_back(path);
        }
    }
    rows = Select(std::move(rows),
                  [&fabric](uint32_t path) { return Slowdown(fabric.GetFlow(path)); });
    CsvWriter csv("source,target,route,messages,payload_bytes,fct_mean_ns,fct_max_ns,"
                  "ideal_fct_mean_ns,slowdown,retransmissions,rto_events");
    for (const uint32_t path : rows)
    {
        const FlowCounters& flow = fabric.GetFlow(path);
        const auto messages = static_cast<double>(flow.messages);
        csv.Uint(topology.pathSource[path]).Uint(topology.pathTarget[path]).Uint(routes[path]);
        csv.Uint(flow.messages).Uint(flow.bytes);
        csv.Double(Nanoseconds(flow.completionPs) / messages);
        csv.Double(Nanoseconds(flow.maxCompletionPs));
        csv.Double(Nanoseconds(flow.idealPs) / messages);
        csv.Double(Slowdown(flow)).Uint(flow.retransmissions).Uint(flow.timeouts);
        csv.EndLine();
    }
    return csv.Take();
}

std::string
WriteCompletionTimes(const Fabric& fabric)
{
    constexpr uint32_t steps = 100;
    CsvWriter csv("fraction,fct_ns");
    for (uint32_t i = 0; i <= steps; ++i)
    {
        const double fraction = static_cast<double>(i) / steps;
        csv.Double(fraction).Double(Nanoseconds(fabric.GetCompletionQuantilePs(fraction)));
        csv.EndLine();
    }
    return csv.Take();
}

} // namespace

ResultTables
WriteTables(const Topology& topology, const Fabric& fabric)
{
    return {WriteLinks(topology, fabric),
            WriteFlows(topology, fabric),
            WriteCompletionTimes(fabric)};
}

} // namespace cosim
