/*
 * SPDX-License-Identifier: GPL-2.0-only
 */

#ifndef COSIM_EXPRESS_LINKS_H
#define COSIM_EXPRESS_LINKS_H

#include "clock/lazy-timer.h"
#include "fabrics/express/port.h"
#include "fabrics/express/pulled-port.h"
#include "fabrics/packet/datapath.h"
#include "transport/endpoint.h"
#include "transport/switch-buffer.h"

#include <cstdint>
#include <map>
#include <memory>
#include <set>
#include <string>
#include <vector>

namespace cosim
{

/**
 * The links of an ExpressDatapath, and what is lost at them.
 *
 * Where switches pause, it carries their frames, and looks once in a while whether ports wait for
 * each other in a cycle.
 */
class ExpressLinks : private PauseChannel
{
  public:
    /**
     * @param setup what the datapath works with
     * @param client notified of packets that are lost
     * @param transport owns the packets; must outlive this object
     * @param buffers the buffers of the nodes
     * @param makePort makes the port of a link
     */
    ExpressLinks(const DatapathSetup& setup,
                 DatapathClient& client,
                 Transport& transport,
                 SwitchBuffers buffers,
                 PortMaker makePort);

    /// @param receiver receives the packets at the ends of all links; must outlive this object
    void Build(Port::Receiver& receiver);

    /// Give a link its present state. The link may be a new one, with the next id.
    void Set(uint32_t link);

    /// @return the number of links
    uint32_t GetCount() const
    {
        return static_cast<uint32_t>(m_links.size());
    }

    /// @return a link
    Port& operator[](uint32_t link) const
    {
        return *m_links[link];
    }

    /// Put a packet into the egress queue of a link, or drop it.
    void Enter(uint32_t link, Packet* packet)
    {
        if (!m_links[link]->Offer(packet))
        {
            Refuse(link, packet);
        }
    }

    /// Lose a packet on a link, or in its queue.
    void Lose(uint32_t link, Packet* packet);

    /// @return the packets that were dropped at links that were down
    uint64_t GetRefusals() const
    {
        return m_refusals;
    }

    /// @param statistics receives what was paused, if switches pause
    void AddStatistics(NetworkStatistics& statistics) const;

  private:
    static constexpr uint32_t NONE = UINT32_MAX;
    /// Time between two looks for a cycle of paused ports [ps].
    static constexpr int64_t LOOK_PS = 1'000'000'000;

    /// A link and a traffic class that its target has paused.
    struct Held
    {
        uint32_t link;
        uint8_t trafficClass;

        auto operator<=>(const Held&) const = default;
    };

    /// A pause that has reached its port.
    struct Stop
    {
        uint32_t hops;
        int64_t startPs;
    };

    // PauseChannel
    void SetPaused(uint32_t link, uint8_t trafficClass, bool isPaused) override;

    std::vector<std::pair<uint32_t, EcnMarking>> GetMarkings(uint32_t link) const;
    void Refuse(uint32_t link, Packet* packet);
    void PreparePauses();
    void OnPortPause(const Held& held, uint32_t hops, bool isPaused);
    std::vector<PauseHop> GetSpread() const;
    PulledPort& GetPulled(uint32_t link) const;
    void LookForCycle();
    Held FindCause(const Held& held, const std::set<Held>& stuck) const;
    std::string DescribeCycle(const std::set<Held>& stuck) const;
    std::string NameLink(uint32_t link) const;

    CausalSimulator& m_clock;
    const LiveLinks& m_states;
    const uint32_t m_largestBytes; //!< largest packet
    const uint32_t m_timeUnitPs;   //!< unit of transmission times
    DatapathClient& m_client;
    Transport& m_transport;
    SwitchBuffers m_buffers;
    PortMaker m_makePort;
    Port::Receiver* m_receiver{nullptr};
    std::vector<std::unique_ptr<Port>> m_links;
    std::map<uint64_t, TransmissionTimes> m_times; //!< keyed by rate
    uint64_t m_refusals{0};
    const Topology& m_topology;
    std::vector<uint32_t> m_back; //!< per link: that in the other direction, or NONE
    /// per node and each place of a port in its buffer: the link of the port
    std::vector<std::vector<uint32_t>> m_ports;
    std::map<Held, uint32_t> m_held; //!< now, and by how many pauses in a row
    uint32_t m_longestChain{0};
    std::map<Held, Stop> m_stops;                  //!< of ports that have got the frame
    std::vector<PauseHop> m_spread;                //!< of the stops that have ended
    std::vector<std::set<uint32_t>> m_spreadLinks; //!< the links of all stops
    OwnedTimer<ExpressLinks, &ExpressLinks::LookForCycle> m_look;
};

} // namespace cosim

#endif // COSIM_EXPRESS_LINKS_H
