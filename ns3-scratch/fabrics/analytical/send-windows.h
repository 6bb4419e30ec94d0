/*
 * SPDX-License-Identifier: GPL-2.0-only
 */

#ifndef COSIM_SEND_WINDOWS_H
#define COSIM_SEND_WINDOWS_H

#include "fabrics/analytical/window-sizes.h"
#include "fabrics/message/parcels.h"
#include "support/ring-buffer.h"
#include "support/slot-pool.h"
#include "support/state-digest.h"

#include <algorithm>
#include <cstddef>
#include <cstdint>
#include <functional>
#include <optional>
#include <vector>

namespace cosim
{

class MessageFabric;

/**
 * Holds messages back until the window of their connection has room, as TCP does with packets.
 *
 * Without windows, a path that gets many messages at once would put all of them into the queue of
 * its first link, ahead of what other paths send a little later. With windows, it is ahead by one
 * window W only. What is held back enters when the window has room for one of its parts, or for all
 * that is held. A message that does not fit is cut into such parts; it arrives with its last one.
 *
 * While the packets of a part arrive, their acknowledgments leave at an even rate. An
 * acknowledgment waits behind data that its sender sends to others (see AckWait).
 *
 * A path that sends less than half a first window before it rests is never held back, and only
 * costs a comparison for a message.
 */
class SendWindows
{
  public:
    /// Bit that marks the subject of a planned event as a path for Release.
    static constexpr uint32_t SUBJECT = uint32_t{1} << 30;

    /// A message or a part of one. The bundle is NONE if a later part follows.
    struct Sending
    {
        Cargo cargo;
        uint64_t sentAt; //!< time at which the rank sent the message [ps]
        uint64_t number; //!< increases with each message that is held back
        uint64_t least;  //!< smallest part of the message [bytes on the wire]
    };

    static constexpr uint32_t NONE = UINT32_MAX;

    /**
     * Computes how long the acknowledgment of a packet waits in queues.
     *
     * The first parameter is the path of the packet, the second one is the time at which it arrived
     * there, not later than now [ps]. The result is in ps.
     */
    using AckWait = std::function<uint64_t(uint32_t, uint64_t)>;

    /**
     * @param fabric plans the events; must outlive this object
     * @param settings supplies the sizes of windows
     * @param headerBytes headers per packet [bytes]
     * @param ackWait see AckWait
     */
    SendWindows(MessageFabric& fabric,
                const Settings& settings,
                uint32_t headerBytes,
                AckWait ackWait);

    /**
     * Note that a message is sent, if the window has room for it.
     *
     * @param cargo the message
     * @param at time at which it is sent; now, if its path is followed [ps]
     * @return true if the message enters its first link at that time; false if nothing was noted
     */
    bool Admit(const Cargo& cargo, uint64_t at)
    {
        Path& state = m_paths[cargo.path];
        if (state.unplaced == 0 && at >= state.ackedAt)
        {
            Rest(cargo.path);
        }
        const uint64_t sum = state.wireBytes + cargo.size.wireBytes;
        if (state.busy != NONE || sum > m_few)
        {
            return state.busy != NONE && AdmitBusy(cargo, at);
        }
        state.wireBytes = sum;
        ++state.unplaced;
        return true;
    }

    /**
     * Hold back a message that is sent now, and for which Admit has returned false. Call Release
     * afterwards.
     *
     * @param cargo the message
     * @param now current time [ps]
     */
    void Hold(const Cargo& cargo, uint64_t now);

    /**
     * Remove from what is held what may enter. Call this after Hold and at an event with SUBJECT,
     * until it returns nothing.
     *
     * @param path the path
     * @param now current time [ps]
     * @return what enters its first link now
     */
    std::optional<Sending> Release(uint32_t path, uint64_t now);

    /// @return the number of the first held message of a path; 0 if there is none
    uint64_t GetNumber(uint32_t path) const
    {
        const uint32_t busy = m_paths[path].busy;
        return busy == NONE || m_busy[busy].held.IsEmpty() ? 0 : m_busy[busy].held.Front().number;
    }

    /**
     * Note when a message or a part of one arrives at the end of its path. They arrive in the order
     * in which they entered.
     *
     * @param path its path
     * @param arrival arrival of its last byte [ps]
     * @param transmission time that it takes on its last link [ps]
     */
    void Place(uint32_t path, uint64_t arrival, uint64_t transmission)
    {
        Path& state = m_paths[path];
        --state.unplaced;
        const uint64_t ackedAt = arrival + GetReturnPs(path);
        state.ackedAt = std::max(state.ackedAt, ackedAt);
        if (state.busy != NONE)
        {
            PlaceBusy(path, ackedAt, transmission);
        }
    }

    /**
     * Note that a message or a part of one arrives later than Place was told.
     *
     * @param path its path
     * @param before arrival known so far [ps]
     * @param arrival new arrival [ps]
     */
    void Postpone(uint32_t path, uint64_t before, uint64_t arrival);

    /// Start to load what Admit needs.
    void Prepare(uint32_t path) const
    {
        __builtin_prefetch(&m_paths[path]);
    }

    /// @return true if a path that starts at this rank has sent much
    bool IsFollowed(uint32_t rank) const
    {
        return m_followed[rank] > 0;
    }

    /**
     * Forget what is on its way, because links change. What is held back may enter now.
     *
     * @param now current time [ps]
     */
    void Forget(uint64_t now);

