/*
 * SPDX-License-Identifier: GPL-2.0-only
 */

#ifndef COSIM_DETOUR_ROUTER_H
#define COSIM_DETOUR_ROUTER_H

#include "fabrics/express/path-router.h"
#include "network/bundle-network.h"
#include "network/detour-routes.h"
#include "network/link-control.h"
#include "transport/arrival-order.h"
#include "transport/packet.h"

#include <cstdint>
#include <functional>
#include <span>
#include <utility>
#include <vector>

namespace cosim
{

/**
 * Sends packets over links that fail or lose packets, and over several paths.
 *
 * A packet gets its path when it enters the network. When a link fails, the packets in its queue
 * and on it are lost, and so are those that arrive at it until it is up again. TCP notices that by
 * itself. If the rate of a link changes, the packet in transmission keeps the old rate.
 *
 * With packet spraying, consecutive packets of a flow take its shortest paths in turn. With
 * flowlets, a flow takes the next one after a gap.
 */
class DetourRouter : public PathRouter, private LinkControl
{
  public:
    /**
     * @param setup what the datapath works with
     * @param client knows what is not delivered
     * @param links the links; must outlive this object
     * @param flows the connections; must outlive this object
     */
    DetourRouter(const DatapathSetup& setup,
                 DatapathClient& client,
                 ExpressLinks& links,
                 ExpressFlows& flows);

    // Router
    void Route(Packet& packet) override;

    void CallOnReroute(std::function<void()> function) override
    {
        m_onReroute = std::move(function);
    }

    LinkControl* GetLinkControl() override
    {
        return this;
    }

    void AddStatistics(NetworkStatistics& statistics) const override;

    // PacketCarrier
    void Carry(Packet* packet) override;

    // Port::Receiver
    void OnLinkArrival(Packet* packet) override;

  private:
    /// Largest number of paths over which the packets of a flow are spread.
    static constexpr uint32_t MOST_PATHS = 64;

    /// The paths of one direction of a flow, if packets choose among several.
    struct Choice
    {
        std::vector<std::span<const uint32_t>> paths;
        uint64_t next{0};       //!< number of the path, modulo the number of paths
        int64_t lastPs{0};      //!< time of the last packet [ps]
        uint32_t generation{0}; //!< paths of an earlier generation are outdated
    };

    // LinkControl
    bool MeasureDemand(std::vector<uint64_t>& bytes) const override;
    void Pause() override;
    void ApplyLinks(std::span<const LinkUpdate> updates) override;
    uint32_t Reroute() override;
    std::vector<uint32_t> GetBrokenPaths() const override;
    void Resume() override;

    std::span<const uint32_t> ChoosePath(FlowId path);
    bool IsLost(const Packet& packet);
    void Lose(uint32_t link, Packet* packet);

    DatapathClient& m_client;
    DetourRoutes m_routes;
    std::vector<Choice> m_choices;      //!< per path; empty if each flow keeps its path
    uint32_t m_generation{1};           //!< increases when paths change
    std::vector<int64_t> m_lostUntilPs; //!< per link: packets that arrive until then are lost
    std::vector<uint64_t> m_arrivals;   //!< per link: packets that arrived while it had errors
    uint64_t m_losses{0}; //!< packets lost on links, or in the queues of links that failed
    ArrivalOrder m_order;
    std::function<void()> m_onReroute; //!< empty if nobody asks
};

} // namespace cosim

#endif // COSIM_DETOUR_ROUTER_H
