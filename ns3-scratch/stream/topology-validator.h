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
 * @return its paths
 * @throws std::invalid_argument with one sentence that names the first thing found wrong
 */
PathTable ValidateTopology(const Topology& topology);

/**
 * Check that the settings are in the ranges that the fabrics take.
 *
 * @param settings the settings
 * @param topology a validated topology
 * @throws std::invalid_argument with one sentence that names the first thing found wrong
 */
void ValidateSettings(const Settings& settings, const Topology& topology);

} // namespace cosim

#endif // COSIM_TOPOLOGY_VALIDATOR_H
