/*
 * SPDX-License-Identifier: GPL-2.0-only
 */

#ifndef COSIM_SWITCH_BUFFER_H
#define COSIM_SWITCH_BUFFER_H

#include "network/live-links.h"

#include <cstdint>
#include <memory>
#include <vector>

namespace cosim
{

/// The egress queue of a port, as a switch buffer sees it.
class EgressQueue
{
  public:
    virtual ~EgressQueue() = default;

    /// Report to the buffer all packets that have left the queue by now.
    virtual void Update() = 0;
};

/// A packet that enters or leaves the egress queue of a port.
struct Passage
{
    /// Ingress of a packet that starts at the node, or whose fabric does not know the link.
    static constexpr uint32_t NO_LINK = UINT32_MAX;

    uint32_t bytes;       //!< size on the wire [bytes]
    uint32_t ingress;     //!< id of the link by which it came to the node, or NO_LINK
    uint8_t trafficClass; //!< as in Packet
    bool isEcnCapable;    //!< true if it may be marked
};

/**
 * The packet buffer of a node. It decides which packets enter the egress queues of the node's
 * ports, and which of them are marked with CE (RFC 3168), when they enter or when they leave.
 *
 * The packet in transmission is not in the queue. A packet that finds its link idle enters the
 * queue and leaves it at once. A fabric may report late that packets have left a queue, but in the
 * right order, and before it offers a later packet to the same port. A buffer in which the queues
 * of other ports count calls EgressQueue::Update of them before it decides.
 */
class SwitchBuffer
{
  public:
    /// The decision about a packet that arrives.
    enum class Verdict : uint8_t
    {
        ADMIT,
        MARK, //!< admit the packet and set CE
        DROP,
    };

    virtual ~SwitchBuffer() = default;

    /**
     * Add a port, without a limit until SetLink.
     *
     * @param queue its egress queue; must outlive the buffer, or not change any more
     * @return the number of the port
     */
    virtual uint32_t AddPort(EgressQueue& queue) = 0;

    /**
     * Set what a port has for its link, while its queue is empty.
     *
     * @param port the port
     * @param link the present state of its link
     * @return false if every packet enters unmarked, so that the port need not ask
     */
    virtual bool SetLink(uint32_t port, const LinkState& link) = 0;

    /**
     * Decide about a packet that arrives, which then is in the queue unless it is dropped.
     *
     * @param port the port that is to send it
     * @param packet the packet
     * @param isDroppable false if it was admitted before and must not be dropped now
     * @return the decision
     */
    virtual Verdict Enter(uint32_t port, const Passage& packet, bool isDroppable) = 0;

    /**
     * A packet leaves the queue: its transmission begins.
     *
     * @param port the port that sends it
     * @param packet the packet
     * @return true to set CE
     */
    virtual bool Leave(uint32_t port, const Passage& packet) = 0;

    /// @return true if Leave can set CE, so that it must be called before a packet arrives
    virtual bool MarksAtDequeue() const
    {
        return false;
    }
};

/// The buffers of all nodes, by node.
using SwitchBuffers = std::vector<std::unique_ptr<SwitchBuffer>>;

} // namespace cosim

#endif // COSIM_SWITCH_BUFFER_H
