/*
 * SPDX-License-Identifier: GPL-2.0-only
 */

#include "stream/event-validator.h"

#include "stream/validation.h"

#include <algorithm>
#include <string>

namespace cosim
{

namespace
{

constexpr uint32_t ALL_PPB = 1'000'000'000;

void
ValidateEvent(const Topology& topology, const NetworkEvent& event, std::size_t index)
{
    const std::string name = "topology: event " + std::to_string(index);
    RequireTime(event.timePs, name + ": time_ps");
    for (const uint32_t link : event.links)
    {
        Require(link < topology.linkSource.size(),
                name,
                " names link ",
                link,
                ", which is unknown");
    }
    for (const uint32_t rank : event.ranks)
    {
        Require(rank < topology.ranks, name, " names rank ", rank, ", which does not exist");
    }
    if (event.kind == EventKind::LINK_RATE)
    {
        RequireRate(event.rateBps, MAX_BYTES, name + ": the rate");
    }
    Require(event.lossPpb < ALL_PPB, name, ": a link cannot lose all packets");
    Require(event.kind != EventKind::COMPUTE ||
                (event.factorPpm > 0 && event.factorPpm <= uint64_t{1} << 40),
            name,
            ": factor_ppm is ",
            event.factorPpm,
            ", but 1 … 2^40 are accepted");
}

void
ValidateTraffic(const Topology& topology, const Traffic& traffic, std::size_t index)
{
    const std::string name = "topology: traffic " + std::to_string(index);
    RequireTime(traffic.beginPs, name + ": begin_ps");
    RequireTime(traffic.endPs, name + ": end_ps");
    RequireDelay(traffic.intervalPs, name + ": interval_ps");
    Require(traffic.intervalPs > 0, name, ": interval_ps is 0, but at least 1 is needed");
    RequireLength(traffic.targets.size(), traffic.sources.size(), name + ": targets");
    RequireLength(traffic.cumulativePpb.size(), traffic.sizes.size(), name + ": cumulative_ppb");
    Require(!traffic.sources.empty() && !traffic.sizes.empty(),
            name,
            " has no pairs or no sizes of messages");
    for (std::size_t i = 0; i < traffic.sources.size(); ++i)
    {
        Require(traffic.sources[i] < topology.ranks && traffic.targets[i] < topology.ranks &&
                    traffic.sources[i] != traffic.targets[i],
                name,
                " sends from rank ",
                traffic.sources[i],
                " to rank ",
                traffic.targets[i],
                ", but a message joins two different ranks");
    }
    Require(std::is_sorted(traffic.cumulativePpb.begin(), traffic.cumulativePpb.end()) &&
                traffic.cumulativePpb.back() == ALL_PPB,
            name,
            ": cumulative_ppb does not rise to 10^9");
    Require(std::all_of(traffic.sizes.begin(),
                        traffic.sizes.end(),
                        [](uint64_t size) { return size <= MAX_BYTES; }),
            name,
            " has a message of more than ",
            MAX_BYTES,
            " bytes");
}

} // namespace

void
ValidateEvents(const Topology& topology)
{
    if (!topology.linkLossPpb.empty())
    {
        RequireLength(topology.linkLossPpb.size(),
                      topology.linkSource.size(),
                      "topology: link_loss_ppb");
    }
    for (const uint32_t loss : topology.linkLossPpb)
    {
        Require(loss < ALL_PPB, "topology: a link cannot lose all packets");
    }
    for (std::size_t i = 0; i < topology.events.size(); ++i)
    {
        ValidateEvent(topology, topology.events[i], i);
    }
    for (std::size_t i = 0; i < topology.traffic.size(); ++i)
    {
        ValidateTraffic(topology, topology.traffic[i], i);
    }
    if (topology.sharedLinks > 0)
    {
        RequireLength(topology.nodeNames.size(), topology.nodes, "topology: node_names");
    }
    RequireDelay(topology.detectionPs, "topology: detection_ps");
    RequireDelay(topology.flowletGapPs, "topology: flowlet_gap_ps");
    Require(topology.sharedMemoryAlphaPpm <= uint64_t{1} << 40,
            "topology: shared_memory_alpha_ppm is more than 2^40");
    Require(
        !topology.HasCircuits() ||
            (!topology.HasLinkEvents() && topology.spread == PathSpread::FLOW),
        "topology: circuits change the links, so events cannot change them, and each flow keeps "
        "its path");
}

} // namespace cosim
