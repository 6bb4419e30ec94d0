/*
 * SPDX-License-Identifier: GPL-2.0-only
 */

#ifndef COSIM_LINK_LOADS_H
#define COSIM_LINK_LOADS_H

#include "network/live-links.h"
#include "network/transport-facts.h"
#include "support/flat-map.h"

#include <cstdint>
#include <span>
#include <vector>

namespace cosim
{

/**
 * Tells what a message waits for on the links of its path: for other messages of its owner, such as
 * its collective, or for those of others.
 *
 * It adds up the transmission times of all delivered messages on each link, and those of each
 * owner. A message counts when it is delivered, so a message that was half sent when another one
 * begins to wait counts whole.
 */
class LinkLoads
{
  public:
    /// What messages belong together: a number for each collective, or for each pair of ranks.
    using Owner = uint64_t;

    /// How much a link had carried at some time [ps].
    struct Mark
    {
        uint32_t link;
        uint64_t ownPs; //!< of messages of the owner
        uint64_t allPs; //!< of all messages
    };

    /// What a link was busy with [ps].
    struct Load
    {
        uint64_t ownPs;    //!< other messages of the owner
        uint64_t othersPs; //!< messages of others
    };

    /**
     * @param links links as they are now; must outlive this object
     * @param format sizes of the packets
     */
    LinkLoads(const LiveLinks& links, const PacketFormat& format);

    /**
     * @param owner owner of a message that is sent now
     * @param path the links of its path
     * @return what the links have carried until now
     */
    std::vector<Mark> Look(Owner owner, std::span<const uint32_t> path);

    /// @param path the links of the path of a message that was delivered
    void Add(std::span<const uint32_t> path, uint64_t bytes);

    /**
     * Count a delivered message for its owner, and say what it has waited for. All delivered
     * messages, this one too, were added before.
     *
     * @param marks what Look returned when the message was sent
     * @return what the busiest link of its path has carried since then beside this message
     */
    Load Deliver(Owner owner, std::span<const Mark> marks, uint64_t bytes);

  private:
    /// A link, for the messages of an owner.
    struct Place
    {
        Owner owner{0};
        uint32_t link{0};

        bool operator==(const Place&) const = default;

        uint64_t Hash() const
        {
            return MixHash(owner, link);
        }
    };

    uint64_t GetTimePs(uint32_t link, uint64_t bytes) const;

    const LiveLinks& m_links;
    PacketFormat m_format;
    std::vector<uint64_t> m_allPs; //!< indexed by link
    FlatMap<Place, uint64_t> m_ownPs;
};

} // namespace cosim

#endif // COSIM_LINK_LOADS_H
