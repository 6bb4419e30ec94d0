/*
 * SPDX-License-Identifier: GPL-2.0-only
 */

#ifndef COSIM_EXPRESS_LINK_H
#define COSIM_EXPRESS_LINK_H

#include "clock/causal-scheduler.h"
#include "network/link-summary.h"
#include "support/ring-buffer.h"
#include "transport/queue-policy.h"
#include "transport/segment.h"

#include "ns3/data-rate.h"
#include "ns3/event-impl.h"
#include "ns3/ptr.h"

#include <cstdint>
#include <memory>
#include <vector>

namespace cosim
{

/**
 * How long a packet of each size takes on a link of one rate, as PointToPointNetDevice computes it.
 */
class TransmissionTimes
{
  public:
    /**
     * @param rateBps the link's rate [bit/s]
     * @param maxBytes the largest packet [bytes]
     */
    TransmissionTimes(uint64_t rateBps, uint32_t maxBytes);

    /**
     * @param bytes the packet's size, at most maxBytes
     * @return the serialization delay [ps]
     */
    int64_t Get(uint32_t bytes)
    {
        int64_t& time = m_times[bytes];
        if (time == 0)
        {
            time = m_rate.CalculateBytesTxTime(bytes).GetTimeStep();
        }
        return time;
    }

  private:
    ns3::DataRate m_rate;
    std::vector<int64_t> m_times; //!< by size; 0: not yet computed
};

/**
 * A directed link with the egress queue at its source: output queueing, first in first out. A
 * QueuePolicy decides which packets enter the queue.
 *
 * The packet that is being sent is not in the queue, as in PointToPointNetDevice. When the link is
 * free next (its busy-until time) is all that a packet needs to know on entering, so it costs one
 * event: its arrival at the other end. Packets arrive in the order in which they entered, so the
 * link keeps them in a ring and has one event pending, for the first.
 *
 * Among events of one picosecond, an arrival has the place that it has in PointToPointNetDevice,
 * which schedules it when the transmission starts; and a transmission is complete when the event
 * that PointToPointNetDevice schedules for that has had its turn.
 */
class ExpressLink : public EgressQueue
{
  public:
    /// Where the packets arrive.
    class Receiver
    {
      public:
        virtual ~Receiver() = default;

        /// @param segment the packet that reached the link's target
        virtual void OnLinkArrival(Segment* segment) = 0;
    };

    /**
     * @param latencyPs the propagation delay [ps]
     * @param receiver where packets arrive; outlives the link
     */
    ExpressLink(uint64_t latencyPs, Receiver& receiver);
    ~ExpressLink() override;

    ExpressLink(const ExpressLink&) = delete;
    ExpressLink& operator=(const ExpressLink&) = delete;

    /**
     * Set what can change, before the first packet or while nothing waits in the queue.
     *
     * @param times serialization delays, shared by the links of one rate
     * @param policy of the queue; null: every packet enters unmarked
     */
    void Set(std::shared_ptr<TransmissionTimes> times, std::unique_ptr<QueuePolicy> policy);

    /**
     * A packet comes to the egress queue.
     *
     * @param segment the packet
     * @return whether it was taken; if not, the policy drops it
     */
    bool Enqueue(Segment* segment);

    /**
     * Take back the packets that have not begun to be sent; the others arrive.
     *
     * @param packets they are appended, in the order in which they entered
     */
    void Withdraw(std::vector<Segment*>& packets);

    /**
     * A packet that was withdrawn comes to the egress queue again. It is not dropped.
     *
     * @param segment the packet
     */
    void Readmit(Segment* segment);

    /// @return the counters; busy time up to now
    LinkCounters GetCounters() const;

  private:
    class ArrivalEvent;

    /// The start of a transmission.
    struct Start
    {
        int64_t timePs;
        int64_t causePs; //!< when the event that started it was scheduled
    };

    /// A packet in the queue: it leaves the queue when the transmission before it is complete.
    struct Queued
    {
        int64_t startPs;
        Start previous; //!< the transmission before it
        uint32_t bytes;
    };

    /// A packet on the link.
    struct InFlight
    {
        int64_t arrivalPs;
        EventOrigin origin; //!< of its arrival; number 0: follows the arrival before it
        Segment* segment;
    };

    // EgressQueue
    void Update() override;

    bool Take(Segment* segment, bool isDroppable);
    void Arrive();
    void ScheduleArrival(int64_t nowPs);
    bool IsComplete(int64_t endPs, const Start& start, int64_t nowPs) const;

    const int64_t m_latencyPs;
    Receiver& m_receiver;
    std::shared_ptr<TransmissionTimes> m_times;
    std::unique_ptr<QueuePolicy> m_policy; //!< null: every packet enters
    CausalScheduler& m_scheduler;
    ns3::Ptr<ArrivalEvent> m_event; //!< scheduled again and again
    RingBuffer<Queued> m_queue;     //!< kept only for the policy
    RingBuffer<InFlight> m_inFlight;
    int64_t m_busyUntilPs{0};
    Start m_last{-1, -1}; //!< of the last transmission
    LinkCounters m_counters;
};

} // namespace cosim

#endif // COSIM_EXPRESS_LINK_H
