/*
 * SPDX-License-Identifier: GPL-2.0-only
 */

#ifndef COSIM_FLOW_FABRIC_H
#define COSIM_FLOW_FABRIC_H

#include "fabrics/flow/flow-link-control.h"
#include "fabrics/flow/max-min-solver.h"
#include "fabrics/message/message-fabric.h"
#include "support/ring-buffer.h"
#include "support/slot-pool.h"

#include <cstdint>
#include <memory>
#include <vector>

namespace cosim
{

/**
 * An estimate with flows: what is under way at a time shares the links max–min fairly.
 *
 * The messages of one path are bytes of one stream, as those of a TCP connection are: one behind
 * the other. At any moment every path with something to send has the rate that MaxMinSolver gives
 * it, and its first message gets all of it. A message of W bytes on the wire (see MessageFabric)
 * that left its source entirely at time t arrives at
 *
 *   t + Σ lᵢ + Σ f/rᵢ, never before the message ahead of it,
 *
 * where lᵢ are the latencies of the links and delays of ranks that pass it on, and the second sum
 * is the store-and-forward delay of a packet (of size f, the message's first) on all links but the
 * slowest. For a message alone that is to the picosecond (but for rounding) what its packets take.
 *
 * TCP shows in three ways, all of them from the scenario's transport settings:
 *
 * - W holds the headers, so that goodput is M/(M + h) of a link's rate.
 * - A path's rate is at most one window (the smaller of send and receive buffer) per round trip.
 * - Slow start: a path begins with a window of `initialCwndSegments` packets, waits after each
 *   window until a round trip has passed since the window's begin, and then has a window larger by
 *   what it sent. It ends for good with a window of one bandwidth-delay product.
 *
 * A round trip is that of a full packet and its acknowledgement over idle links. There is no loss
 * and no queue: what that leaves out is the time that a new flow's packets wait behind those that
 * fill the buffers.
 */
class FlowFabric : public MessageFabric
{
  public:
    /**
     * @param topology links and paths; must outlive the fabric
     * @param settings its TCP settings give sizes of segments, headers and windows; must outlive it
     * @param linksChange whether the topology's links change during the run
     */
    FlowFabric(const Topology& topology, const Settings& settings, bool linksChange);

    // Fabric
    LinkControl* GetLinkControl() override;

  protected:
    void Launch(std::span<const Cargo> cargo, uint64_t at, uint64_t now) override;
    void OnDue(uint32_t subject, uint64_t now) override;
    void OnServed(uint64_t now) override;
    std::vector<LinkCounters> GetLinkCounters() const override;

  private:
    friend class FlowLinkControl;

    static constexpr uint64_t NEVER = UINT64_MAX;

    /// A message that has not left its source. Slots of this kind are used again.
    struct Message
    {
        uint64_t bytes;      //!< its payload
        uint64_t wireBytes;  //!< on the wire
        uint64_t sentAt;     //!< [ps]
        uint32_t firstBytes; //!< its first packet on the wire
        uint32_t path;
        uint32_t bundle;
        uint32_t next; //!< of the same path
    };

    /// A path's stream.
    struct Path
    {
        double rate{0};            //!< [bit/s on the wire]
        double left{0};            //!< of the first message, at updatedAt [bytes on the wire]
        double forwardingPs{0};    //!< store and forward of one byte of a packet [ps]
        uint64_t updatedAt{0};     //!< [ps]
        uint64_t doneAt{NEVER};    //!< of the first message or window, or a pause's end [ps]
        uint64_t plannedAt{NEVER}; //!< the earliest time at which the path is due [ps]
        uint64_t latency{0};       //!< [ps]
        uint64_t lastArrival{0};   //!< of the message that left last [ps]
        uint64_t carried{0};       //!< by messages that left [bytes on the wire]
        uint32_t first{NONE};      //!< message
        uint32_t last{NONE};       //!< message
        uint32_t opening{NONE};    //!< into m_openings, while in slow start
        bool isDirty{false};       //!< in m_dirty
        bool isPaused{false};      //!< waits for a window
    };

    /// Slow start of a path.
    struct Opening
    {
        double window;      //!< [bytes on the wire]
        double enough;      //!< slow start ends with this window
        double left;        //!< of the window, at the path's updatedAt
        uint64_t startedAt; //!< this window [ps]
        uint64_t roundTrip; //!< [ps]
    };

    /// Prepare all paths for the links as they are now. @return their solver
    MaxMinSolver MakeSolver();

    /// The path begins or ends to send.
    void MarkDirty(uint32_t id, uint64_t now);

    /// Let time pass for a path's first message and its window.
    void Advance(Path& path, uint64_t now);

    /// The path's first message, its window or its pause ends then.
    void PlanPath(uint32_t id, uint64_t at);

    /// @return what has left of the first message, which there must be [bytes on the wire]
    uint64_t GetSent(uint32_t id, uint64_t now) const;

    /// @return what has left of all messages so far [bytes on the wire]
    uint64_t GetCarried(uint32_t id, uint64_t now) const;

    /// @return what the links did to carry so much over each path [bytes on the wire]
    std::vector<LinkCounters> CountUses(const std::vector<uint64_t>& carried) const;

    SlotPool<Message> m_messages;
    RingBuffer<uint32_t> m_delayed; //!< messages that are sent later, by time
    std::vector<Path> m_paths;
    std::vector<Opening> m_openings;
    MaxMinSolver m_solver;

    double PreparePath(uint32_t id);
    uint32_t MakeMessage(const Cargo& cargo, uint64_t at);
    void Begin(uint32_t message, uint64_t now);
    void Estimate(uint32_t id, uint64_t now);
    void OnPathDue(uint32_t id, uint64_t now);
    void Dispatch(uint32_t id, uint64_t now);
    void EndWindow(uint32_t id, uint64_t now);
    void OpenWindow(Path& path, uint64_t now);

    std::vector<uint32_t> m_dirty;                  //!< paths that begin or end to send
    std::unique_ptr<FlowLinkControl> m_linkControl; //!< null: the links do not change
};

} // namespace cosim

#endif // COSIM_FLOW_FABRIC_H
