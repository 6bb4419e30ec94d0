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
 * Make a fabric by its registered name, from its parts: transport, queue policies, and control of
 * its links if those of the topology change during the run.
 *
 * @param topology the links and paths; must outlive the fabric
 * @param settings its settings; must outlive the fabric
 * @return the fabric, not yet started
 * @throws std::invalid_argument if the name is not registered, or its links cannot change
 */
std::unique_ptr<Fabric> MakeFabric(const Topology& topology, const Settings& settings);

/// @return the registered names
std::vector<std::string> FabricNames();

} // namespace cosim

#endif // COSIM_FABRICS_REGISTRY_H
