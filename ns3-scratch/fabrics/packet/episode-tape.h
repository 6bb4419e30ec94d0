/*
 * SPDX-License-Identifier: GPL-2.0-only
 */

#ifndef COSIM_EPISODE_TAPE_H
#define COSIM_EPISODE_TAPE_H

#include "fabrics/packet/datapath.h"
#include "network/link-summary.h"
#include "transport/flow-trail.h"

#include <cstddef>
#include <cstdint>
#include <memory>
#include <vector>

namespace cosim
{

/**
 * What happened in a zone during an episode, without names: flows and parts of the network are
 * numbered in the order in which they were used first, and times count from the start.
 *
 * An *episode* is the time in which flows of a zone are not silent.
 */
struct EpisodeTape
{
    enum class Kind : uint8_t
    {
        SUBMIT,         //!< a message entered a flow
        SUBMIT_AWAITED, //!< likewise, and its last acknowledgment matters
        DELIVER,        //!< the last bytes of a message were delivered
        ACKNOWLEDGE,    //!< the last bytes of a message that is awaited were acknowledged
        END,            //!< all flows are silent
    };

    /// Something that entered the zone, or came out. What comes out in a picosecond is before what
    /// enters.
    struct Item
    {
        int64_t atPs;
        uint64_t bytes;
        uint32_t flow;
        Kind kind;

        /// @return true if it entered the zone
        bool IsInput() const
        {
            return kind == Kind::SUBMIT || kind == Kind::SUBMIT_AWAITED;
        }
    };

    /// A flow that was used.
    struct Flow
    {
        uint32_t shape;     //!< see PathShapes
        uint32_t firstPart; //!< where the parts of its path are in pathParts
        std::unique_ptr<FlowTrail> trail;
    };

    static constexpr uint64_t MESSAGE = 4; //!< what a message takes, in round trips

    /// @return how long it is: its round trips, and what its messages take besides
    uint64_t GetLength() const
    {
        return roundTrips + MESSAGE * messages;
    }

    /// @return the memory that it takes, roughly [bytes]
    std::size_t GetBytes() const
    {
        std::size_t bytes =
            sizeof(*this) + items.capacity() * sizeof(Item) +
            beginnings.capacity() * sizeof(uint64_t) + flows.capacity() * sizeof(Flow) +
            pathParts.capacity() * sizeof(uint32_t) + parts.capacity() * sizeof(LinkCounters);
        for (const Flow& flow : flows)
        {
            bytes += flow.trail->GetBytes();
        }
        return bytes;
    }

    /// Give back the room for what can come, when nothing comes any more.
    void Shrink()
    {
        items.shrink_to_fit();
        beginnings.shrink_to_fit();
        flows.shrink_to_fit();
        pathParts.shrink_to_fit();
        for (const Flow& flow : flows)
        {
            flow.trail->Shrink();
        }
    }

    std::vector<Item> items;
    /// digests of all that has entered up to a time: one for each time at which something entered
    std::vector<uint64_t> beginnings;
    std::vector<Flow> flows;
    std::vector<uint32_t> pathParts; //!< the parts of the path of one flow after the other
    std::vector<LinkCounters> parts; //!< per part: what it counted, if it is a link; at the end
    PacketCounts packets;            //!< at the end
    uint64_t roundTrips{0};
    uint64_t mostLength{0}; //!< while it is made: from here on it is too long, if it is not known
    uint64_t messages{0};
    uint32_t leader{0};              //!< the zone in which it was made
    std::vector<uint32_t> followers; //!< the zones that follow it while it is being made
    uint64_t usedAt{0};              //!< see TapeLibrary
    std::size_t bytes{0};            //!< the memory that it takes, at the end
    bool hasEnd{false};
    bool isBroken{false}; //!< true if something happened that cannot be played
};

} // namespace cosim

#endif // COSIM_EPISODE_TAPE_H
