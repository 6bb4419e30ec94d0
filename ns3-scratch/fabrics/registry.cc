/*
 * SPDX-License-Identifier: GPL-2.0-only
 */

#include "fabrics/registry.h"

#include "fabrics/analytical/analytical-fabric.h"
#include "fabrics/express/busy-until-port.h"
#include "fabrics/express/express-datapath.h"
#include "fabrics/express/pulled-port.h"
#include "fabrics/flow/flow-fabric.h"
#include "fabrics/host/host-fabric.h"
#include "fabrics/native/native-datapath.h"
#include "fabrics/packet/episode-player.h"
#include "fabrics/packet/packet-fabric.h"
#include "fabrics/transports.h"
#include "network/transport-facts.h"
#include "support/quoted-name.h"
#include "transport/drop-tail-buffer.h"
#include "transport/pfc-buffer.h"
#include "transport/shared-buffer.h"

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
    /// true if its links can lose packets at random, and its flows can take several paths
    bool canLose{true};
    /// true if its ports have queues for traffic classes
    bool hasClasses{false};
};

/// @return the buffers of a topology's nodes; a shared one has the sum of the links' buffers
SwitchBuffers
MakeBuffers(const Topology& topology, const Settings& settings)
{
    BufferRules rules;
    rules.marksAtDequeue = topology.marksAtDequeue;
    rules.chancePpb = topology.ecnChancePpb;
    rules.seed = topology.ecnSeed;
    if (settings.tcp.buffersCountPackets)
    {
        rules.slotBytes = GetPacketFormat(settings).GetLargestBytes();
    }
    std::vector<uint64_t> bytes(topology.nodes);
    for (std::size_t link = 0; link < topology.linkSource.size(); ++link)
    {
        bytes[topology.linkSource[link]] += topology.linkBufferBytes[link];
    }
    const auto ingresses =
        topology.pauseFrameBytes == 0 ? nullptr : std::make_shared<PfcLinks>(topology);
    SwitchBuffers buffers;
    const uint64_t alphaPpm = topology.sharedMemoryAlphaPpm;
    for (uint32_t node = 0; node < topology.nodes; ++node)
    {
        rules.node = node;
        if (ingresses && bytes[node] > 0)
        {
            buffers.push_back(std::make_unique<PfcBuffer>(rules, ingresses, bytes[node]));
            continue;
        }
        buffers.push_back(alphaPpm > 0
                              ? std::make_unique<SharedBuffer>(rules, bytes[node], alphaPpm)
                              : std::make_unique<DropTailBuffer>(rules));
    }
    return buffers;
}

/// @return a maker of the simplest ports that can do what is asked of them
PortMaker
ChoosePorts(const Topology& topology, const Settings& settings)
{
    if (UsesTelemetry(settings) || topology.pauseFrameBytes > 0 || topology.HasClasses())
    {
        return PulledPort::Make;
    }
    if (IsPulled(settings))
    { // the ports of endpoints ask for packets
        return [endpoints = topology.GetEndpoints()](const PortSetup& setup) {
            return setup.state.source < endpoints ? PulledPort::Make(setup)
                                                  : BusyUntilPort::Make(setup);
        };
    }
    return BusyUntilPort::Make;
}

std::unique_ptr<Fabric>
MakeAnalytical(const Topology& topology, const Settings& settings)
{
    return std::make_unique<AnalyticalFabric>(topology, settings);
}

std::unique_ptr<Fabric>
MakeExpress(const Topology& topology, const Settings& settings)
{
    const auto make = [](const DatapathSetup& setup,
                         DatapathClient& client) -> std::unique_ptr<Datapath> {
        return std::make_unique<ExpressDatapath>(
            setup,
            client,
            MakeTransport(setup.settings, setup.topology.pathTransport, setup.clock),
            MakeBuffers(setup.topology, setup.settings),
            ChoosePorts(setup.topology, setup.settings));
    };
    if (!settings.replay || !topology.HasFixedPaths() || !CanReplay(settings) ||
        topology.pauseFrameBytes > 0 || topology.HasClasses() || topology.HasFailures())
    {
        return std::make_unique<PacketFabric>(topology, settings, make);
    }
    return std::make_unique<PacketFabric>(
        topology,
        settings,
        [make](const DatapathSetup& setup, DatapathClient& client) {
            return std::make_unique<EpisodePlayer>(setup, client, make);
        });
}

