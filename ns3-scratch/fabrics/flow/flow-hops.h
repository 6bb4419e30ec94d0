/*
 * SPDX-License-Identifier: GPL-2.0-only
 */

#ifndef COSIM_FLOW_HOPS_H
#define COSIM_FLOW_HOPS_H

#include "support/slot-pool.h"

#include <algorithm>
#include <cstddef>
#include <cstdint>
#include <vector>

namespace cosim
{

/**
 * The messages of a FlowFabric that travel hop by hop, and the queues in which they wait.
 *
 * Each link has a queue, first in, first out. A message enters it when its first packet arrives. A
 * message of W bytes, with a first packet of f bytes, that arrives at time t at a link of rate r is
 * served from s = max(t, the time at which the queue is empty), and keeps the link busy for W/r.
 * Its first packet leaves at s + f/r. Its last byte leaves when the queue has served it, but not
 * before the link could send the last packet:
 *
 *   max(s + W/r, t + spread + f/r),
 *
 * where the spread is the time by which its last byte follows its first packet.
 *
 * With traffic classes, a message waits only for those of its class and of higher ones. What is in
 * the queue of a lower class, and has not entered its next link, follows it; a message that has
 * entered is served as planned.
 */
class FlowHops
{
  public:
    static constexpr uint32_t NONE = UINT32_MAX;
    static constexpr uint64_t NEVER = UINT64_MAX;

    /// A message of a path with messages that travel hop by hop. Slots are reused.
    struct Message
    {
        uint64_t bytes{0};         //!< payload
        uint64_t wireBytes{0};     //!< on the wire, for what travels hop by hop
        uint64_t sentAt{0};        //!< [ps]
        uint64_t reachesAt{0};     //!< arrival of its first packet at the next link [ps]
        uint64_t spread{0};        //!< from its first packet to its last byte [ps]
        uint64_t arrivesAt{NEVER}; //!< arrival of its last byte at its target, if known [ps]
        uint64_t afterPs{0};    //!< the time by which it follows the previous message at least [ps]
        uint32_t firstBytes{0}; //!< size of its first packet on the wire
        uint32_t path{NONE};    //!< NONE if it has been delivered, but its event is still planned
        uint32_t bundle{NONE};
        uint32_t next{NONE};   //!< next message of the same path
        uint32_t hop{0};       //!< index of the next link in its path
        bool isPlanned{false}; //!< true if the arrival of its first packet is planned
    };

    /// The times at which a message leaves a link.
    struct Passage
    {
        uint64_t first; //!< its first packet has left [ps]
        uint64_t last;  //!< its last byte has left [ps]
    };

    /**
     * @param links number of links
     * @param classes number of traffic classes; 0 is the highest one
     */
    FlowHops(std::size_t links, uint32_t classes)
        : m_classes(classes),
          m_emptyAt(links * classes)
    {
    }

    /// @return a message that no path has yet
    uint32_t Add(const Message& message)
    {
        const uint32_t id = m_messages.Take();
        m_messages[id] = message;
        return id;
    }

    /// Forget a message.
    void Remove(uint32_t id)
    {
        m_messages.Return(id);
    }

    Message& operator[](uint32_t id)
    {
        return m_messages[id];
    }

    const Message& operator[](uint32_t id) const
    {
        return m_messages[id];
    }

    /// Start to load a message, which is soon due.
    void Prepare(uint32_t id) const
    {
        const char* const place = reinterpret_cast<const char*>(&m_messages[id]);
        __builtin_prefetch(place);
        __builtin_prefetch(place + sizeof(Message) - 1);
    }

    /// @return true if all queues are empty, so that GetEmptyAt is in the past for all links
    bool IsEmpty(uint64_t now) const
    {
        return m_latestEmptyAt <= now;
    }

    /**
     * @return the time at which the queue of a link has no message of a class and of higher ones
     * [ps]; in the past if it has none now
     */
    uint64_t GetEmptyAt(uint32_t link, uint32_t trafficClass) const
    {
        return m_emptyAt[std::size_t{link} * m_classes + trafficClass];
    }

    /// Empty the queue of a link, or add a link that follows the links so far.
    void Reset(uint32_t link)
    {
        const std::size_t first = std::size_t{link} * m_classes;
        m_emptyAt.resize(std::max(m_emptyAt.size(), first + m_classes));
        std::fill_n(m_emptyAt.begin() + static_cast<std::ptrdiff_t>(first), m_classes, 0);
    }

    /**
     * Let a message enter the queue of a link.
     *
     * @param message the message, whose first packet is there at reachesAt; its spread becomes that
     * behind the link
     * @param link the link
     * @param trafficClass the class of the message
     * @param busyPs the time that the link takes for the whole message [ps]
     * @param firstPs the time that it takes for the first packet [ps]
     */
    Passage Enter(Message& message,
                  uint32_t link,
                  uint32_t trafficClass,
                  uint64_t busyPs,
                  uint64_t firstPs)
    {
        uint64_t* const emptyAt = &m_emptyAt[std::size_t{link} * m_classes];
        const uint64_t first = std::max(message.reachesAt, emptyAt[trafficClass]) + firstPs;
        for (uint32_t later = trafficClass; later < m_classes; ++later)
        {
            emptyAt[later] = std::max(message.reachesAt, emptyAt[later]) + busyPs;
        }
        m_latestEmptyAt = std::max(m_latestEmptyAt, emptyAt[m_classes - 1]);
        const uint64_t last =
            std::max(emptyAt[trafficClass], message.reachesAt + message.spread + firstPs);
        message.spread = last - first;
        return {first, last};
    }

  private:
    uint32_t m_classes;
    std::vector<uint64_t> m_emptyAt; //!< per link and class [ps]
    uint64_t m_latestEmptyAt{0};     //!< no queue becomes empty later [ps]
    SlotPool<Message> m_messages;
};

} // namespace cosim

#endif // COSIM_FLOW_HOPS_H
