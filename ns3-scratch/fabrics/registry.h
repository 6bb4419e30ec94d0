/*
 * SPDX-License-Identifier: GPL-2.0-only
 */

#ifndef COSIM_FABRICS_REGISTRY_H
#define COSIM_FABRICS_REGISTRY_H

#include "network/fabric.h"
#include "stream/stream.h"

#include <memory>
#include <string>
#include <vector>

namespace cosim
{

/**
 * Create a fabric by its registered name. The fabric is composed of a transport, switch buffers,
 * and a control of its links if the links of the topology change during the run.
 *
 * @param topology links and paths; must outlive the fabric
 * @param settings run settings; must outlive the fabric
 * @return the fabric, not yet started
 * @throws std::invalid_argument if the name is not registered, or if the links change and this
 * fabric does not support that
 */
std::unique_ptr<Fabric> MakeFabric(const Topology& topology, const Settings& settings);

/// @return the registered names
std::vector<std::string> FabricNames();

} // namespace cosim

#endif // COSIM_FABRICS_REGISTRY_H
