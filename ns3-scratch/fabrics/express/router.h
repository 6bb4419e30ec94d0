/*
 * SPDX-License-Identifier: GPL-2.0-only
 */

#ifndef COSIM_ROUTER_H
#define COSIM_ROUTER_H

#include "fabrics/express/port.h"
#include "network/link-control.h"
#include "network/network-statistics.h"
#include "transport/packet.h"

#include <cstdint>
#include <functional>
#include <stdexcept>

namespace cosim
{

/**
 * Decides which links a packet of an ExpressDatapath takes: the first one when an endpoint sends
 * it, and the next one at the end of each link.
 */
class Router : public PacketCarrier, public Port::Receiver
{
  public:
    /**
     * Give a packet the path that it takes, without sending it.
     *
     * @param packet a packet of one of the endpoints
     * @throws std::logic_error if this router chooses link by link
     */
    virtual void Route(Packet& /* packet */)
    {
        throw std::logic_error("packets have no path before they are sent");
    }

    /// @param function called whenever the paths of flows have changed
    virtual void CallOnReroute(std::function<void()> /* function */)
    {
    }

    /**
     * Hold data that is to be appended to the stream of a flow, if the flow is paused.
     *
     * @param flow id of the flow
     * @param bytes number of bytes
     * @return true if the router appends the data when the flow resumes
     */
    virtual bool Hold(FlowId /* flow */, uint64_t /* bytes */)
    {
        return false;
    }

    /// @return true if connections open before the first links are up, in no time
    virtual bool OpensAtOnce() const
    {
        return false;
    }

    /// @return the object that changes the links during a run, or null if they do not change
    virtual LinkControl* GetLinkControl()
    {
        return nullptr;
    }

    /// @param statistics receives what only this router counts
    virtual void AddStatistics(NetworkStatistics& /* statistics */) const
    {
    }
};

} // namespace cosim

#endif // COSIM_ROUTER_H
