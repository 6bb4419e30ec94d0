/*
 * SPDX-License-Identifier: GPL-2.0-only
 */

#ifndef COSIM_TOPOLOGY_VALIDATOR_H
#define COSIM_TOPOLOGY_VALIDATOR_H

#include "stream/path-table.h"
#include "stream/stream.h"

namespace cosim
{

/**
 * Check the nodes, links and paths of a topology.
 *
 * @param topology the topology
 * @param flowsPerPair flows that share each message of a pair of ranks; 0 means 1
 * @return the pairs of ranks that have paths
 * @throws std::invalid_argument with one sentence that describes the first error
 */
PathTable ValidateTopology(const Topology& topology, uint32_t flowsPerPair);

/**
 * Check that the settings are in the ranges that the fabrics accept.
 *
 * @param settings the settings to check
 * @param topology a validated topology
 * @throws std::invalid_argument with one sentence that describes the first error
 */
void ValidateSettings(const Settings& settings, const Topology& topology);

} // namespace cosim

#endif // COSIM_TOPOLOGY_VALIDATOR_H
