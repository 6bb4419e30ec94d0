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
 * @return the pairs of ranks that have paths
 * @throws std::invalid_argument with one sentence that describes the first error
 */
PathTable ValidateTopology(const Topology& topology);

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
