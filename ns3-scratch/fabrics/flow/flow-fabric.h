/*
 * SPDX-License-Identifier: GPL-2.0-only
 */

#ifndef COSIM_FLOW_FABRIC_H
#define COSIM_FLOW_FABRIC_H

#include "fabrics/flow/class-solver.h"
#include "fabrics/flow/flow-hops.h"
#include "fabrics/flow/flow-link-control.h"
#include "fabrics/flow/flow-streams.h"
#include "fabrics/message/message-fabric.h"
#include "support/ring-buffer.h"

#include <cstdint>
#include <memory>
#include <vector>

namespace cosim
{

/**
 * An estimate with flows that share the links max–min fairly.
 *
 * As in a TCP connection, the messages of one path form one stream of bytes, one message after
 * another. At any time each path with data to send has the rate that ClassSolver assigns to it,
 * and its first message uses the whole rate. Take a message of W bytes on the wire (see
 * MessageFabric) whose last byte leaves its source at time t. It arrives at
 *
 *   t + Σ lᵢ + Σ f/rᵢ, but never before the last link of the path has carried its W bytes after the
 *   previous message of the path,
 *
 * where lᵢ are the latencies of the links and the delays of forwarding ranks. The second sum is the
 * store-and-forward delay of the message's first packet, of size f, on all links except the
 * slowest. Without other traffic, this equals the time that the message's packets take, except for
 * rounding.
 *
 * Three properties of TCP are modelled, with the transport settings of the scenario:
 *
 * - W includes headers, so the goodput of a link is M/(M + h) of its rate.
 * - The rate of a path is at most one window (the smaller of the send and the receive buffer) per
 *   round trip.
 * - Slow start: a path begins with a window of `initialCwndSegments` packets. After each window it
 *   waits until one round trip has passed since the window began. The next window is larger by
 *   the amount that was sent. Slow start ends for good when the window reaches the
 *   bandwidth-delay product.
 *
 * A round trip is that of a full packet and its acknowledgment over idle links. There is no loss.
 *
 * A *short* message fits into what is left of the window of a path in slow start. As TCP has
 * nothing to wait for, the whole message leaves at once; and as this window does not fill the path,
 * the message never occupies all links of the path at once. So it does not share them with others
 * either: it travels hop by hop. At each link it waits behind the short messages that are there
 * (see FlowHops), and then has the link alone. Long messages, the streams, do without that part of
 * the link:
 *
 * - If the link is full, its fastest streams pause for the time that it needs for the short
 * message.
 * - A stream that begins, or continues after its window, waits until the short messages that it
 *   finds at its links are gone.
 *
 * Ranks can have traffic classes. Then the streams of a class share what higher classes leave,
 * which can be nothing, and short messages of a class pass those of lower ones. A short message of
 * a link that streams of higher classes use does not travel hop by hop: it is a stream of its
 * class.
 *
 * Streams have no queues. The estimate therefore misses the time that packets wait behind those of
 * streams that fill the buffers, and that acknowledgments wait behind data.
 */
class FlowFabric : public MessageFabric
{
  public:
    /**
     * @param topology links and paths; must outlive the fabric
     * @param settings run settings; the TCP settings give the sizes of segments, headers and
     * windows; must outlive the fabric
     */
    FlowFabric(const Topology& topology, const Settings& settings);

    // Fabric
    LinkControl* GetLinkControl() override;

  protected:
    void Launch(std::span<const Cargo> cargo, uint64_t at, uint64_t now) override;
    void OnDue(uint32_t subject, uint64_t now) override;
    void Prepare(uint32_t subject, std::size_t before) const override;
    void OnServed(uint64_t now) override;
    std::vector<LinkCounters> CountLinks() const override;

  private:
    friend class FlowLinkControl;

    using Path = FlowStreams::Path;
    using Opening = FlowStreams::Opening;

    /// Tell the solver the rate of a link that has changed, or that follows the links so far.
    void PrepareLink(uint32_t link);

    /// Prepare an idle or paused path for its current links.
    void PreparePath(uint32_t id);

    /// Record that a path begins or ends to send.
    void MarkDirty(uint32_t id, uint64_t now);

    /// Plan the event at which the first message, the window or the pause of a path ends.
    void PlanPath(uint32_t id, uint64_t at);

    /// @return the time that a link needs to carry an amount [ps]
    int64_t GetBusyPs(uint32_t link, uint64_t wireBytes) const;

    FlowStreams m_paths;
    ClassSolver m_solver;
    FlowHops m_hops;
    RingBuffer<uint32_t> m_delayed; //!< messages that are sent later, by time

    void LimitPath(uint32_t id, double limitBps);
    void SendDelayed(uint64_t now);
    void Begin(uint32_t message, uint64_t now);
    void Estimate(uint32_t id, uint64_t now);
    void OnPathDue(uint32_t id, uint64_t now);
    void Dispatch(uint32_t id, uint64_t now);
    void EndWindow(uint32_t id, uint64_t now);

    /// @return the subject of an event of the first message that travels hop by hop
    uint32_t GetFirstHopSubject() const
    {
        return static_cast<uint32_t>(m_paths.GetCount());
    }

    bool TakeHops(uint32_t id, uint64_t now);
    bool YieldsToStreams(uint32_t path) const;
    void Follow(uint32_t id);
    void FollowHops(const FlowStreams::Message& message, uint64_t arrivesAt, uint64_t afterPs);
    void OnHop(uint32_t id, uint64_t now);
    void EnterLink(uint32_t id, uint64_t now);
    void PassLink(uint32_t id, uint64_t now);
    void StallStreams(uint32_t link, uint32_t trafficClass, uint64_t busyPs, uint64_t now);
    uint64_t GetEmptyAt(uint32_t path) const;
    void Deliver(uint32_t id);
    void FinishHops(uint32_t id, uint64_t now);

    std::vector<uint32_t> m_solverLinks; //!< per link: its number in the solver
    /// per path: number in the solver of the link that limits it to its window, or NONE; empty
    /// until a path has one
    std::vector<uint32_t> m_windowLinks;
    std::vector<uint32_t> m_solverPath;             //!< buffer of LimitPath
    std::vector<uint32_t> m_dirty;                  //!< paths that begin or end to send
    std::unique_ptr<FlowLinkControl> m_linkControl; //!< null if the links do not change
};

} // namespace cosim

#endif // COSIM_FLOW_FABRIC_H
