/*
 * SPDX-License-Identifier: GPL-2.0-only
 */

#include "fabrics/registry.h"

#include "fabrics/analytical/analytical-fabric.h"
#include "fabrics/analytical/piece-fabric.h"
#include "fabrics/express/express-datapath.h"
#include "fabrics/flow/flow-fabric.h"
#include "fabrics/host/host-fabric.h"
#include "fabrics/native/native-datapath.h"
#include "fabrics/packet/packet-fabric.h"
#include "network/transport-facts.h"
#include "support/quoted-name.h"
#include "transport/drop-tail-policy.h"
#include "transport/shared-memory-policy.h"
#include "transport/tcp/tcp-transport.h"

#include <map>
#include <stdexcept>
#include <utility>

namespace cosim
{

namespace
{

/// Function that composes a fabric from its parts.
using Maker = std::unique_ptr<Fabric> (*)(const Topology&, const Settings&);

/// A registered fabric.
struct Entry
{
    Maker make;
    /// reason why its links cannot change during a run, or null if they can
    const char* fixedLinks;
};

/// @return what makes the queues of a topology's links
std::unique_ptr<QueuePolicyMaker>
MakePolicies(const Topology& topology, const Settings& settings)
{
    const uint32_t slotBytes =
        settings.tcp.buffersCountPackets ? GetPacketFormat(settings).GetLargestBytes() : 0;
    if (topology.sharedMemoryAlphaPpm > 0)
    {
        return std::make_unique<SharedMemoryPolicyMaker>(topology, slotBytes);
    }
    return std::make_unique<DropTailPolicyMaker>(slotBytes);
}

std::unique_ptr<Fabric>
MakeAnalytical(const Topology& topology, const Settings& settings)
{
    if (topology.HasCircuits() || topology.HasLinkEvents())
    {
        return std::make_unique<PieceFabric>(topology, settings);
    }
    return std::make_unique<AnalyticalFabric>(topology, settings);
}

std::unique_ptr<Fabric>
MakeExpress(const Topology& topology, const Settings& settings)
{
    const auto make = [](const DatapathSetup& setup, DatapathClient& client) {
        return std::make_unique<ExpressDatapath>(
            setup,
            client,
            std::make_unique<TcpTransport>(setup.settings.tcp, setup.clock),
            MakePolicies(setup.topology, setup.settings));
    };
    return std::make_unique<PacketFabric>(topology, settings, make);
}

std::unique_ptr<Fabric>
MakeFlow(const Topology& topology, const Settings& settings)
{
    return std::make_unique<FlowFabric>(topology, settings);
}

std::unique_ptr<Fabric>
MakeNative(const Topology& topology, const Settings& settings)
{
    const auto make = [](const DatapathSetup& setup, DatapathClient& client) {
        return std::make_unique<NativeDatapath>(setup,
                                                client,
                                                MakePolicies(setup.topology, setup.settings));
    };
    return std::make_unique<PacketFabric>(topology, settings, make);
}

/// All fabrics by name. To add a fabric, add one line here.
const std::map<std::string, Entry> FABRICS{
    {"analytical", {MakeAnalytical, nullptr}},
    {"express", {MakeExpress, nullptr}},
    {"flow", {MakeFlow, nullptr}},
    {"native",
     {MakeNative,
      "ns-3's PointToPointChannel joins two devices for the whole run, and the timers of a stock "
      "TCP socket cannot stand still while links change"}},
};

/**
 * @return the names, separated by commas; if linksChange is true, only fabrics whose links can
 * change
 */
std::string
ListNames(bool linksChange)
{
    std::string names;
    for (const auto& [name, entry] : FABRICS)
    {
        if (!linksChange || entry.fixedLinks == nullptr)
        {
            names += (names.empty() ? "" : ", ") + name;
        }
    }
    return names;
}

} // namespace

std::unique_ptr<Fabric>
MakeFabric(const Topology& topology, const Settings& settings)
{
    const bool linksChange = topology.HasCircuits() || topology.HasLinkEvents() ||
                             !topology.linkLossPpb.empty() || topology.spread != PathSpread::FLOW;
    const auto found = FABRICS.find(settings.fabric);
    const char* const reason = found == FABRICS.end() ? nullptr : found->second.fixedLinks;
    if (found == FABRICS.end() || (linksChange && reason != nullptr))
    {
        throw std::invalid_argument("fabric " + Quote(settings.fabric) + " is not one of " +
                                    ListNames(linksChange) +
                                    (linksChange ? ", whose links can change during a run" : "") +
                                    (reason == nullptr ? "" : std::string(": ") + reason));
    }
    std::unique_ptr<Fabric> fabric = found->second.make(topology, settings);
    const SystemSettings& system = settings.system;
    if (system.send.IsZero() && system.receive.IsZero() && system.flowsPerPair <= 1)
    {
        return fabric;
    }
    return std::make_unique<HostFabric>(std::move(fabric), topology.ranks, system);
}

std::vector<std::string>
FabricNames()
{
    std::vector<std::string> names;
    for (const auto& [name, entry] : FABRICS)
    {
        names.push_back(name);
    }
    return names;
}

} // namespace cosim
