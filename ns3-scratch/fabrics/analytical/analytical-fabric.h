/*
 * SPDX-License-Identifier: GPL-2.0-only
 */

#ifndef COSIM_ANALYTICAL_FABRIC_H
#define COSIM_ANALYTICAL_FABRIC_H

#include "fabrics/analytical/ack-stalls.h"
#include "fabrics/analytical/analytical-link.h"
#include "fabrics/analytical/send-windows.h"
#include "fabrics/message/message-fabric.h"
#include "support/slot-pool.h"

#include <cstdint>
#include <vector>

namespace cosim
{

/**
 * A fast estimate without packets: each message crosses each link of its path as one unit.
 *
 * A link carries one message at a time, in the order of arrival. Take a link of rate r and latency
 * l that becomes free at time b. A message of W bytes on the wire (see MessageFabric) whose first
 * packet of size f arrives at time t
 *
 * - starts at s = max(t, b),
 * - occupies the link until e = max(s + W/r, e' + l' + g/r),
 * - is at the next node with its first packet at s + f/r + l and with its last byte at e + l,
 *
 * where e' and l' are the end and the latency on the previous link, and g is the size of the
 * message's last packet. A switch forwards packets one by one, so a message follows its first
 * packet without waiting for the rest, and it cannot leave a link before its last packet has come.
 * There is no loss. Acknowledgments take no bandwidth, but the `sent` callback of SimSend waits for
 * the time that one takes. A message waits at its source until the window of its connection has
 * room (see SendWindows). Where ranks send large messages to each other, their last bytes are late
 * (see AckStalls). Between switches, short messages pass long ones (see AnalyticalLink).
 *
 * A bundled message joins the queue of its first link at once, unless its path or others of that
 * link may have to wait for a window. It is thus ahead of messages that are sent by other calls
 * during the injection delay of PutIntoBundles. On a link at which all paths end, a message is
 * entered as soon as it leaves the link before (see AnalyticalLink), so a path over one switch
 * needs no simulator event per message. On other links this would cost more than an event: each
 * message that goes on to another link moves all that are expected behind it.
 */
class AnalyticalFabric : public MessageFabric
{
  public:
    /**
     * @param topology links and paths; must outlive the fabric
     * @param settings run settings; the TCP settings give the sizes of segments and headers; must
     * outlive the fabric
     */
    AnalyticalFabric(const Topology& topology, const Settings& settings);

  protected:
    void Launch(std::span<const Cargo> cargo, uint64_t at, uint64_t now) override;
    void OnDue(uint32_t subject, uint64_t now) override;
    std::vector<LinkCounters> CountLinks() const override;

  private:
    /// A link with its counters, and the transmission times of a message of the last size.
    struct Link
    {
        AnalyticalLink queue;
        uint64_t latency{0};    //!< [ps]
        uint64_t forwarding{0}; //!< forwarding delay of the node at which the link starts [ps]
        uint64_t busy{0};       //!< time spent on carrying messages [ps]
        uint64_t wireBytes{0};
        uint64_t lastArrival{UINT64_MAX}; //!< of a message that Settle has entered [ps]
        uint32_t lastBundle{NONE};        //!< its bundle
        uint64_t longestWait{0};     //!< longest wait of a message that came from another link [ps]
        bool isPassedThrough{false}; //!< true if a path continues after this link
        /// message size for which the times below are valid [bytes on the wire]
        uint64_t sizeBytes{0};
        uint64_t transmission{0};      //!< of the whole message [ps]
        uint64_t firstTransmission{0}; //!< of the first packet [ps]
        uint64_t lastTransmission{0};  //!< of the last packet [ps]
    };

    /// A message between two links.
    struct MessageInTransit
    {
        uint64_t sentAt;   //!< [ps]
        uint64_t arrival;  //!< time at which the first packet reaches the next link [ps]
        uint64_t lastByte; //!< time at which the last packet reaches it [ps]
        uint32_t path;
        uint32_t hop; //!< index of the next link in Topology::pathLinks
        uint32_t bundle;
    };

    /// A message that waits for its arrival at its next link. Slots are reused.
    struct Kept
    {
        MessageInTransit message;
        WireSize size;
    };

    /// Messages that are launched when they are sent. Slots are reused.
    using Batch = std::vector<Cargo>;

    /// Bit that marks the subject of a planned event as a slot of m_later.
    static constexpr uint32_t LATER = uint32_t{1} << 29;

    uint32_t GetFirstLink(uint32_t path) const
    {
        return m_topology.pathLinks[m_topology.pathBegin[path]];
    }

    /// @return what postpones an expected message at the end of a link with a latency
    auto GetPostpone(uint64_t latency)
    {
        return [this, latency](const AnalyticalLink::Visit& moved, uint64_t before) {
            Postpone(moved.bundle, moved.path, moved.sentAt, before + latency, moved.end + latency);
        };
    }

    void LaunchLater(const Cargo& cargo, uint64_t at, uint32_t& batch);
    void LaunchBatch(uint32_t id, uint64_t now);
    void ReleaseHeld(uint32_t path, uint64_t now);
    void Enter(const Cargo& cargo, uint64_t sentAt, uint64_t at, uint64_t now);
    Link& Measure(uint32_t linkId, const WireSize& size);
    void MeasureAnew(uint32_t linkId, const WireSize& size);
    void Settle(const MessageInTransit& message, const WireSize& size, uint64_t now);
    void Leave(MessageInTransit message,
               const WireSize& size,
               Link& link,
               const AnalyticalLink::Passage& passage,
               uint64_t stall,
               uint64_t now);
    bool Expect(const MessageInTransit& message, const WireSize& size, uint64_t now);
    void Keep(const MessageInTransit& message, const WireSize& size);

    AckStalls m_stalls;
    SendWindows m_windows;
    SlotPool<Batch> m_later;
    std::vector<Link> m_links;
    SlotPool<Kept> m_inTransit;
};

} // namespace cosim

#endif // COSIM_ANALYTICAL_FABRIC_H
