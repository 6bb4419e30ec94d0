/*
 * SPDX-License-Identifier: GPL-2.0-only
 */

#include "stream/topology-validator.h"

#include "stream/event-validator.h"
#include "stream/reconfiguration-validator.h"
#include "stream/validation.h"
#include "support/header-sizes.h"

#include <algorithm>
#include <string>
#include <utility>
#include <vector>

namespace cosim
{

namespace
{

/// Payload of a segment in the smallest IPv4 packet, 68 bytes, which all networks carry (RFC 791).
constexpr uint32_t SMALLEST_SEGMENT_BYTES = 68 - GetDataHeaderBytes(true);

void
ValidateLinks(const Topology& topology)
{
    Require(topology.nodes >= topology.ranks && topology.nodes <= MAX_COUNT,
            "topology: ",
            topology.nodes,
            " nodes for ",
            topology.ranks,
            " ranks, but a topology has at least one node per rank and at most ",
            MAX_COUNT,
            " nodes");
    const std::size_t links = topology.linkSource.size();
    RequireLength(topology.linkTarget.size(), links, "topology: link_target");
    RequireLength(topology.linkRateBps.size(), links, "topology: link_rate_bps");
    RequireLength(topology.linkLatencyPs.size(), links, "topology: link_latency_ps");
    RequireLength(topology.linkBufferBytes.size(), links, "topology: link_buffer_bytes");
    RequireLength(topology.linkEcnThresholdBytes.size(),
                  links,
                  "topology: link_ecn_threshold_bytes");
    RequireLength(topology.linkDimension.size(), links, "topology: link_dimension");
    for (std::size_t i = 0; i < links; ++i)
    {
        const uint32_t source = topology.linkSource[i];
        const uint32_t target = topology.linkTarget[i];
        Require(source < topology.nodes && target < topology.nodes && source != target,
                "topology: link ",
                i,
                " goes from node ",
                source,
                " to node ",
                target,
                ", but a link joins two different nodes, and there are ",
                topology.nodes,
                " nodes");
        RequireRate(topology.linkRateBps[i],
                    MAX_BYTES,
                    "topology: the rate of link " + std::to_string(i));
        RequireDelay(topology.linkLatencyPs[i],
                     "topology: the latency of link " + std::to_string(i));
        Require(topology.linkBufferBytes[i] <= MAX_BYTES &&
                    topology.linkEcnThresholdBytes[i] <= MAX_BYTES,
                "topology: the buffer or the ECN threshold of link ",
                i,
                " is more than ",
                MAX_BYTES,
                " bytes");
        Require(topology.linkDimension[i] < topology.dimensions.size(),
                "topology: link ",
                i,
                " has dimension ",
                topology.linkDimension[i],
                ", but there are ",
                topology.dimensions.size(),
                " dimensions");
    }
    RequireDelay(topology.forwardingDelayPs, "topology: forwarding_delay_ps");
}

/// @return the (source, target) pair of each path, sorted
std::vector<uint64_t>
ValidatePaths(const Topology& topology)
{
    const std::size_t paths = topology.pathSource.size();
    RequireLength(topology.pathTarget.size(), paths, "topology: path_target");
    RequireSlices(topology.pathBegin, paths, topology.pathLinks.size(), "topology: path_begin");
    std::vector<uint64_t> pairs(paths);
    for (std::size_t i = 0; i < paths; ++i)
    {
        const uint32_t source = topology.pathSource[i];
        const uint32_t target = topology.pathTarget[i];
        Require(source < topology.ranks && target < topology.ranks && source != target,
                "topology: path ",
                i,
                " goes from rank ",
                source,
                " to rank ",
                target,
                ", but a path joins two different ranks, and there are ",
                topology.ranks,
                " ranks");
        uint32_t node = source;
        uint64_t delayPs = 0;
        for (uint32_t j = topology.pathBegin[i]; j < topology.pathBegin[i + 1]; ++j)
        {
            const uint32_t link = topology.pathLinks[j];
            Require(link < topology.linkSource.size() && topology.linkSource[link] == node,
                    "topology: path ",
                    i,
                    " continues at node ",
                    node,
                    " with link ",
                    link,
                    ", which does not start there");
            node = topology.linkTarget[link];
            delayPs += topology.linkLatencyPs[link] + topology.forwardingDelayPs;
            Require(delayPs <= MAX_TIME_PS,
                    "topology: the latencies along path ",
                    i,
                    " sum to more than the ",
                    MAX_TIME_PS,
                    " ps that are accepted");
        }
        const bool isWaiting = topology.reconfiguration.intervalPs > 0 &&
                               !topology.reconfiguration.forwarding &&
                               topology.pathBegin[i] == topology.pathBegin[i + 1];
        Require(node == target || isWaiting,
                "topology: path ",
                i,
                " ends at node ",
                node,
                " instead of rank ",
                target);
        pairs[i] = PairOf(source, target);
    }
    // The paths of a pair are its routes 0, 1 and so on, so they must be adjacent.
    std::vector<uint64_t> runs(pairs);
    runs.erase(std::unique(runs.begin(), runs.end()), runs.end());
    std::sort(runs.begin(), runs.end());
    const auto twice = std::adjacent_find(runs.begin(), runs.end());
    Require(twice == runs.end(),
            "topology: the paths from rank ",
            twice == runs.end() ? 0 : *twice >> 32,
            " to rank ",
            twice == runs.end() ? 0 : *twice & 0xffffffff,
            " are not adjacent");
    std::sort(pairs.begin(), pairs.end());
    return pairs;
}

} // namespace

PathTable
ValidateTopology(const Topology& topology, uint32_t flowsPerPair)
{
    ValidateLinks(topology);
    if (topology.reconfiguration.intervalPs > 0)
    {
        ValidateReconfiguration(topology);
    }
    PathTable paths(ValidatePaths(topology), flowsPerPair);
    ValidateEvents(topology);
    return paths;
}

void
ValidateSettings(const Settings& settings, const Topology& topology)
{
    const TcpSettings& tcp = settings.tcp;
    Require(tcp.segmentBytes >= SMALLEST_SEGMENT_BYTES,
            "settings: tcp.segment_bytes is ",
            tcp.segmentBytes,
            ", but at least ",
            SMALLEST_SEGMENT_BYTES,
            " are needed");
    const uint64_t packet = uint64_t{tcp.segmentBytes} + GetDataHeaderBytes(tcp.timestamps);
    // Without TCP, a packet can be a whole message.
    const uint32_t most = tcp.unlimitedWindow ? uint32_t{1} << 30 : 65535;
    Require(tcp.mtuBytes >= packet && tcp.mtuBytes <= most,
            "settings: tcp.mtu_bytes is ",
            tcp.mtuBytes,
            ", but segment_bytes + ",
            packet - tcp.segmentBytes,
            " = ",
            packet,
            " … ",
            most,
            " are accepted");
    Require(tcp.linkHeaderBytes <= 65535,
            "settings: tcp.link_header_bytes is ",
            tcp.linkHeaderBytes,
            ", but at most 65535 are accepted");
    const std::pair<const char*, uint32_t> positive[] = {
        {"send_buffer_bytes", tcp.sendBufferBytes},
        {"receive_buffer_bytes", tcp.receiveBufferBytes},
        {"initial_cwnd_segments", tcp.initialCwndSegments},
        {"delayed_ack_segments", tcp.delayedAckSegments},
        {"data_retries", tcp.dataRetries},
    };
    for (const auto& [name, value] : positive)
    {
        Require(value >= 1 && value <= uint32_t{1} << 30,
                "settings: tcp.",
                name,
                " is ",
                value,
                ", but 1 … 2^30 are accepted");
    }
    RequireDelay(tcp.minRtoPs, "settings: tcp.min_rto_ps");
    RequireDelay(tcp.initialRtoPs, "settings: tcp.initial_rto_ps");
    RequireDelay(tcp.clockGranularityPs, "settings: tcp.clock_granularity_ps");
    RequireDelay(tcp.delayedAckTimeoutPs, "settings: tcp.delayed_ack_timeout_ps");
    RequireTime(settings.rttSampleIntervalPs, "settings: rtt_sample_interval_ps");
    RequireTime(settings.timeLimitPs, "settings: time_limit_ps");
    Require(settings.repeat.mode != RepeatMode::APPROXIMATE || settings.repeat.checkInterval > 0,
            "settings: repeat.check_interval is 0, but at least 1 is needed");
    RequireDelay(settings.system.injectionLatencyPs, "settings: system.injection_latency_ps");
    RequireDelay(settings.system.send.messagePs, "settings: system.send.message_ps");
    RequireDelay(settings.system.receive.messagePs, "settings: system.receive.message_ps");
    RequireDelay(settings.system.negotiationLatencyPs, "settings: system.negotiation_latency_ps");
    Require(settings.system.chunkOrder == ChunkOrder::INDEX ||
                settings.system.admission == AdmissionKind::NEGOTIATED,
            "settings: system.chunk_order is by arrival, but admission is local");
    const auto& limits = settings.system.concurrentChunks;
    RequireLength(limits.size(), topology.dimensions.size(), "settings: system.concurrent_chunks");
    Require(std::find(limits.begin(), limits.end(), 0U) == limits.end(),
            "settings: system.concurrent_chunks holds 0, but at least 1 chunk must be allowed");
}

} // namespace cosim
