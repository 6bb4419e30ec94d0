/*
 * SPDX-License-Identifier: GPL-2.0-only
 */

#include "fabrics/message/loss-risk.h"

#include "network/transport-facts.h"

#include <algorithm>
#include <cstdint>
#include <span>
#include <utility>
#include <vector>

namespace cosim
{

namespace
{

/// The source of packets that no link brings: the rank itself.
constexpr uint32_t OWN = UINT32_MAX;

/// What the flows bring to the egress queues.
struct Arrivals
{
    std::vector<uint64_t> bytes;     //!< per link: what can arrive at once
    std::vector<uint64_t> droppable; //!< per link: the part of it that is not paused instead
    std::vector<std::pair<uint32_t, uint32_t>> feeds; //!< links, each with a link that feeds it
};

/// @return true if links lose packets at random, or a flow has carried data over one that does
bool
LosesAtRandom(const Topology& topology, const std::vector<uint64_t>& bytes)
{
    for (std::size_t link = 0; link < topology.linkLossPpb.size(); ++link)
    {
        if (topology.linkLossPpb[link] > 0 && bytes[link] > 0)
        {
            return true;
        }
    }
    return std::ranges::any_of(topology.events, [&](const NetworkEvent& event) {
        return event.kind == EventKind::LINK_LOSS && event.lossPpb > 0;
    });
}

/// @return false if switches pause the packets of a path instead of losing them
bool
CanOverflow(const Topology& topology, const TransportSettings& transport, uint32_t path)
{
    const uint32_t trafficClass =
        topology.HasClasses() ? topology.pathClass[path] : GetDataClass(transport);
    return topology.pauseFrameBytes == 0 ||
           std::ranges::find(topology.lossyClasses, trafficClass) != topology.lossyClasses.end();
}

Arrivals
Collect(const Topology& topology,
        const Settings& settings,
        const LiveLinks& links,
        const FlowRecord& flows)
{
    Arrivals arrivals;
    arrivals.bytes.resize(links.GetCount());
    arrivals.droppable.resize(links.GetCount());
    for (uint32_t path = 0; path < flows.GetCount(); ++path)
    {
        const TransportSettings& transport = settings.GetTransport(topology.GetTransport(path));
        const PacketFormat format = GetPacketFormat(transport);
        const auto window = static_cast<uint64_t>(GetWindowLimits(transport).fullBytes);
        const uint64_t payload = std::min(flows.GetBytes(path), window);
        if (payload == 0)
        {
            continue;
        }
        const uint64_t bytes = settings.tcp.buffersCountPackets
                                   ? format.CountPackets(payload) * format.GetLargestBytes()
                                   : format.GetWireBytes(payload);
        const bool canOverflow = CanOverflow(topology, transport, path);
        uint32_t before = OWN;
        // A folded topology has links of its own for few paths, which do not change.
        for (const uint32_t link :
             topology.folding.Exists() ? topology.GetLinks(path) : links.GetPath(path))
        {
            arrivals.bytes[link] += bytes;
            arrivals.droppable[link] += canOverflow ? bytes : 0;
            arrivals.feeds.emplace_back(link, before);
            before = link;
        }
    }
    std::ranges::sort(arrivals.feeds);
    const auto repeated = std::ranges::unique(arrivals.feeds);
    arrivals.feeds.erase(repeated.begin(), repeated.end());
    return arrivals;
}

/// @return per link: true if packets can arrive faster than it sends them
std::vector<bool>
FindQueues(const LiveLinks& links, const Arrivals& arrivals)
{
    std::vector<bool> queues(links.GetCount());
    for (auto at = arrivals.feeds.begin(); at != arrivals.feeds.end();)
    {
        const uint32_t link = at->first;
        uint64_t rateBps = 0;
        bool isSource = false;
        for (; at != arrivals.feeds.end() && at->first == link; ++at)
        {
            isSource = isSource || at->second == OWN;
            rateBps += at->second == OWN ? 0 : links.Get(at->second).rateBps;
        }
        queues[link] = isSource || rateBps > links.Get(link).rateBps;
    }
    return queues;
}

/// @return per link: what its queue may hold in any case; 0: everything
std::vector<uint64_t>
FindRooms(const Topology& topology, const LiveLinks& links, const std::vector<bool>& queues)
{
    std::vector<uint64_t> rooms(links.GetCount());
    std::vector<uint64_t> memory(topology.nodes);
    std::vector<uint64_t> ports(topology.nodes);
    for (uint32_t link = 0; link < links.GetCount(); ++link)
    {
        const LinkState& state = links.Get(link);
        rooms[link] = state.bufferBytes;
        memory[state.source] += state.bufferBytes;
        ports[state.source] += queues[link] ? 1 : 0;
    }
    if (topology.sharedMemoryAlphaPpm == 0)
    {
        return rooms;
    }
    // n queues at their limit of α times the free memory leave 1 / (1 + n · α) of it free.
    const double alpha = static_cast<double>(topology.sharedMemoryAlphaPpm) / 1e6;
    for (uint32_t link = 0; link < links.GetCount(); ++link)
    {
        const uint32_t node = links.Get(link).source;
        const double full = 1 + alpha * static_cast<double>(ports[node]);
        rooms[link] = rooms[link] == 0
                          ? 0
                          : static_cast<uint64_t>(static_cast<double>(memory[node]) * alpha / full);
    }
    return rooms;
}

} // namespace

std::optional<LossRisk>
FindLossRisk(const Topology& topology,
             const Settings& settings,
             const LiveLinks& links,
             const FlowRecord& flows)
{
    const Arrivals arrivals = Collect(topology, settings, links, flows);
    if (LosesAtRandom(topology, arrivals.bytes))
    {
        return LossRisk{LossRisk::Cause::LINK, 0, 0};
    }
    const auto isFailure = [](const NetworkEvent& event) {
        return event.kind == EventKind::LINK_DOWN;
    };
    if (std::ranges::any_of(topology.events, isFailure))
    {
        return LossRisk{LossRisk::Cause::FAILURE, 0, 0};
    }
    const std::vector<bool> queues = FindQueues(links, arrivals);
    const std::vector<uint64_t> rooms = FindRooms(topology, links, queues);
    std::optional<LossRisk> worst;
    for (uint32_t link = 0; link < links.GetCount(); ++link)
    {
        const LossRisk risk{LossRisk::Cause::QUEUE, arrivals.droppable[link], rooms[link]};
        if (queues[link] && risk.bufferBytes > 0 && risk.GetLack() > 0 &&
            (!worst || risk.GetLack() > worst->GetLack()))
        {
            worst = risk;
        }
    }
    return worst;
}

} // namespace cosim
