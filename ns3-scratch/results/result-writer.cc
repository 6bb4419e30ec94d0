/*
 * SPDX-License-Identifier: GPL-2.0-only
 */

#include "results/result-writer.h"

#include "results/bus-bandwidth.h"
#include "results/job-writer.h"
#include "results/path-writer.h"
#include "results/repeat-writer.h"
#include "support/json-writer.h"

#include <algorithm>
#include <vector>

namespace cosim
{

namespace
{

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
            result.push_back(
                {timing.GetCompute(iteration, layer), 0, timing.GetExposed(iteration, layer)});
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
WriteLayer(JsonWriter& json, const std::string& name, const LayerTimes& times)
{
    json.Key("name").String(name);
    json.Key("compute_ns").Nanoseconds(times.compute);
    json.Key("raw_comm_ns").Nanoseconds(times.raw);
    json.Key("exposed_comm_ns").Nanoseconds(times.exposed);
}

void
WriteIterations(JsonWriter& json, const TimingRecord& timing)
{
    json.Key("iterations").BeginArray();
    uint64_t start = 0;
    for (uint32_t i = 0; i < timing.GetIterations() && timing.IsComplete(i); ++i)
    {
        const TimingRecord::Parts parts = timing.GetParts(i);
        const uint64_t end = timing.GetPartsEnd(i);
        json.BeginObject();
        json.Key("index").Uint(i);
        json.Key("start_ns").Nanoseconds(start);
        json.Key("end_ns").Nanoseconds(end);
        json.Key("time_ns").Nanoseconds(end - start);
        json.Key("compute_ns").Nanoseconds(parts.compute);
        json.Key("exposed_comm_ns").Nanoseconds(parts.exposed);
        json.Key("waiting_ns").Nanoseconds(end - start - parts.compute - parts.exposed);
        json.EndObject();
        start = end;
    }
    json.EndArray();
}

void
WriteLayers(JsonWriter& json,
            const std::vector<std::string>& names,
            const std::vector<LayerTimes>& layerTimes)
{
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
        json.BeginObject();
        WriteLayer(json, names[layer], sum);
        json.EndObject();
    }
    json.EndArray();
    json.Key("layer_iterations").BeginArray();
    for (std::size_t i = 0; i < layerTimes.size(); ++i)
    {
        json.BeginObject();
        json.Key("iteration").Uint(i / names.size());
        WriteLayer(json, names[i % names.size()], layerTimes[i]);
        json.EndObject();
    }
    json.EndArray();
}

void
WriteCollectives(JsonWriter& json, const Stream& stream, const CollectiveRecord& record)
{
    json.Key("collectives").BeginArray();
    for (const Collective& collective : stream.collectives)
    {
        const CollectiveRecord::Times& times = record.GetTimes(collective.id);
        if (times.ranksLeft != 0)
        {
            continue;
        }
        const Program& program = stream.programs[collective.program];
        const uint64_t duration = times.end - times.start;
        const double bandwidth = GetAlgorithmBandwidth(collective.bytes, duration);
        const uint32_t groups = std::max(1U, collective.groups);
        const uint32_t groupSize = program.groupSize / groups;
        json.BeginObject();
        json.Key("name").String(collective.name);
        json.Key("operation").String(program.operation);
        json.Key("algorithm").String(program.name);
        json.Key("bytes").Uint(collective.bytes);
        json.Key("chunks").Uint(collective.chunks);
        json.Key("group_size").Uint(groupSize);
        if (groups > 1)
        {
            json.Key("groups").Uint(groups);
        }
        if (!collective.choice.empty())
        {
            json.Key("choice").String(collective.choice);
        }
        json.Key("iteration").Uint(collective.iteration);
        json.Key("layer");
        if (stream.traces.empty())
        {
            json.String("");
        }
        else
        {
            json.String(stream.traces.front().layers[collective.layer]);
        }
        json.Key("start_ns").Nanoseconds(times.start);
        json.Key("end_ns").Nanoseconds(times.end);
        json.Key("time_ns").Nanoseconds(duration);
        json.Key("algbw_bps").Double(bandwidth);
        json.Key("busbw_bps").Double(bandwidth * GetBusFactor(program.operation, groupSize));
        json.EndObject();
    }
    json.EndArray();
}

void
WriteDimensions(JsonWriter& json, const std::vector<DimensionStatistics>& dimensions)
{
    json.Key("dimensions").BeginArray();
    for (const DimensionStatistics& dimension : dimensions)
    {
        json.BeginObject();
        json.Key("name").String(dimension.name);
        json.Key("links").Uint(dimension.links);
        json.Key("wire_bytes").Uint(dimension.wireBytes);
        json.Key("drops").Uint(dimension.drops);
        json.Key("max_queue_bytes").Uint(dimension.maxQueueBytes);
        json.Key("utilization_mean").Double(dimension.utilizationMean);
        json.Key("utilization_max").Double(dimension.utilizationMax);
        json.EndObject();
    }
    json.EndArray();
}

void
WriteNetwork(JsonWriter& json, const NetworkStatistics& network)
{
    json.BeginObject();
    json.Key("payload_bytes").Uint(network.payloadBytes);
    json.Key("wire_bytes").Uint(network.wireBytes);
    json.Key("packets").Uint(network.packets);
    json.Key("data_packets").Uint(network.dataPackets);
    json.Key("messages").Uint(network.messages);
    json.Key("drops").Uint(network.drops);
    json.Key("retransmissions").Uint(network.retransmissions);
    json.Key("rto_events").Uint(network.rtoEvents);
    json.Key("rto_wait_ns").Nanoseconds(network.rtoWaitPs);
    json.Key("ecn_marks").Uint(network.ecnMarks);
    json.Key("link_utilization_mean").Double(network.linkUtilizationMean);
    json.Key("flows").Uint(network.flows);
    json.Key("rtt_flows").Uint(network.rttFlows);
    json.Key("rtt_mean_ns").Double(network.rttMeanNs);
    json.Key("rtt_p50_ns").Double(network.rttP50Ns);
    json.Key("rtt_p99_ns").Double(network.rttP99Ns);
    json.Key("fct_mean_ns").Double(network.fctMeanNs);
    json.Key("fct_p50_ns").Double(network.fctP50Ns);
    json.Key("fct_p99_ns").Double(network.fctP99Ns);
    json.Key("fct_max_ns").Double(network.fctMaxNs);
    WriteDimensions(json, network.dimensions);
    json.EndObject();
}

void
WriteReconfigurations(JsonWriter& json,
                      const Reconfiguration& settings,
                      const std::vector<LinkChange>& changes)
{
    json.Key("reconfigurations").BeginArray();
    for (const LinkChange& change : changes)
    {
        json.BeginObject();
        json.Key("start_ns").Nanoseconds(change.timePs);
        json.Key("pause_ns").Nanoseconds(settings.latencyPs);
        json.Key("new_circuits").Uint(change.newCircuits);
        json.Key("demand_bytes").Uint(change.demandBytes);
        json.Key("demand_pairs").Uint(change.demandPairs);
        json.Key("distant_pairs").Uint(change.distantPairs);
        json.EndObject();
    }
    json.EndArray();
}

void
WriteEvents(JsonWriter& json,
            const std::vector<NetworkEventReport>& reports,
            const NetworkStatistics& network)
{
    json.Key("network_events").BeginObject();
    json.Key("packets_lost").Uint(network.linkLosses);
    json.Key("packets_refused").Uint(network.refusals);
    json.Key("events").BeginArray();
    for (const NetworkEventReport& report : reports)
    {
        json.BeginObject();
        json.Key("time_ns").Nanoseconds(report.timePs);
        json.Key("event").String(report.text);
        json.Key("rerouting").Bool(report.isReroute);
        json.Key("rerouted_paths").Uint(report.reroutedPaths);
        json.Key("broken_paths").Uint(report.brokenPaths);
        json.EndObject();
    }
    json.EndArray();
    json.EndObject();
}

void
WriteReordering(JsonWriter& json, const NetworkStatistics& network)
{
    json.Key("reordering").BeginObject();
    json.Key("packets").Uint(network.reordering->packets);
    json.Key("largest_displacement").Uint(network.reordering->largestDisplacement);
    json.Key("unneeded_retransmissions").Uint(network.repeatedPackets);
    json.EndObject();
}

void
WriteSharedLinks(JsonWriter& json, const Topology& topology, const SharedLinks& shared)
{
    json.Key("shared_links").BeginArray();
    for (const SharedLink& one : shared.GetLinks())
    {
        json.BeginObject();
        json.Key("source").String(topology.nodeNames[topology.linkSource[one.link]]);
        json.Key("target").String(topology.nodeNames[topology.linkTarget[one.link]]);
        json.Key("link").Uint(one.link);
        json.Key("flows").Uint(one.paths.size());
        json.Key("bytes").Uint(one.bytes);
        json.Key("pairs").BeginArray();
        constexpr std::size_t most = 64;
        for (std::size_t i = 0; i < std::min(one.paths.size(), most); ++i)
        {
            json.BeginArray();
            json.Uint(topology.pathSource[one.paths[i]]);
            json.Uint(topology.pathTarget[one.paths[i]]);
            json.EndArray();
        }
        json.EndArray();
        json.EndObject();
    }
    json.EndArray();
}

void
WriteLossRisk(JsonWriter& json, const LossRisk& risk)
{
    json.Key("loss_risk").BeginObject();
    switch (risk.cause)
    {
    case LossRisk::Cause::QUEUE:
        json.Key("cause").String("queue");
        json.Key("arriving_bytes").Uint(risk.arrivingBytes);
        json.Key("buffer_bytes").Uint(risk.bufferBytes);
        break;
    case LossRisk::Cause::LINK:
        json.Key("cause").String("link");
        break;
    case LossRisk::Cause::FAILURE:
        json.Key("cause").String("failure");
        break;
    }
    json.EndObject();
}

void
WriteSystem(JsonWriter& json, const Stream& stream, const Admission& scheduler)
{
    json.Key("system").BeginObject();
    json.Key("max_outstanding_chunks").BeginObject();
    for (uint32_t i = 0; i < stream.topology.dimensions.size(); ++i)
    {
        json.Key(stream.topology.dimensions[i]).Uint(scheduler.GetMaxOutstanding(i));
    }
    json.EndObject();
    json.EndObject();
}

} // namespace

