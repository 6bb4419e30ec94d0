/*
 * SPDX-License-Identifier: GPL-2.0-only
 */

#ifndef COSIM_SEND_WINDOWS_H
#define COSIM_SEND_WINDOWS_H

#include "fabrics/analytical/window-sizes.h"
#include "fabrics/message/parcels.h"
#include "support/huge-allocator.h"
#include "support/ring-buffer.h"
#include "support/slot-pool.h"

#include <cstdint>
#include <optional>
#include <vector>

namespace cosim
{

class MessageFabric;

/**
 * Holds messages back at their source until the window of their connection has room.
 *
 * Without windows, a path that gets many messages at once puts all of them into the queue of its
 * first link, ahead of what other paths of the rank send a little later. With windows, it is ahead
 * by one window only. A message enters, as a whole, when the window has room for its first packet.
 *
 * The bytes of a message are acknowledged at the rate at which they leave the first link, by a time
 * R later. R is the time that a packet and its acknowledgment take without queues. If the receiver
 * is also sending, the acknowledgment waits for one packet on each link.
 *
 * Most messages only cost a comparison. They pass as long as less than a quarter of a first window
 * has entered the link since it was idle. On a link of one pair of ranks, all messages pass.
 */
class SendWindows
{
  public:
    /// Bit that marks the subject of a planned event as a path for Release.
    static constexpr uint32_t SUBJECT = uint32_t{1} << 30;

    /// A message that is held back.
    struct Sending
    {
        Cargo cargo;
        uint64_t sentAt; //!< time at which the rank sent it [ps]
    };

    /**
     * @param fabric plans the events; must outlive this object
     */
    explicit SendWindows(MessageFabric& fabric);

    /**
     * Ask whether a message enters its first link when it is sent. If so, call Enter next.
     *
     * @param link its first link
     * @param cargo the message
     * @param at time at which it is sent [ps]
     * @param now current time [ps]
     * @return false if it has to wait, or if that is not known before it is sent
     */
    bool Admit(uint32_t link, const Cargo& cargo, uint64_t at, uint64_t now)
    {
        const Link& first = m_links[link];
        const uint64_t before = first.free <= at ? 0 : first.bytes;
        return (before + cargo.size.wireBytes <= first.few && first.waiting == 0) ||
               AdmitMore(link, cargo, at, now);
    }

    /**
     * Note that a message enters its first link.
     *
     * @param link the link
     * @param path path of the message
     * @param wireBytes its size [bytes on the wire]
     * @param at time at which it enters [ps]
     * @param start start of its transmission [ps]
     * @param end end of its transmission [ps]
     */
    void Enter(uint32_t link,
               uint32_t path,
               uint64_t wireBytes,
               uint64_t at,
               uint64_t start,
               uint64_t end)
    {
        Link& first = m_links[link];
        if (first.free <= at)
        {
            first.bytes = 0;
            first.begin = start;
            first.path = path;
        }
        if (first.bytes + wireBytes > first.few || first.waiting > 0)
        {
            EnterMore(first, path, wireBytes, at, start, end);
        }
        else if (first.path != path)
        {
            first.path = NONE;
        }
        first.bytes += wireBytes;
        first.free = end;
    }

    /**
     * Note that a message is not sent yet, so that no later one can enter its first link ahead of
     * time.
     */
    void Await(uint32_t link)
    {
        ++m_links[link].waiting;
    }

    /// Note that a message for which Await was called is sent.
    void Resume(uint32_t link)
    {
        --m_links[link].waiting;
    }

    /**
     * Hold back a message that is sent now, and that was not admitted.
     *
     * @param link its first link
     * @param cargo the message
     * @param now current time [ps]
     */
    void Hold(uint32_t link, const Cargo& cargo, uint64_t now);

    /**
     * Remove the first held message of a path if the window has room for it. Call this at an event
     * with SUBJECT, until it returns nothing.
     *
     * @param path the path
     * @param now current time [ps]
     * @return the message, which enters its first link now
     */
    std::optional<Sending> Release(uint32_t path, uint64_t now);

