/*
 * SPDX-License-Identifier: GPL-2.0-only
 */

#ifndef COSIM_ANALYTICAL_FABRIC_H
#define COSIM_ANALYTICAL_FABRIC_H

#include "message-fabric.h"

#include <cstdint>
#include <memory>
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
    void Launch(uint32_t message, uint64_t now) override;
    void OnDue(uint32_t subject, uint64_t now) override;
    std::vector<LinkCounters> GetLinkCounters() const override;

  private:
    /// What a link did.
    struct Link
    {
        uint64_t freeAt{0}; //!< [ps]
        uint64_t busy{0};   //!< carrying messages [ps]
        uint64_t wireBytes{0};
        uint64_t maxWait{0}; //!< of a message from another node [ps]
    };

    void Cross(uint32_t id, uint64_t now);

    std::vector<Link> m_links;
};

/**
 * @param topology links and paths; must outlive the fabric
 * @param settings its settings; must outlive the fabric
 * @return an AnalyticalFabric
 */
std::unique_ptr<Fabric> MakeAnalyticalFabric(const Topology& topology, const Settings& settings);

} // namespace cosim

#endif // COSIM_ANALYTICAL_FABRIC_H
