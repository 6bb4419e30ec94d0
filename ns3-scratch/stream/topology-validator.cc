/*
 * SPDX-License-Identifier: GPL-2.0-only
 */

#include "stream/stream-fields.h"
#include "stream/validators.h"

#include <algorithm>
#include <string>
#include <string_view>
#include <tuple>
#include <unordered_set>
#include <vector>

namespace cosim
{

namespace
{

/// Greatest deviation of a random factor: its logarithm is 1.
constexpr uint32_t MAX_DEVIATION_PPM = 1'000'000;

/// On the fabric native, each transport has a TCP port.
constexpr uint32_t MOST_TRANSPORTS = 4096;

/// Check that links, or pairs of ranks, join two different ends; `what[i]` names one.
void
RequireEnds(const std::vector<uint32_t>& sources,
            const std::vector<uint32_t>& targets,
            const std::string& what)
{
    for (std::size_t i = 0; i < sources.size(); ++i)
    {
        Require(sources[i] != targets[i],
                "topology: {}[{}] goes from {} to itself",
                {what, i, sources[i]});
    }
}

void
ValidateCircuitSettings(const Reconfiguration& settings)
{
    Require(settings.latencyPs < settings.intervalPs,
            "topology: reconfiguration.latency_ps is {}, but it must be less than interval_ps ({})",
            {settings.latencyPs, settings.intervalPs});
    Require(settings.degree >= 1 && settings.degree <= MAX_CIRCUIT_RANKS,
            "topology: reconfiguration.degree is {}, but 1 … {} are accepted",
            {settings.degree, MAX_CIRCUIT_RANKS});
    const uint64_t most = MAX_BYTES / settings.degree;
    Require(settings.circuitRateBps >= MIN_RATE_BPS && settings.circuitRateBps <= most,
            "topology: reconfiguration.circuit_rate_bps is {}, but {} … {} are accepted",
            {settings.circuitRateBps, MIN_RATE_BPS, most});
    Require(settings.circuitBufferBytes <= most && settings.circuitEcnThresholdBytes <= most,
            "topology: the buffer or the ECN threshold of a circuit is more than {} bytes",
            {most});
}

/// Check that a link consists of a whole number of circuits.
void
ValidateCircuitLink(const Topology& topology, std::size_t link)
{
    const Reconfiguration& circuit = topology.reconfiguration;
    const uint64_t count = topology.linkRateBps[link] / circuit.circuitRateBps;
    Require(topology.linkRateBps[link] == count * circuit.circuitRateBps &&
                topology.linkBufferBytes[link] == count * circuit.circuitBufferBytes &&
                topology.linkEcnThresholdBytes[link] == count * circuit.circuitEcnThresholdBytes &&
                topology.linkLatencyPs[link] == circuit.circuitLatencyPs &&
                topology.linkDimension[link] == 0,
            "topology: link {} is not a whole number of circuits of {} bit/s",
            {link, circuit.circuitRateBps});
}

/// Check that all links are circuits between ranks, so that they can change.
void
ValidateCircuits(const Topology& topology)
{
    const Reconfiguration& settings = topology.reconfiguration;
    ValidateCircuitSettings(settings);
    const uint32_t ranks = topology.ranks;
    Require(topology.nodes == ranks && ranks >= 2 && ranks <= MAX_CIRCUIT_RANKS,
            "topology: {} nodes for {} ranks, but a topology of circuits has 2 … {} ranks and no "
            "other nodes",
            {topology.nodes, ranks, MAX_CIRCUIT_RANKS});
    std::unordered_set<uint64_t> pairs;
    std::vector<uint64_t> leaving(ranks);
    std::vector<uint64_t> entering(ranks);
    for (std::size_t link = 0; link < topology.linkSource.size(); ++link)
    {
        ValidateCircuitLink(topology, link);
        const uint32_t source = topology.linkSource[link];
        const uint32_t target = topology.linkTarget[link];
        Require(pairs.insert(PairOf(source, target)).second,
                "topology: two links from rank {} to rank {}, but parallel circuits are one link",
                {source, target});
        const uint64_t count = topology.linkRateBps[link] / settings.circuitRateBps;
        leaving[source] += count;
        entering[target] += count;
    }
    for (uint32_t rank = 0; rank < ranks; ++rank)
    {
        const uint64_t most = std::max(leaving[rank], entering[rank]);
        Require(most <= settings.degree,
                "topology: {} circuits leave or enter rank {}, which has {} ports",
                {most, rank, settings.degree});
    }
    for (std::size_t path = 0; path < topology.pathSource.size(); ++path)
    {
        Require(settings.forwarding ||
                    topology.pathBegin[path + 1] <= uint64_t{topology.pathBegin[path]} + 1,
                "topology: path {} passes through a rank, but ranks do not forward",
                {path});
    }
}

/// Check that the links of a path follow each other.
void
ValidatePath(const Topology& topology, std::size_t path)
{
    uint32_t node = topology.pathSource[path];
    if (node == topology.pathTarget[path])
    {
        Refuse("topology: path {} goes from {} to itself", {path, node});
    }
    uint64_t delayPs = 0;
    for (uint32_t i = topology.pathBegin[path]; i < topology.pathBegin[path + 1]; ++i)
    {
        const uint32_t link = topology.pathLinks[i];
        if (topology.linkSource[link] != node)
        {
            Refuse(
                "topology: path {} continues at node {} with link {}, which does not start there",
                {path, node, link});
        }
        node = topology.linkTarget[link];
        delayPs += topology.linkLatencyPs[link] + topology.forwardingDelayPs;
        if (delayPs > MAX_TIME_PS)
        {
            Refuse("topology: the latencies along path {} sum to more than the {} ps that are "
                   "accepted",
                   {path, MAX_TIME_PS});
        }
    }
    const bool isWaiting = topology.HasCircuits() && !topology.reconfiguration.forwarding &&
                           topology.pathBegin[path] == topology.pathBegin[path + 1];
    if (node != topology.pathTarget[path] && !isWaiting)
    {
        Refuse("topology: path {} ends at node {} instead of rank {}",
               {path, node, topology.pathTarget[path]});
    }
}

/// @return the (source, target) pair of each path, sorted
std::vector<uint64_t>
ValidatePaths(const Topology& topology)
{
    std::vector<uint64_t> pairs(topology.pathSource.size());
    for (std::size_t path = 0; path < pairs.size(); ++path)
    {
        ValidatePath(topology, path);
        pairs[path] = PairOf(topology.pathSource[path], topology.pathTarget[path]);
    }
    // The paths of a pair are its routes 0, 1 and so on, so they must be adjacent.
    std::vector<uint64_t> runs(pairs);
    runs.erase(std::unique(runs.begin(), runs.end()), runs.end());
    std::sort(runs.begin(), runs.end());
    if (const auto twice = std::adjacent_find(runs.begin(), runs.end()); twice != runs.end())
    {
        Refuse("topology: the paths from rank {} to rank {} are not adjacent",
               {*twice >> 32, *twice & 0xffffffff});
    }
    std::sort(pairs.begin(), pairs.end());
    return pairs;
}

void
ValidateEvents(const Stream& stream)
{
    const Topology& topology = stream.topology;
    const std::size_t jobs = stream.traces.empty() ? 0 : stream.traces.front().jobs.size();
    for (std::size_t i = 0; i < topology.events.size(); ++i)
    {
        const NetworkEvent& event = topology.events[i];
        Require(event.kind != EventKind::LINK_RATE ||
                    (event.rateBps >= MIN_RATE_BPS && event.rateBps <= MAX_BYTES),
                "topology: events[{}].rate_bps is {}, but {} … {} are accepted",
                {i, event.rateBps, MIN_RATE_BPS, MAX_BYTES});
        Require(event.kind != EventKind::COMPUTE ||
                    (event.factorPpm > 0 && event.factorPpm <= uint64_t{1} << 40),
                "topology: events[{}].factor_ppm is {}, but 1 … 2^40 are accepted",
                {i, event.factorPpm});
        Require(event.kind != EventKind::JOB_FAILURE || !event.jobs.empty(),
                "topology: events[{}].jobs is empty, but the failure of a job is expected to have "
                "one",
                {i});
        for (const uint32_t job : event.jobs)
        {
            Require(job >= 1 && job <= jobs,
                    "topology: events[{}].jobs has {}, but there are {} jobs",
                    {i, job, jobs});
        }
        Require(event.jitterPpm <= MAX_DEVIATION_PPM && event.spreadPpm <= MAX_DEVIATION_PPM,
                "topology: events[{}] has the deviations {} and {}, but at most {} are accepted",
                {i, event.jitterPpm, event.spreadPpm, MAX_DEVIATION_PPM});
    }
    Require(!topology.HasCircuits() ||
                (!topology.HasLinkEvents() && topology.spread == PathSpread::FLOW),
            "topology: circuits change the links, so events cannot change them, and each flow "
            "keeps its path");
}

void
ValidateTraffic(const Traffic& traffic, std::size_t index)
{
    Require(!traffic.sources.empty() && !traffic.sizes.empty(),
            "topology: traffic[{}] has no pairs or no sizes of messages",
            {index});
    RequireEnds(traffic.sources, traffic.targets, "traffic[" + std::to_string(index) + "].pairs");
    Require(std::is_sorted(traffic.cumulativePpb.begin(), traffic.cumulativePpb.end()) &&
                traffic.cumulativePpb.back() == ALL_PPB,
            "topology: traffic[{}].cumulative_ppb does not rise to 10^9",
            {index});
}

void
ValidateSettings(const Settings& settings)
{
    Require(settings.system.chunkOrder == ChunkOrder::INDEX ||
                settings.system.admission == AdmissionKind::NEGOTIATED,
            "settings: system.chunk_order is by arrival, but admission is local");
}

/// Check the settings of a transport, whose fields have names that begin with `prefix`.
void
ValidateTransport(const Stream& stream, const TransportSettings& settings, std::string_view prefix)
{
    const std::string name(prefix);
    if (settings.UsesRoce())
    {
        CheckLimits(stream, settings.roce, name + "roce.");
        const RoceSettings& roce = settings.roce;
        const uint64_t full = uint64_t{roce.payloadBytes} + roce.headerBytes;
        Require(full <= 65535,
                "settings: roce.payload_bytes + header_bytes is {}, but at most 65535 are accepted",
                {full});
        return;
    }
    CheckLimits(stream, settings.tcp, name + "tcp.");
    const TcpSettings& tcp = settings.tcp;
    const uint64_t packet = uint64_t{tcp.segmentBytes} + GetDataHeaderBytes(tcp.timestamps);
    // Without TCP, a packet can be a whole message.
    const uint32_t most = tcp.unlimitedWindow ? uint32_t{1} << 30 : 65535;
    Require(tcp.mtuBytes >= packet && tcp.mtuBytes <= most,
            "settings: tcp.mtu_bytes is {}, but segment_bytes + {} = {} … {} are accepted",
            {tcp.mtuBytes, packet - tcp.segmentBytes, packet, most});
}

/// @return whether the packets of two transports of a protocol are alike on links and in queues
bool
HaveOneFormat(const TransportSettings& a, const TransportSettings& b)
{
    if (a.UsesRoce())
    {
        const auto facts = [](const RoceSettings& roce) {
            return std::tuple(roce.payloadBytes,
                              roce.headerBytes,
                              roce.ackBytes,
                              roce.timeUnitPs,
                              roce.telemetry,
                              roce.dataClass);
        };
        return facts(a.roce) == facts(b.roce);
    }
    const auto facts = [](const TcpSettings& tcp) {
        return std::tuple(tcp.mtuBytes,
                          tcp.segmentBytes,
                          tcp.timestamps,
                          tcp.linkHeaderBytes,
                          tcp.buffersCountPackets);
    };
    return facts(a.tcp) == facts(b.tcp);
}

/// Check that TCP and RoCE can share the network, if both are there.
void
ValidateProtocols(const Settings& settings)
{
    if (!settings.HasBothProtocols())
    {
        return;
    }
    for (uint32_t number = 0; number < settings.CountTransports(); ++number)
    {
        const TransportSettings& transport = settings.GetTransport(number);
        Require(!transport.UsesRoce() || transport.roce.timeUnitPs == 1,
                "settings: roce.time_unit_ps is {}, but beside TCP 1 is accepted",
                {transport.roce.timeUnitPs});
        Require(transport.UsesRoce() || !transport.tcp.buffersCountPackets,
                "settings: tcp.buffers_count_packets is true, but beside RoCE false is accepted");
    }
}

/// Check the transports of all connections.
void
ValidateTransports(const Stream& stream)
{
    const Settings& settings = stream.settings;
    ValidateTransport(stream, settings, "settings: ");
    for (uint32_t number = 1; number < settings.CountTransports(); ++number)
    {
        ValidateTransport(stream,
                          settings.GetTransport(number),
                          "settings: transports[" + std::to_string(number - 1) + "].");
        uint32_t first = 0;
        while (settings.GetTransport(first).UsesRoce() != settings.GetTransport(number).UsesRoce())
        {
            ++first;
        }
        Require(HaveOneFormat(settings.GetTransport(first), settings.GetTransport(number)),
                "settings: the packets of transports[{}] have another format than those of the "
                "first transport with this protocol",
                {number - 1});
    }
    ValidateProtocols(settings);
    Require(settings.transports.size() <= MOST_TRANSPORTS,
            "settings: {} transports, but at most {} are accepted",
            {settings.transports.size(), MOST_TRANSPORTS});
    const std::vector<uint32_t>& used = stream.topology.pathTransport;
    for (std::size_t path = 0; path < used.size(); ++path)
    {
        Require(used[path] <= settings.transports.size(),
                "topology: path_transport[{}] is {}, but there are {} transports",
                {path, used[path], settings.transports.size()});
    }
}

} // namespace

PathTable
ValidateTopology(const Stream& stream)
{
    const Topology& topology = stream.topology;
    Require(topology.nodes >= topology.ranks && topology.nodes <= MAX_COUNT,
            "topology: {} nodes for {} ranks, but a topology has at least one node per rank and at "
            "most {} nodes",
            {topology.nodes, topology.ranks, MAX_COUNT});
    Require(topology.endpoints <= topology.nodes,
            "topology: {} endpoints, but {} nodes",
            {topology.endpoints, topology.nodes});
    CheckLimits(stream, topology, "topology: ");
    RequireEnds(topology.linkSource, topology.linkTarget, "links");
    if (topology.HasCircuits())
    {
        ValidateCircuits(topology);
    }
    PathTable paths(ValidatePaths(topology), stream.settings.system.flowsPerPair);
    Require(topology.pauseFrameBytes == 0 ||
                (topology.linkHeadroomBytes.size() == topology.linkSource.size() &&
                 topology.linkSharePpm.size() == topology.linkSource.size()),
            "topology: pause_frame_bytes is {}, but not every link has headroom and a share",
            {topology.pauseFrameBytes});
    Require(topology.pauseFrameBytes == 0 || !topology.HasCircuits(),
            "topology: circuits change the links, so switches cannot pause them");
    Require(topology.lossyClasses.empty() || topology.sharedMemoryAlphaPpm > 0,
            "topology: lossy_classes has {} entries, but shared_memory_alpha_ppm is 0",
            {topology.lossyClasses.size()});
    Require(!topology.HasClasses() || !topology.HasCircuits(),
            "topology: paths have traffic classes, so there are no circuits");
    ValidateEvents(stream);
    for (std::size_t i = 0; i < topology.traffic.size(); ++i)
    {
        ValidateTraffic(topology.traffic[i], i);
    }
    if (topology.sharedLinks > 0 || !topology.nodeNames.empty())
    {
        RequireLength(topology.nodeNames.size(), topology.nodes, {"topology: ", "node_names"});
    }
    CheckLimits(stream, stream.settings, "settings: ");
    ValidateSettings(stream.settings);
    ValidateTransports(stream);
    return paths;
}

} // namespace cosim