    /// @return the payload of packets, at least one byte
    uint64_t GetPayload(const WireSize& size) const;

    /// @param bytes per path; the payload of what is held back is added, at least one byte each
    void AddHeld(std::vector<uint64_t>& bytes) const;

    /// @return true if nothing is held back
    bool IsEmpty() const
    {
        return m_held == 0;
    }

    /**
     * Add the state at a time at which no message is on its way, relative to that time.
     *
     * @param digest receives the state
     * @param at the time [ps]
     * @return the longest time that an acknowledgment takes which is on its way; 0: there is none
     * [ps]
     */
    uint64_t AddState(StateDigest& digest, uint64_t at) const;

    /// @param ps by how much the clock is set forward [ps]
    void Shift(uint64_t ps);

    /// @return the latest time, on the clock of the simulator, at which it mattered how much a
    /// connection had sent; -1: never [ps]
    int64_t GetHistoryPs() const
    {
        return m_historyPs;
    }

  private:
    static constexpr uint64_t NEVER = UINT64_MAX;
    /// Number of parts that a window has room for, while it grows and when it is full. A window
    /// grows only once, but many full windows may follow, and each part costs time.
    static constexpr uint64_t PARTS = 8;
    static constexpr uint64_t FULL_PARTS = 4;
    /// Largest number of parts of a message, so that long messages do not cost much more time.
    static constexpr uint64_t MAX_PARTS = 64;

    /// What a path has sent.
    struct Path
    {
        uint64_t ackedAt{0};   //!< latest known acknowledgment [ps]
        uint64_t acked{0};     //!< acknowledged in the whole run [bytes on the wire]
        uint64_t wireBytes{0}; //!< sent since then, without a Busy [bytes on the wire]
        uint64_t returnPs{0};  //!< time that an acknowledgment takes; 0: not computed yet [ps]
        uint32_t unplaced{0};  //!< messages that have entered and whose arrival is not known
        uint32_t busy{NONE};   //!< slot in m_busy; NONE: it has sent less than half a first window
    };

    /// What was sent together, with the time in which it is acknowledged.
    struct Sent
    {
        uint64_t wireBytes;
        uint64_t ackedFrom; //!< if its acknowledgments do not wait [ps]
        uint64_t ackedAt;   //!< as ackedFrom [ps]
        uint32_t unplaced;  //!< messages whose arrival is not known
    };

    /// A path that has sent more than half a first window. Slots are reused.
    struct Busy
    {
        RingBuffer<Sent> sent; //!< what may be unacknowledged
        RingBuffer<Sending> held;
        uint64_t wireBytes;   //!< of `sent` [bytes on the wire]
        uint64_t heldBytes;   //!< of `held` [bytes on the wire]
        uint64_t plannedAt;   //!< time of the path's next event [ps]
        uint64_t waitedUntil; //!< no acknowledgment that is not here yet comes before [ps]
        uint64_t openAt;      //!< latest time at which something held has entered [ps]
        uint64_t part;        //!< smallest part of a message [bytes on the wire]
        bool isStuck;         //!< true if the time of the next event is not known
        std::size_t placed;   //!< entries of `sent` whose arrival is known
        uint64_t complete;    //!< latest window, see WindowSize [bytes on the wire]
        uint64_t withRest;    //!< as complete
        bool isFull;          //!< as complete
    };

    uint64_t GetReturnPs(uint32_t path);

    /// Forget what a path has sent, because all of it is acknowledged.
    void Rest(uint32_t path)
    {
        Path& state = m_paths[path];
        state.acked += state.wireBytes;
        state.wireBytes = 0;
        if (state.busy != NONE && m_busy[state.busy].held.IsEmpty())
        {
            Unfollow(path);
        }
    }

    void Unfollow(uint32_t path);
    void Follow(uint32_t path);
    bool AdmitBusy(const Cargo& cargo, uint64_t now);
    static bool IsRoom(const Busy& busy, uint64_t wireBytes, uint64_t part);
    void Enter(Path& state, uint64_t wireBytes);
    void PlaceBusy(uint32_t path, uint64_t ackedAt, uint64_t transmission);
    bool AwaitQueues(uint32_t path, uint64_t now);
    void Acknowledge(Path& state, uint64_t now);
    void SetWindow(const Path& state);
    Sending Take(Busy& busy);
    Sending Cut(Busy& busy, uint64_t packets) const;
    void PlanRelease(uint32_t path, uint64_t now);
    static uint64_t GetExcess(const Busy& busy);
    uint64_t GetRoomPs(const Busy& busy) const;
    static uint64_t GetAckedPs(const Busy& busy, uint64_t wireBytes);

    MessageFabric& m_fabric;
    const WindowSizes m_sizes;
    const AckWait m_ackWait;
    const uint64_t m_segment;    //!< payload of a full packet [bytes]
    const uint64_t m_packet;     //!< full packet [bytes on the wire]
    const double m_payloadShare; //!< of a full packet
    const uint64_t m_few;        //!< half of a first window [bytes on the wire]
    std::vector<Path> m_paths;
    std::vector<uint32_t> m_followed; //!< by rank: number of paths with a Busy that start there
    SlotPool<Busy> m_busy;
    uint64_t m_number{0};    //!< messages that have been held back
    uint64_t m_held{0};      //!< number of messages held back
    int64_t m_historyPs{-1}; //!< see GetHistoryPs
};

} // namespace cosim

#endif // COSIM_SEND_WINDOWS_H