  private:
    static constexpr uint32_t NONE = UINT32_MAX;
    /// An event releases so much of a window, unless less is held: 1/GROUPS.
    static constexpr uint64_t GROUPS = 2;

    /// What has entered a link since it was idle.
    struct Link
    {
        uint64_t free{0};         //!< end of the transmission [ps]
        uint64_t begin{0};        //!< start of the transmission [ps]
        uint64_t bytes{0};        //!< [bytes on the wire]
        uint64_t few{UINT64_MAX}; //!< so many bytes fit into the window of any path
        uint32_t waiting{0};      //!< number of messages that are held back or not sent yet
        uint32_t path{NONE};      //!< path of `bytes`, if they are few and have one path
    };

    /// What a path has sent on a link that carries more than a few bytes.
    struct alignas(64) Path
    {
        uint64_t bytes{0};      //!< what has entered, without a Busy [bytes on the wire]
        uint64_t ackedFrom{0};  //!< start of its acknowledgment [ps]
        uint64_t ackedAt{0};    //!< end of the acknowledgment of all that has entered [ps]
        uint64_t few{0};        //!< half of its window, as known so far [bytes on the wire]
        uint64_t returnPs{0};   //!< time R without waiting; 0: not computed yet [ps]
        uint64_t waitPs{0};     //!< longest wait of an acknowledgment [ps]
        uint32_t ackLink{NONE}; //!< link on which acknowledgments leave, or NONE
        uint32_t busy{NONE};    //!< slot in m_busy; NONE: less than half a window has entered
        uint32_t kind{0};       //!< index in m_kinds
    };

    /// Messages that have entered and leave the link one after the other.
    struct Sent
    {
        uint64_t wireBytes;
        uint64_t ackedFrom; //!< [ps]
        uint64_t ackedAt;   //!< [ps]
    };

    /// A path of which more than half a window has entered. Slots are reused.
    struct Busy
    {
        RingBuffer<Sent> sent; //!< what is not acknowledged
        RingBuffer<Sending> held;
        double acked;       //!< in the whole run [bytes of payload]
        uint64_t wireBytes; //!< of `sent`
        uint64_t heldBytes; //!< of `held` [bytes on the wire]
        uint64_t window;    //!< see WindowSize::withRest [bytes on the wire]
        uint32_t link;      //!< first link
        bool isFull;        //!< see WindowSize
    };

    /// The windows of the connections with the same transport.
    struct Kind
    {
        WindowSizes sizes;
        uint64_t few;    //!< half of a first window [bytes on the wire]
        uint64_t most;   //!< half of a full window [bytes on the wire]
        uint64_t packet; //!< full packet [bytes on the wire]
    };

    void FindSharedLinks(const Topology& topology);
    void Measure(Path& path, uint32_t id) const;
    bool AdmitMore(uint32_t link, const Cargo& cargo, uint64_t at, uint64_t now);
    void EnterMore(Link& first,
                   uint32_t path,
                   uint64_t wireBytes,
                   uint64_t at,
                   uint64_t start,
                   uint64_t end);
    void Rest(Path& path);
    Busy& Follow(uint32_t link, uint32_t path);
    void SetWindow(Path& path);
    void Acknowledge(Path& path, uint64_t now);
    void PlanRelease(uint32_t id, uint64_t now);
    uint64_t GetRoomPs(const Path& path, uint64_t wireBytes) const;

    static bool IsRoom(const Busy& busy, const WireSize& size)
    {
        return busy.wireBytes + size.firstBytes <= busy.window;
    }

    MessageFabric& m_fabric;
    std::vector<Kind> m_kinds; //!< one for each transport
    std::vector<Link> m_links;
    HugeVector<Path> m_paths;
    SlotPool<Busy> m_busy;
};

} // namespace cosim

#endif // COSIM_SEND_WINDOWS_H
