/*
 * SPDX-License-Identifier: GPL-2.0-only
 */

#ifndef COSIM_WINDOWED_FABRIC_H
#define COSIM_WINDOWED_FABRIC_H

#include "fabrics/analytical/send-windows.h"
#include "fabrics/message/message-fabric.h"
#include "support/slot-pool.h"

#include <cstdint>
#include <span>
#include <utility>
#include <vector>

namespace cosim
{

/**
 * Base class of the analytical estimators: lets messages enter their first link when the window of
 * their connection has room (see SendWindows).
 *
 * At one time, what was held back enters first, in the order in which ranks sent it. Then follows
 * what is sent at this time. A bundled message is known before it is sent. It enters at once if
 * nothing can come between; otherwise it waits until it is sent. So results do not depend on
 * whether messages are bundled.
 */
class WindowedFabric : public MessageFabric
{
  public:
    /**
     * @param topology links and paths; must outlive the fabric
     * @param settings run settings; must outlive the fabric
     */
    WindowedFabric(const Topology& topology, const Settings& settings);

  protected:
    /// Subjects of planned events of the estimator are smaller.
    static constexpr uint32_t END_OF_SUBJECTS = uint32_t{1} << 29;

    /**
     * Enter a message, or a part of one, on its first link. The estimator calls m_windows.Place
     * when it knows when this arrives, and Place if it has a bundle.
     *
     * @param cargo the message or the part
     * @param sentAt time at which the rank sent the message [ps]
     * @param at time at which this enters; not in the past [ps]
     * @param now current time [ps]
     */
    virtual void Enter(const Cargo& cargo, uint64_t sentAt, uint64_t at, uint64_t now) = 0;

    /**
     * @param link a link
     * @param at a recent time, or one in the near future [ps]
     * @return the time at which messages that have arrived there by then have left the link [ps]
     */
    virtual uint64_t GetFreePs(uint32_t link, uint64_t at) = 0;

    /// Handle a planned event of the estimator, as OnDue.
    virtual void OnArrival(uint32_t subject, uint64_t now) = 0;

    /// Start to load what is needed for the next messages, of which the first one is launched now.
    virtual void PrepareLaunch(std::span<const Cargo> cargo) const;

    /// @return the time that a link takes to transmit a window [ps]
    uint64_t GetWindowPs(uint32_t link) const;

    // MessageFabric
    void Launch(std::span<const Cargo> cargo, uint64_t at, uint64_t now) override;
    void OnDue(uint32_t subject, uint64_t now) override;
    void OnDueHandled(uint64_t now) override;

    SendWindows m_windows;
    const uint64_t m_pastPs; //!< how long before the latest arrival GetFreePs may be asked [ps]

  private:
    /// Messages that are launched when they are sent. Slots are reused.
    using Batch = std::vector<Cargo>;

    /// Bit that marks the subject of a planned event as a slot of m_later.
    static constexpr uint32_t LATER = END_OF_SUBJECTS;

    uint64_t ComputePastPs() const;
    bool MustWait(uint32_t path, uint64_t now) const;
    void Wait(const Cargo& cargo, uint64_t at, uint32_t& batch);
    void LaunchNow(const Cargo& cargo, uint64_t now);
    void ReleaseHeld(uint32_t path, uint64_t now);
    uint64_t GetAckWaitPs(uint32_t path, uint64_t arrival);

    SlotPool<Batch> m_later;
    std::vector<uint64_t> m_laterUntil; //!< by rank: time of its last message in m_later [ps]
    // What is due at the current time
    /// paths whose windows may have room, with the number of their first held message
    std::vector<std::pair<uint64_t, uint32_t>> m_duePaths;
    std::vector<uint32_t> m_dueBatches; //!< slots of m_later
};

} // namespace cosim

#endif // COSIM_WINDOWED_FABRIC_H
