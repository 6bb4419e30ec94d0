/*
 * SPDX-License-Identifier: GPL-2.0-only
 */

#ifndef COSIM_SWITCH_BUFFER_H
#define COSIM_SWITCH_BUFFER_H

#include "network/live-links.h"

#include <cstdint>
#include <functional>
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

/// Where the queue of a port marks packets.
struct EcnMarking
{
    uint64_t beginBytes{0}; //!< queue length from which some are marked; 0: none is
    uint64_t fullBytes{0};  //!< queue length from which all are marked
    uint32_t chancePpb{0};  //!< greatest chance of a mark between the two [10^-9]
    bool atDequeue{false};  //!< true: when a packet leaves, without it; false: when one arrives
};

/// Tells the ports that send to a node which traffic classes they must hold back.
class PauseChannel
{
  public:
    virtual ~PauseChannel() = default;

    /**
     * Send a pause or resume frame.
     *
     * @param link the link that is to carry nothing more of the class, or to carry it again
     * @param trafficClass the class
     * @param isPaused true to pause
     */
    virtual void SetPaused(uint32_t link, uint8_t trafficClass, bool isPaused) = 0;
};

/// How much of the memory for packets that arrive after a pause was used.
struct HeadroomUse
{
    uint64_t peakBytes{0};  //!< most that packets of one link have taken
    uint64_t limitBytes{0}; //!< what that link has
    uint64_t drops{0};      //!< packets that did not fit
    uint64_t lackBytes{0};  //!< what one link had needed more
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
     * @param queue its egress queue; must outlive the buffer, or not change any more. A port whose
     * traffic classes have places of their own is added once for each, one after another.
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
     * Mark packets at a port in another way than its link says.
     *
     * @param port the port
     * @param marking how
     */
    virtual void SetMarking(uint32_t /* port */, const EcnMarking& /* marking */)
    {
    }

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

    /// @param channel tells the senders of links to pause; must outlive the buffer
    virtual void SetPauseChannel(PauseChannel& /* channel */)
    {
    }

    /// A link into the node has failed: whoever sends by it starts afresh when it is up again.
    virtual void OnLinkDown(uint32_t /* link */)
    {
    }

    /**
     * @param link a link into the node
     * @param trafficClass a class that is paused on it
     * @param isHeld tells whether an egress port sends nothing of the class
     * @return true if the link stays paused as long as all these ports do not send
     */
    virtual bool IsStuck(uint32_t /* link */,
                         uint8_t /* trafficClass */,
                         const std::function<bool(uint32_t port)>& /* isHeld */) const
    {
        return false;
    }

    /// @return the use of headroom so far
    virtual HeadroomUse GetHeadroomUse() const
    {
        return {};
    }

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
