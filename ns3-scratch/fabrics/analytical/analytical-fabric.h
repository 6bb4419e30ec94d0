/*
 * SPDX-License-Identifier: GPL-2.0-only
 */

#ifndef COSIM_ANALYTICAL_FABRIC_H
#define COSIM_ANALYTICAL_FABRIC_H

#include "fabrics/analytical/analytical-link.h"
#include "fabrics/message/message-fabric.h"
#include "support/slot-pool.h"

#include <cstdint>
#include <vector>

namespace cosim
{

/**
 * An estimate without packets: every message crosses the links of its path as one piece.
 *
 * A link carries one message at a time, first come first served. On a link of rate r that was free
 * until b, a message of W bytes on the wire (see MessageFabric) whose first packet (of size f)
 * arrives at time t
 *
 *   starts at s = max(t, b), is carried until e = max(s + W/r, e' + l' + g/r) and is at the next
 *   node with its first packet at s + f/r + l and with its last byte at e + l,
 *
 * where l is the link's latency, e' and l' are those of the link before, and g is the size of its
 * last packet: a switch stores and forwards packets, so a message follows its first packet (cut
 * through), and a link cannot end before its last packet has come. There is no loss, no window and
 * no acknowledgement but that SimSend's `sent` waits for the way back.
 *
 * A message that is put into a bundle joins the queue of its first link at once, ahead of what is
 * sent otherwise within the delay given there. On the last of its links it is entered when it
 * leaves the one before (see AnalyticalLink), so that over a switch it costs no event of its own.
 */
class AnalyticalFabric : public MessageFabric
{
  public:
    /**
     * @param topology links and paths; must outlive the fabric
     * @param settings its TCP settings give the sizes of segments and headers; must outlive it
     */
    AnalyticalFabric(const Topology& topology, const Settings& settings);

  protected:
    void Launch(std::span<const Cargo> cargo, uint64_t at, uint64_t now) override;
    void OnDue(uint32_t subject, uint64_t now) override;
    std::vector<LinkCounters> GetLinkCounters() const override;

  private:
    /// A link, what it did, and how long a message of the last size takes.
    struct Link
    {
        AnalyticalLink queue;
        uint64_t latency{0};    //!< [ps]
        uint64_t forwarding{0}; //!< of the node at which it starts [ps]
        uint64_t busy{0};       //!< carrying messages [ps]
        uint64_t wireBytes{0};
        uint64_t longestWait{0};       //!< of a message that had been on another link [ps]
        uint64_t sizeBytes{0};         //!< the size, on the wire
        uint64_t transmission{0};      //!< of all of it [ps]
        uint64_t firstTransmission{0}; //!< of its first packet [ps]
        uint64_t lastTransmission{0};  //!< of its last packet [ps]
    };

    /// A message between two links. Slots of this kind are used again.
    struct Traveller
    {
        uint64_t sentAt;   //!< [ps]
        uint64_t arrival;  //!< of its first packet at the next link [ps]
        uint64_t lastByte; //!< of its last packet there [ps]
        uint32_t path;
        uint32_t hop; //!< into Topology::pathLinks: the next link
        uint32_t bundle;
        WireSize size; //!< while it waits in a slot
    };

    Link& Measure(uint32_t linkId, const WireSize& size);
    void MeasureAnew(uint32_t linkId, const WireSize& size);
    void Settle(Traveller& traveller, const WireSize& size, uint64_t now);
    bool Expect(const Traveller& traveller, const WireSize& size, uint64_t now);
    void Keep(const Traveller& traveller, const WireSize& size);

    std::vector<Link> m_links;
    SlotPool<Traveller> m_travellers;
};

} // namespace cosim

#endif // COSIM_ANALYTICAL_FABRIC_H
