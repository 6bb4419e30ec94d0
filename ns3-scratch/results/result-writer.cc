/*
 * SPDX-License-Identifier: GPL-2.0-only
 */

#include "results/result-writer.h"

#include "results/bus-bandwidth.h"
#include "support/json-writer.h"
#include "support/quantile.h"

#include <algorithm>
#include <array>
#include <cstddef>
#include <numeric>
#include <optional>
#include <span>
#include <string_view>
#include <vector>

namespace cosim
{

namespace
{

/// @return a value that is in the result only under a condition
template <typename T>
std::optional<T>
OptionalIf(bool condition, const T& value)
{
    return condition ? std::optional(value) : std::nullopt;
}

/// Times of a layer, in one iteration or in total [ps].
struct LayerTimes
{
    uint64_t compute{0};
    uint64_t raw{0}; //!< sum over its collectives of the time from the first issue to the end
    uint64_t exposed{0};
};

/// @return the times of the layers, indexed by iteration, then by layer
std::vector<LayerTimes>
CollectLayers(const Stream& stream, const RunRecord& record)
{
    const TimingRecord& timing = record.timing;
    const uint32_t layers = timing.GetLayers();
    std::vector<LayerTimes> result;
    result.reserve(std::size_t{timing.GetIterations()} * layers);
    for (uint32_t iteration = 0; iteration < timing.GetIterations(); ++iteration)
    {
        for (uint32_t layer = 0; layer < layers; ++layer)
        {
            const TimingRecord::Times times = timing.GetLayer(iteration, layer);
            result.push_back({times.compute, 0, times.exposed});
        }
    }
    for (const Collective& collective : stream.collectives)
    {
        const CollectiveRecord::Times& times = record.collectives.GetTimes(collective.id);
        if (times.ranksLeft == 0)
        {
            result[std::size_t{collective.iteration} * layers + collective.layer].raw +=
                times.end - times.start;
        }
    }
    return result;
}

void
WriteLayers(JsonWriter& json, const Stream& stream, const RunRecord& record)
{
    const std::vector<std::string> names =
        stream.traces.empty() ? std::vector<std::string>() : stream.traces.front().layers;
    const std::vector<LayerTimes> layerTimes = CollectLayers(stream, record);
    const auto write = [&](auto iteration, std::size_t layer, const LayerTimes& times) {
        json.Object(Named{"iteration", iteration},
                    Named{"name", names[layer]},
                    Named{"compute_ns", times.compute},
                    Named{"raw_comm_ns", times.raw},
                    Named{"exposed_comm_ns", times.exposed});
    };
    json.Key("layers").BeginArray();
    for (std::size_t layer = 0; layer < names.size(); ++layer)
    {
        LayerTimes sum;
        for (std::size_t i = layer; i < layerTimes.size(); i += names.size())
        {
            sum.compute += layerTimes[i].compute;
            sum.raw += layerTimes[i].raw;
            sum.exposed += layerTimes[i].exposed;
        }
        write(std::optional<std::size_t>(), layer, sum);
    }
    json.EndArray();
    json.Key("layer_iterations").BeginArray();
    for (std::size_t i = 0; i < layerTimes.size(); ++i)
    {
        write(i / names.size(), i % names.size(), layerTimes[i]);
    }
    json.EndArray();
}

void
WriteIterations(JsonWriter& json, const TimingRecord& timing)
{
    json.Key("iterations").BeginArray();
    uint64_t start = 0;
    for (uint32_t i = 0; i < timing.GetEnded(); ++i)
    {
        const TimingRecord::Times parts = timing.GetParts(i);
        const uint64_t end = timing.GetPartsEnd(i);
        json.Object(Named{"index", i},
                    Named{"start_ns", start},
                    Named{"end_ns", end},
                    Named{"time_ns", end - start},
                    Named{"compute_ns", parts.compute},
                    Named{"exposed_comm_ns", parts.exposed},
                    Named{"waiting_ns", end - start - parts.compute - parts.exposed});
        start = end;
    }
    json.EndArray();
}

/**
 * Write the ended iterations of a job.
 *
 * @param times receives their times [ps]
 */
void
WriteJob(JsonWriter& json, const JobRecord::Job& job, std::vector<uint64_t>& times)
{
    json.BeginObject();
    json.Member("name", job.name);
    json.Member("start_ns", job.start);
    json.Key("iterations").BeginArray();
    uint64_t start = job.start;
    for (std::size_t i = 0; i < job.iterations.size() && job.iterations[i].nodesLeft == 0; ++i)
    {
        const uint64_t end = std::max(start, job.iterations[i].end);
        json.Object(Named{"index", i},
                    Named{"start_ns", start},
                    Named{"end_ns", end},
                    Named{"time_ns", end - start});
        times.push_back(end - start);
        start = end;
    }
    json.EndArray();
    json.EndObject();
}

/**
 * Write the jobs that have started, and the mean and the percentiles of the times of all their
 * iterations. A percentile is the smallest time that this share of the iterations does not exceed.
 */
void
WriteJobs(JsonWriter& json, const std::vector<JobRecord::Job>& jobs)
{
    std::vector<uint64_t> times;
    json.Array("jobs", jobs, [&](const JobRecord::Job& job) {
        if (job.start != JobRecord::Job::UNKNOWN)
        {
            WriteJob(json, job, times);
        }
    });
    if (!times.empty())
    {
        std::sort(times.begin(), times.end());
        const uint64_t sum = std::accumulate(times.begin(), times.end(), uint64_t{0});
        json.Key("iteration_times")
            .Object(Named{"count", times.size()},
                    Named{"mean_ns", (sum + times.size() / 2) / times.size()},
                    Named{"p50_ns", GetQuantile(times, 0.5)},
                    Named{"p99_ns", GetQuantile(times, 0.99)},
                    Named{"max_ns", times.back()});
    }
}

/// @return the name of the layer of a collective
std::string_view
GetLayer(const Stream& stream, const Collective& collective)
{
    return stream.traces.empty() ? std::string_view()
                                 : stream.traces.front().layers[collective.layer];
}

void
WriteCollectives(JsonWriter& json, const Stream& stream, const CollectiveRecord& record)
{
    json.Array("collectives", stream.collectives, [&](const Collective& collective) {
        const CollectiveRecord::Times& times = record.GetTimes(collective.id);
        if (times.ranksLeft != 0)
        {
            return;
        }
        const Program& program = stream.programs[collective.program];
        const uint64_t duration = times.end - times.start;
        const double bandwidth = GetAlgorithmBandwidth(collective.bytes, duration);
        const uint32_t groups = std::max(1U, collective.groups);
        const uint32_t ranks = stream.CountRanks(collective) * stream.topology.folding.copies;
        const uint32_t groupSize = ranks / groups;
        json.Object(Named{"name", collective.name},
                    Named{"operation", program.operation},
                    Named{"algorithm", program.name},
                    Named{"bytes", collective.bytes},
                    Named{"chunks", collective.chunks},
                    Named{"group_size", groupSize},
                    Named{"groups", OptionalIf(groups > 1, groups)},
                    Named{"choice", OptionalIf(!collective.choice.empty(), collective.choice)},
                    Named{"iteration", collective.iteration},
                    Named{"layer", GetLayer(stream, collective)},
                    Named{"start_ns", times.start},
                    Named{"end_ns", times.end},
                    Named{"time_ns", duration},
                    Named{"algbw_bps", bandwidth},
                    Named{"busbw_bps", bandwidth * GetBusFactor(program.operation, groupSize)});
    });
}

void
WritePathTimes(JsonWriter& json, const PathTimes& times)
{
    json.Key("times").BeginObject();
    for (std::size_t kind = 0; kind < times.size(); ++kind)
    {
        json.Member(PATH_KINDS[kind], times[kind]);
    }
    json.EndObject();
}

void
WritePathStep(JsonWriter& json, const Stream& stream, const PathStep& step)
{
    json.BeginObject();
    if (step.label.trace == nullptr)
    {
        const Collective& collective = stream.collectives[step.label.id];
        json.Member("name", collective.name);
        json.Member("kind", "collective");
        json.Member("layer", GetLayer(stream, collective));
    }
    else
    {
        const Trace& trace = *step.label.trace;
        const uint32_t node = step.label.id;
        const NodeType type = trace.type[node];
        json.Member("name", trace.names[node]);
        json.Member("kind",
                    type == NodeType::COMPUTE ? "compute"
                    : type == NodeType::TIMER ? "timer"
                                              : "message");
        json.Member("layer", trace.layers[trace.layer[node]]);
    }
    json.Member("start_ns", step.startPs);
    json.Member("end_ns", step.endPs);
    json.Member("first_rank", step.firstRank);
    json.Member("last_rank", step.lastRank);
    WritePathTimes(json, step.times);
    json.EndObject();
}

void
WritePaths(JsonWriter& json, const Stream& stream, const PathRecord& record)
{
    uint64_t iteration = 0;
    json.Array("critical_path", record.GetPaths(), [&](const IterationPath& path) {
        json.BeginObject();
        json.Member("iteration", iteration++);
        json.Member("start_ns", path.startPs);
        json.Member("end_ns", path.endPs);
        json.Member("time_ns", path.endPs - path.startPs);
        WritePathTimes(json, path.times);
        json.Array("steps", path.steps, [&](const PathStep& step) {
            WritePathStep(json, stream, step);
        });
        json.Member("steps_left_out", path.othersLeftOut);
        json.EndObject();
    });
}

void
WriteSystem(JsonWriter& json, const Topology& topology, const Admission& admission)
{
    json.Key("system").BeginObject();
    json.Key("max_outstanding_chunks").BeginObject();
    for (uint32_t i = 0; i < topology.dimensions.size(); ++i)
    {
        json.Member(topology.dimensions[i], admission.GetMaxOutstanding(i));
    }
    json.EndObject();
    json.EndObject();
}

void
WriteReconfigurations(JsonWriter& json,
                      const Reconfiguration& settings,
                      const std::vector<LinkChange>& changes)
{
    json.Array("reconfigurations", changes, [&](const LinkChange& change) {
        json.BeginObject();
        json.Member("start_ns", change.timePs);
        json.Member("pause_ns", settings.latencyPs);
        json.Members(change);
        json.EndObject();
    });
}

void
WriteSharedLinks(JsonWriter& json, const Topology& topology, const SharedLinks& shared)
{
    json.Array("shared_links", shared.GetLinks(), [&](const SharedLink& one) {
        constexpr std::size_t most = 64;
        std::vector<std::array<Rank, 2>> pairs;
        for (std::size_t i = 0; i < std::min(one.paths.size(), most); ++i)
        {
            pairs.push_back({topology.pathSource[one.paths[i]], topology.pathTarget[one.paths[i]]});
        }
        json.Object(Named{"source", topology.nodeNames[topology.linkSource[one.link]]},
                    Named{"target", topology.nodeNames[topology.linkTarget[one.link]]},
                    Named{"link", one.link},
                    Named{"flows", one.paths.size()},
                    Named{"bytes", one.bytes},
                    Named{"pairs", pairs});
    });
}

/// Write what the fabric counted, and what happened to the links.
void
WriteNetwork(JsonWriter& json, const Topology& topology, const RunData& run)
{
    const NetworkStatistics& network = run.network;
    const LinkRecord& links = run.record.links;
    json.Member("network", network);
    if (topology.reconfiguration.intervalPs > 0)
    {
        WriteReconfigurations(json, topology.reconfiguration, links.GetChanges());
    }
    if (!topology.events.empty() || !topology.traffic.empty() || !topology.linkLossPpb.empty())
    {
        json.Key("network_events")
            .Object(Named{"packets_lost", network.linkLosses},
                    Named{"packets_refused", network.refusals},
                    Named{"events", links.GetEvents()});
    }
    json.Member("reordering", network.reordering);
    if (topology.sharedLinks > 0)
    {
        WriteSharedLinks(json, topology, run.record.shared);
    }
    json.Member("loss_risk", network.lossRisk);
}

} // namespace

std::string
WriteResult(const RunData& run)
{
    const Stream& stream = run.stream;
    const std::vector<JobRecord::Job>& jobs = run.record.jobs.GetJobs();
    JsonWriter json;
    json.BeginObject();
    json.Member("status", run.outcome.status);
    json.Member("error", OptionalIf(!run.outcome.error.empty(), run.outcome.error));
    json.Member("time_ns", run.outcome.timePs);
    if (jobs.empty())
    {
        WriteIterations(json, run.record.timing);
    }
    else
    {
        json.Member("iterations", std::span<uint64_t>()); // each job has its own iterations
        WriteJobs(json, jobs);
    }
    WriteLayers(json, stream, run.record);
    WriteCollectives(json, stream, run.record.collectives);
    if (run.path != nullptr)
    {
        WritePaths(json, stream, *run.path);
    }
    WriteSystem(json, stream.topology, run.admission);
    WriteNetwork(json, stream.topology, run);
    json.Member("replay", run.network.replay);
    json.Member("rdma", run.network.rdma);
    json.Member("pauses", run.network.pauses);
    const Folding& folding = stream.topology.folding;
    json.Key("simulator")
        .Object(
            Named{"events", run.outcome.events},
            Named{"ranks", OptionalIf(folding.Exists(), stream.topology.ranks / folding.copies)});
    json.EndObject();
    return json.GetText();
}

std::string
WriteNetworkStatistics(const NetworkStatistics& network)
{
    JsonWriter json;
    json.Value(network);
    return json.GetText();
}

} // namespace cosim
