/*
 * SPDX-License-Identifier: GPL-2.0-only
 */

#include "results/table-writer.h"

#include "results/csv-writer.h"
#include "stream/node-name.h"

#include <algorithm>
#include <cstdint>
#include <utility>
#include <vector>

namespace cosim
{

namespace
{

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
    const LiveLinks& links = fabric.GetLiveLinks();
    CsvWriter csv;
    csv.Rows(rows,
             Field{"link", [](uint32_t link) { return link; }},
             Field{"source", [&](uint32_t link) { return links.Get(link).source; }},
             Field{"target", [&](uint32_t link) { return links.Get(link).target; }},
             Field{"source_name",
                   [&](uint32_t link) { return NameNode(topology, links.Get(link).source); }},
             Field{"target_name",
                   [&](uint32_t link) { return NameNode(topology, links.Get(link).target); }},
             Field{"dimension",
                   [&](uint32_t link) -> const std::string& {
                       return topology.dimensions[links.Get(link).dimension];
                   }},
             Field{"rate_bps", [&](uint32_t link) { return links.Get(link).rateBps; }},
             Field{"latency_ns", [&](uint32_t link) { return links.Get(link).latencyPs; }},
             Field{"buffer_bytes", [&](uint32_t link) { return links.Get(link).bufferBytes; }},
             Field{"wire_bytes", [&](uint32_t link) { return counters[link].wireBytes; }},
             Field{"utilization",
                   [&](uint32_t link) {
                       const auto busy = static_cast<double>(counters[link].busyPs);
                       return elapsed == 0 ? 0 : std::clamp(busy / elapsed, 0.0, 1.0);
                   }},
             Field{"drops", [&](uint32_t link) { return counters[link].drops; }},
             Field{"ecn_marks", [&](uint32_t link) { return counters[link].marks; }},
             Field{"max_queue_bytes", [&](uint32_t link) { return counters[link].maxQueueBytes; }},
             Field{"pauses", [&](uint32_t link) { return counters[link].pauses; }},
             Field{"paused_ns",
                   [&](uint32_t link) { return static_cast<uint64_t>(counters[link].pausedPs); }});
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
    const auto meanNs = [&](uint32_t path, uint64_t FlowCounters::* sumPs) {
        const FlowCounters& flow = fabric.GetFlow(path);
        return static_cast<double>(flow.*sumPs) / 1e3 / static_cast<double>(flow.messages);
    };
    CsvWriter csv;
    csv.Rows(
        rows,
        Field{"source", [&](uint32_t path) { return topology.pathSource[path]; }},
        Field{"target", [&](uint32_t path) { return topology.pathTarget[path]; }},
        Field{"route", [&](uint32_t path) { return routes[path]; }},
        Field{"messages", [&](uint32_t path) { return fabric.GetFlow(path).messages; }},
        Field{"payload_bytes", [&](uint32_t path) { return fabric.GetFlow(path).bytes; }},
        Field{"fct_mean_ns",
              [&](uint32_t path) { return meanNs(path, &FlowCounters::completionPs); }},
        Field{"fct_max_ns", [&](uint32_t path) { return fabric.GetFlow(path).maxCompletionPs; }},
        Field{"ideal_fct_mean_ns",
              [&](uint32_t path) { return meanNs(path, &FlowCounters::idealPs); }},
        Field{"slowdown", [&](uint32_t path) { return Slowdown(fabric.GetFlow(path)); }},
        Field{"retransmissions",
              [&](uint32_t path) { return fabric.GetFlow(path).retransmissions; }},
        Field{"rto_events", [&](uint32_t path) { return fabric.GetFlow(path).timeouts; }});
    return csv.Take();
}

std::string
WriteCompletionTimes(const Fabric& fabric)
{
    std::vector<double> fractions;
    for (uint32_t percent = 0; percent <= 100; ++percent)
    {
        fractions.push_back(static_cast<double>(percent) / 100);
    }
    CsvWriter csv;
    csv.Rows(
        fractions,
        Field{"fraction", [](double fraction) { return fraction; }},
        Field{"fct_ns", [&](double fraction) { return fabric.GetCompletionQuantilePs(fraction); }});
    return csv.Take();
}

std::string
WritePauses(const Topology& topology, const std::vector<PortPause>& pauses)
{
    CsvWriter csv;
    csv.Rows(
        pauses,
        Field{"start_ns", &PortPause::startPs},
        Field{"end_ns", &PortPause::endPs},
        Field{"link", &PortPause::link},
        Field{"source", &PortPause::source},
        Field{"target", &PortPause::target},
        Field{"source_name",
              [&](const PortPause& pause) { return NameNode(topology, pause.source); }},
        Field{"target_name",
              [&](const PortPause& pause) { return NameNode(topology, pause.target); }},
        Field{"traffic_class", [](const PortPause& pause) { return uint32_t{pause.trafficClass}; }},
        Field{"hops", &PortPause::hops});
    return csv.Take();
}

} // namespace

ResultTables
WriteTables(const Topology& topology,
            const Fabric& fabric,
            const PauseRecord& pauses,
            uint64_t endPs)
{
    return {WriteLinks(topology, fabric),
            WriteFlows(topology, fabric),
            WriteCompletionTimes(fabric),
            topology.pauseFrameBytes == 0
                ? std::string()
                : WritePauses(topology, pauses.GetLongest(endPs, MAX_TABLE_ROWS))};
}

} // namespace cosim
