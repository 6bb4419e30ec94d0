/*
 * SPDX-License-Identifier: GPL-2.0-only
 */

#include "fabrics/registry.h"

#include "fabrics/analytical/analytical-fabric.h"
#include "fabrics/analytical/circuit-analytical-fabric.h"
#include "fabrics/express/circuit-express-fabric.h"
#include "fabrics/express/express-fabric.h"
#include "fabrics/flow/circuit-flow-fabric.h"
#include "fabrics/flow/flow-fabric.h"
#include "fabrics/native/native-fabric.h"

#include <map>
#include <stdexcept>

namespace cosim
{

namespace
{

using Maker = std::unique_ptr<Fabric> (*)(const Topology&, const Settings&);

/// The fabrics by name; a new one is one line here.
const std::map<std::string, Maker> MAKERS{
    {"analytical", MakeAnalyticalFabric},
    {"express", MakeExpressFabric},
    {"flow", MakeFlowFabric},
    {"native", MakeNativeFabric},
};

/// The fabrics whose links can change.
const std::map<std::string, Maker> CIRCUIT_MAKERS{
    {"analytical", MakeCircuitAnalyticalFabric},
    {"express", MakeCircuitExpressFabric},
    {"flow", MakeCircuitFlowFabric},
};

/// @return the names, separated by commas
std::string
ListNames(const std::map<std::string, Maker>& makers)
{
    std::string names;
    for (const auto& [name, maker] : makers)
    {
        names += (names.empty() ? "" : ", ") + name;
    }
    return names;
}

} // namespace

std::unique_ptr<Fabric>
MakeFabric(const Topology& topology, const Settings& settings)
{
    const bool isFixed = topology.reconfiguration.intervalPs == 0;
    const std::map<std::string, Maker>& makers = isFixed ? MAKERS : CIRCUIT_MAKERS;
    const auto maker = makers.find(settings.fabric);
    if (maker == makers.end())
    {
        throw std::invalid_argument("fabric '" + settings.fabric + "' is not one of " +
                                    ListNames(makers) +
                                    (isFixed ? "" : ", whose links can change during a run"));
    }
    return maker->second(topology, settings);
}

std::vector<std::string>
FabricNames()
{
    std::vector<std::string> names;
    for (const auto& [name, maker] : MAKERS)
    {
        names.push_back(name);
    }
    return names;
}

} // namespace cosim
