/*
 * SPDX-License-Identifier: GPL-2.0-only
 */

#include "stream/reconfiguration-validator.h"

#include "stream/path-table.h"
#include "stream/validation.h"

#include <algorithm>
#include <unordered_set>
#include <vector>

namespace cosim
{

namespace
{

void
ValidateSettings(const Reconfiguration& settings)
{
    RequireDelay(settings.intervalPs, "topology: reconfiguration.interval_ps");
    RequireDelay(settings.circuitLatencyPs, "topology: reconfiguration.circuit_latency_ps");
    Require(settings.latencyPs < settings.intervalPs,
            "topology: reconfiguration.latency_ps is ",
            settings.latencyPs,
            ", but it must be less than interval_ps (",
            settings.intervalPs,
            ")");
    Require(settings.degree >= 1 && settings.degree <= MAX_CIRCUIT_RANKS,
            "topology: reconfiguration.degree is ",
            settings.degree,
            ", but 1 … ",
            MAX_CIRCUIT_RANKS,
            " are accepted");
    RequireRate(settings.circuitRateBps,
                MAX_BYTES / settings.degree,
                "topology: reconfiguration.circuit_rate_bps");
    Require(settings.circuitBufferBytes <= MAX_BYTES / settings.degree &&
                settings.circuitEcnThresholdBytes <= MAX_BYTES / settings.degree,
            "topology: the buffer or the ECN threshold of a circuit is more than ",
            MAX_BYTES / settings.degree,
            " bytes");
}

/// Check that a link consists of a whole number of circuits.
void
ValidateLink(const Topology& topology, std::size_t link)
{
    const Reconfiguration& circuit = topology.reconfiguration;
    const uint64_t count = topology.linkRateBps[link] / circuit.circuitRateBps;
    Require(topology.linkRateBps[link] == count * circuit.circuitRateBps &&
                topology.linkBufferBytes[link] == count * circuit.circuitBufferBytes &&
                topology.linkEcnThresholdBytes[link] == count * circuit.circuitEcnThresholdBytes &&
                topology.linkLatencyPs[link] == circuit.circuitLatencyPs &&
                topology.linkDimension[link] == 0,
            "topology: link ",
            link,
            " is not a whole number of circuits of ",
            circuit.circuitRateBps,
            " bit/s");
}

} // namespace

void
ValidateReconfiguration(const Topology& topology)
{
    ValidateSettings(topology.reconfiguration);
    const uint32_t ranks = topology.ranks;
    Require(topology.nodes == ranks && ranks >= 2 && ranks <= MAX_CIRCUIT_RANKS,
            "topology: ",
            topology.nodes,
            " nodes for ",
            ranks,
            " ranks, but a topology of circuits has 2 … ",
            MAX_CIRCUIT_RANKS,
            " ranks and no other nodes");
    std::unordered_set<uint64_t> pairs;
    std::vector<uint64_t> leaving(ranks);
    std::vector<uint64_t> entering(ranks);
    for (std::size_t link = 0; link < topology.linkSource.size(); ++link)
    {
        ValidateLink(topology, link);
        const uint32_t source = topology.linkSource[link];
        const uint32_t target = topology.linkTarget[link];
        Require(pairs.insert(PairOf(source, target)).second,
                "topology: two links from rank ",
                source,
                " to rank ",
                target,
                ", but parallel circuits are one link");
        const uint64_t count = topology.linkRateBps[link] / topology.reconfiguration.circuitRateBps;
        leaving[source] += count;
        entering[target] += count;
    }
    for (uint32_t rank = 0; rank < ranks; ++rank)
    {
        Require(std::max(leaving[rank], entering[rank]) <= topology.reconfiguration.degree,
                "topology: ",
                std::max(leaving[rank], entering[rank]),
                " circuits leave or enter rank ",
                rank,
                ", which has ",
                topology.reconfiguration.degree,
                " ports");
    }
    if (!topology.reconfiguration.forwarding)
    {
        for (std::size_t path = 0; path + 1 < topology.pathBegin.size(); ++path)
        {
            Require(topology.pathBegin[path + 1] <= uint64_t{topology.pathBegin[path]} + 1,
                    "topology: path ",
                    path,
                    " passes through a rank, but ranks do not forward");
        }
    }
}

} // namespace cosim
