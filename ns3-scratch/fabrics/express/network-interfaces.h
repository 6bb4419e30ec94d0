/*
 * SPDX-License-Identifier: GPL-2.0-only
 */

#ifndef COSIM_NETWORK_INTERFACES_H
#define COSIM_NETWORK_INTERFACES_H

#include "clock/lazy-timer.h"
#include "fabrics/express/express-flows.h"
#include "fabrics/express/express-links.h"
#include "fabrics/express/pulled-port.h"
#include "fabrics/express/router.h"
#include "fabrics/packet/datapath.h"
#include "transport/pulled-sender.h"

#include <cstdint>
#include <map>
#include <utility>
#include <vector>

namespace cosim
{

/**
 * The network interface at a port of a rank, for one traffic class. When the port is free, it takes
 * a packet of one of the senders that may send now, in turn.
 */
class NetworkInterface final : public PacketSource
{
  public:
    /**
     * @param clock the clock; must outlive this object
     * @param port the port, which pulls; must outlive this object
     * @param links the links; must outlive this object
     * @param link the port's link
     * @param router gives packets their path; must outlive this object
     * @param trafficClass traffic class of the packets
     */
    NetworkInterface(CausalSimulator& clock,
                     PulledPort& port,
                     ExpressLinks& links,
                     uint32_t link,
                     Router& router,
                     uint8_t trafficClass);

    /// @return the number of a new sender
    uint32_t Add(PulledSender& sender);

    /// Take a sender out, which sends by another port from now on.
    void Remove(uint32_t number);

    /// See PacketPuller::Wake.
    void Wake(uint32_t number);

    // PacketSource
    Packet* Pull() override;

  private:
    static constexpr uint32_t NONE = UINT32_MAX;
    static constexpr uint32_t WORD = 64; //!< bits

    /// A sender that waits for a time.
    struct Wait
    {
        int64_t timePs;
        uint32_t number;

        bool operator<(const Wait& other) const
        { // the earliest is the first in the heap, and the lowest number of equal ones
            return timePs != other.timePs ? timePs > other.timePs : number > other.number;
        }
    };

    struct Member
    {
        PulledSender* sender; //!< null if it was taken out
        int64_t waitPs;       //!< time of its valid Wait; NEVER: it has none
    };

    bool Place(uint32_t number);
    uint32_t FindNext() const;
    void TakeDue();
    void OnDue();

    bool IsReady(uint32_t number) const
    {
        return (m_ready[number / WORD] >> number % WORD & 1) != 0;
    }

    CausalSimulator& m_clock;
    PulledPort& m_port;
    ExpressLinks& m_links;
    const uint32_t m_link;
    Router& m_router;
    OwnedTimer<NetworkInterface, &NetworkInterface::OnDue> m_timer;
    std::vector<Member> m_members;
    std::vector<uint64_t> m_ready; //!< one bit for each member that may send
    std::vector<Wait> m_waits;     //!< a heap; some are outdated
    uint32_t m_last{NONE};         //!< the member that sent the last packet
};

/// The network interfaces of all ranks: each flow sends by the port of the first link of its path.
class NetworkInterfaces final : public PacketPuller
{
  public:
    /**
     * @param setup what the datapath works with
     * @param links the links; must outlive this object
     * @param router gives packets their path; must outlive this object
     * @param flows tell their traffic classes; must outlive this object
     */
    NetworkInterfaces(const DatapathSetup& setup,
                      ExpressLinks& links,
                      Router& router,
                      const ExpressFlows& flows);

    // PacketPuller
    void Wake(FlowId flow, PulledSender& sender) override;

    /// Paths have changed: move senders to the ports by which they send now.
    void OnReroute();

  private:
    static constexpr uint32_t NONE = UINT32_MAX;

    /// Where a flow sends.
    struct Place
    {
        uint32_t link{NONE}; //!< NONE: nowhere yet
        uint32_t number{0};  //!< in the interface
        NetworkInterface* interface{nullptr};
        PulledSender* sender{nullptr};
    };

    void Bind(FlowId flow, PulledSender& sender);

    CausalSimulator& m_clock;
    const LiveLinks& m_states;
    ExpressLinks& m_links;
    Router& m_router;
    const ExpressFlows& m_flows;
    std::vector<Place> m_places; //!< per flow
    /// by link and traffic class
    std::map<std::pair<uint32_t, uint8_t>, NetworkInterface> m_interfaces;
};

} // namespace cosim

#endif // COSIM_NETWORK_INTERFACES_H