std::unique_ptr<Fabric>
MakeFlow(const Topology& topology, const Settings& settings)
{
    return std::make_unique<FlowFabric>(topology, settings);
}

std::unique_ptr<Fabric>
MakeNative(const Topology& topology, const Settings& settings)
{
    if (settings.HasRoce())
    {
        throw std::invalid_argument(
            "settings: the fabric \"native\" has ns-3's TCP, but a transport is RoCE");
    }
    if (topology.pauseFrameBytes > 0)
    {
        throw std::invalid_argument(
            "topology: the fabric \"native\" has ns-3's devices, which cannot be paused");
    }
    if (topology.HasFailures())
    {
        throw std::invalid_argument(
            "topology: jobs fail, but on the fabric \"native\", ns-3's sockets cannot be dropped");
    }
    const auto make = [](const DatapathSetup& setup, DatapathClient& client) {
        return std::make_unique<NativeDatapath>(setup,
                                                client,
                                                MakeBuffers(setup.topology, setup.settings));
    };
    return std::make_unique<PacketFabric>(topology, settings, make);
}

/// All fabrics by name. To add a fabric, add one line here.
const std::map<std::string, Entry> FABRICS{
    {"analytical",
     {MakeAnalytical,
      "analytical books a message on a link as a whole, so no part of it has arrived when the "
      "link changes"}},
    {"express", {MakeExpress, nullptr, true, true}},
    {"flow", {MakeFlow, nullptr, true, true}},
    {"native",
     {MakeNative,
      "ns-3's PointToPointChannel joins two devices for the whole run, and the timers of a stock "
      "TCP socket cannot stand still while links change",
      false}},
};

/// What a topology asks of the links of a fabric.
struct LinkNeeds
{
    bool change;  //!< true if they change during the run
    bool lose;    //!< true if they lose packets at random, or if flows take several paths
    bool classes; //!< true if ranks have traffic classes

    bool AreMetBy(const Entry& entry) const
    {
        return (!change || entry.fixedLinks == nullptr) && (!lose || entry.canLose) &&
               (!classes || entry.hasClasses);
    }
};

/// @return the names of the fabrics that meet the needs, separated by commas
std::string
ListNames(const LinkNeeds& needs)
{
    std::string names;
    for (const auto& [name, entry] : FABRICS)
    {
        if (needs.AreMetBy(entry))
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
    const LinkNeeds needs{topology.HasCircuits() || topology.HasLinkEvents(),
                          !topology.linkLossPpb.empty() || topology.spread != PathSpread::FLOW,
                          topology.HasClasses()};
    const auto found = FABRICS.find(settings.fabric);
    if (found == FABRICS.end() || !needs.AreMetBy(found->second))
    {
        std::string problem =
            "fabric " + Quote(settings.fabric) + " is not one of " + ListNames(needs);
        if (needs.change)
        {
            problem += ", whose links can change during a run";
            const bool hasReason = found != FABRICS.end() && found->second.fixedLinks != nullptr;
            problem += hasReason ? std::string(": ") + found->second.fixedLinks : "";
        }
        else if (needs.lose)
        {
            problem += ", whose links can lose packets and whose flows can take several paths";
        }
        else if (needs.classes)
        {
            problem += ", whose ports have a queue for each traffic class";
        }
        throw std::invalid_argument(problem);
    }
    std::unique_ptr<Fabric> fabric = found->second.make(topology, settings);
    const SystemSettings& system = settings.system;
    if (system.send.IsZero() && system.receive.IsZero() && system.flowsPerPair <= 1)
    {
        return fabric;
    }
    return std::make_unique<HostFabric>(std::move(fabric), topology, system);
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
