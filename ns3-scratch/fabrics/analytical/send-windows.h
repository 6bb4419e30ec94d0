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
#include <optional>
#include <span>
#include <vector>

namespace cosim
{

class MessageFabric;

/**
 * Holds messages back until the window of their connection has room, as TCP does with packets.
 *
 * Without windows, a path that gets many messages at once would put all of them into the queue of
 * its first link, ahead of what other paths send a little later. With windows, it is ahead by one
 * window W only. A message whose first packet has f bytes enters as a whole as soon as U + f <= W,
 * where U is what its path has sent and is not acknowledged. While the packets of a message arrive,
 * acknowledgments leave at an even rate.
 *
 * Paths that send less than a first window before they rest only cost a comparison for a message.
 */
class SendWindows
{
  public:
    /// Bit that marks the subject of a planned event as a path for OnDue.
    static constexpr uint32_t SUBJECT = uint32_t{1} << 30;

    /// A message that a rank has sent.
    struct Sending
    {
        Cargo cargo;
        uint64_t sentAt; //!< [ps]
    };

    /**
     * @param fabric plans the events; must outlive this object
     * @param settings supplies the sizes of windows
     * @param headerBytes headers per packet [bytes]
     */
    SendWindows(MessageFabric& fabric, const Settings& settings, uint32_t headerBytes);

    /**
     * Note that messages are sent, and hold those back for which the windows have no room.
     *
     * @param cargo the messages
     * @param at time at which they are sent; not before that of an earlier call [ps]
     * @return the messages that enter their first link at that time; valid until the next call
     */
    std::span<const Cargo> Admit(std::span<const Cargo> cargo, uint64_t at);

    /**
     * Note when a message arrives at the end of its path. Messages of a path arrive in the order in
     * which they entered.
     *
     * @param path path of the message
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
            PlaceBusy(state, ackedAt, transmission);
        }
    }

    /**
     * Note that a message arrives later than Place was told.
     *
     * @param path path of the message
     * @param before arrival known so far [ps]
     * @param arrival new arrival [ps]
     */
    void Postpone(uint32_t path, uint64_t before, uint64_t arrival);

    /**
     * Remove the first held message of a path if there is room for it. Call this at an event with
     * SUBJECT until it returns nothing.
     *
     * @param path the path
     * @param now current time [ps]
     * @return the message, which enters its first link now
     */
    std::optional<Sending> Release(uint32_t path, uint64_t now);

    /// @param bytes per path; the payload of its held messages is added, at least one byte each
    void AddHeld(std::vector<uint64_t>& bytes) const;

    /// @return true if no message is held back
    bool IsEmpty() const
    {
        return m_held == 0;
    }

    /**
     * Add the state at a time at which no message is on its way, relative to that time.
     *
     * @param digest receives the state
     * @param at the time [ps]
     */
    void AddState(StateDigest& digest, uint64_t at) const;

    /// @param ps by how much the clock is set forward [ps]
    void Shift(uint64_t ps);

    /// @return the latest time, on the clock of the simulator, at which it mattered how much a
    /// connection had sent; -1: never [ps]
    int64_t GetHistoryPs() const
    {
        return m_historyPs;
    }

  private:
    static constexpr uint32_t NONE = UINT32_MAX;
    static constexpr uint64_t NEVER = UINT64_MAX;

    /// What a path has sent.
    struct Path
    {
        uint64_t ackedAt{0};   //!< latest known acknowledgment [ps]
        uint64_t acked{0};     //!< acknowledged in the whole run [bytes on the wire]
        uint64_t wireBytes{0}; //!< sent since then, without a Busy [bytes on the wire]
        uint64_t returnPs{0};  //!< time that an acknowledgment takes; 0: not computed yet [ps]
        uint32_t unplaced{0};  //!< messages that have entered and whose arrival is not known
        uint32_t busy{NONE};   //!< slot in m_busy; NONE: it has sent less than a first window
    };

    /// Messages that were sent together, with the time in which they are acknowledged.
    struct Sent
    {
        uint64_t wireBytes;
        uint64_t ackedFrom; //!< [ps]
        uint64_t ackedAt;   //!< [ps]
        uint32_t unplaced;  //!< messages whose arrival is not known
    };

    /// A path that has sent more than a first window. Slots are reused.
    struct Busy
    {
        RingBuffer<Sent> sent; //!< what may be unacknowledged
        RingBuffer<Sending> held;
        uint64_t wireBytes{0};     //!< of `sent` [bytes on the wire]
        uint64_t plannedAt{NEVER}; //!< time of the path's next event [ps]
        std::size_t placed{0};     //!< entries of `sent` whose arrival is known
        WindowSize window{};       //!< latest size of the window
    };

    uint64_t GetReturnPs(uint32_t path);
    bool AdmitOne(const Cargo& cargo, uint64_t at);
    void Rest(Path& state);
    void Follow(Path& state);
    void Enter(Path& state, uint64_t wireBytes);
    void PlaceBusy(const Path& state, uint64_t ackedAt, uint64_t transmission);
    void PlanRelease(Busy& busy);
    uint64_t GetRoomPs(const Cargo& cargo, uint64_t at);

    MessageFabric& m_fabric;
    const WindowSizes m_sizes;
    const double m_payloadShare; //!< of a full packet
    std::vector<Path> m_paths;
    SlotPool<Busy> m_busy;
    std::vector<Cargo> m_admitted; //!< buffer of Admit
    uint64_t m_held{0};            //!< number of messages held back
    int64_t m_historyPs{-1};       //!< see GetHistoryPs
};

} // namespace cosim

#endif // COSIM_SEND_WINDOWS_H