std::string
WriteResult(const Stream& stream,
            const RunOutcome& outcome,
            const RunRecord& record,
            const Admission& scheduler,
            const NetworkStatistics& network,
            const PathRecord* path,
            const RepeatRecord* repeat)
{
    const std::vector<LayerTimes> layerTimes = CollectLayers(stream, record);
    JsonWriter json;
    json.BeginObject();
    json.Key("status").String(outcome.status);
    if (!outcome.error.empty())
    {
        json.Key("error").String(outcome.error);
    }
    json.Key("time_ns").Nanoseconds(outcome.timePs);
    const std::vector<JobRecord::Job>& jobs = record.jobs.GetJobs();
    if (jobs.empty())
    {
        WriteIterations(json, record.timing);
    }
    else
    {
        json.Key("iterations").BeginArray(); // each job has its own iterations
        json.EndArray();
        WriteJobs(json, jobs);
    }
    WriteLayers(json,
                stream.traces.empty() ? std::vector<std::string>() : stream.traces.front().layers,
                layerTimes);
    WriteCollectives(json, stream, record.collectives);
    if (path != nullptr)
    {
        WritePaths(json, stream, *path);
    }
    if (repeat != nullptr)
    {
        WriteRepeat(json, *repeat);
    }
    WriteSystem(json, stream, scheduler);
    json.Key("network");
    WriteNetwork(json, network);
    if (const Reconfiguration& settings = stream.topology.reconfiguration; settings.intervalPs > 0)
    {
        WriteReconfigurations(json, settings, record.links.GetChanges());
    }
    if (const Topology& topology = stream.topology;
        !topology.events.empty() || !topology.traffic.empty() || !topology.linkLossPpb.empty())
    {
        WriteEvents(json, record.links.GetEvents(), network);
    }
    if (network.reordering)
    {
        WriteReordering(json, network);
    }
    if (stream.topology.sharedLinks > 0)
    {
        WriteSharedLinks(json, stream.topology, record.shared);
    }
    if (network.lossRisk)
    {
        WriteLossRisk(json, *network.lossRisk);
    }
    json.Key("simulator").BeginObject();
    json.Key("events").Uint(outcome.events);
    json.EndObject();
    json.EndObject();
    return json.GetText();
}

std::string
WriteNetworkStatistics(const NetworkStatistics& network)
{
    JsonWriter json;
    WriteNetwork(json, network);
    return json.GetText();
}

} // namespace cosim
