/*
 * SPDX-License-Identifier: GPL-2.0-only
 */

#include "fabric.h"

#include "analytical-fabric.h"
#include "express-fabric.h"
#include "flow-fabric.h"
#include "native-fabric.h"

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

} // namespace

std::unique_ptr<Fabric>
MakeFabric(const Topology& topology, const Settings& settings)
{
    const auto maker = MAKERS.find(settings.fabric);
    if (maker == MAKERS.end())
    {
        std::string names;
        for (const std::string& name : FabricNames())
        {
            names += (names.empty() ? "" : ", ") + name;
        }
        throw std::invalid_argument("fabric '" + settings.fabric + "' is not one of " + names);
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
