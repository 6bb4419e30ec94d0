/*
 * SPDX-License-Identifier: GPL-2.0-only
 */

#ifndef COSIM_EXPRESS_LINK_H
#define COSIM_EXPRESS_LINK_H

#include "link-summary.h"
#include "ring-buffer.h"
#include "segment.h"

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
 * A directed link with the egress queue at its source: output queueing, first in first out, tail
 * drop.
 *
 * The packet that is being sent is not in the queue, as in PointToPointNetDevice. When the link is
 * free next (its busy-until time) is all that a packet needs to know on entering, so it costs one
 * event: its arrival at the other end. Packets arrive in the order in which they entered, so the
 * link keeps them in a ring and has one event pending, for the first.
 */
class ExpressLink
{
  public:
    /// Where the packets arrive.
    class Receiver
    {
      public:
        virtual ~Receiver() = default;

        /**
         * @param segment the packet that reached the link's target
         * @param startPs when its transmission started
         */
        virtual void OnLinkArrival(Segment* segment, int64_t startPs) = 0;
    };

    /// The link's parameters.
    struct Parameters
    {
        int64_t latencyPs;
        uint64_t bufferBytes;       //!< egress queue; 0: unlimited
        uint64_t ecnThresholdBytes; //!< queue length from which CE is set; 0: never
    };

    /**
     * @param parameters latency and queue
     * @param times serialization delays, shared by the links of one rate
     * @param receiver where packets arrive; not owned
     */
    ExpressLink(const Parameters& parameters,
                std::shared_ptr<TransmissionTimes> times,
                Receiver* receiver);
    ~ExpressLink();

    ExpressLink(const ExpressLink&) = delete;
    ExpressLink& operator=(const ExpressLink&) = delete;

    /**
     * A packet enters the egress queue.
     *
     * @param segment the packet
     * @param causePs when the event that brings it here was caused: for a packet from another
     * link, when its transmission there started. It decides whether a packet that starts its
     * transmission at this very instant has left the queue already: what was caused earlier
     * happens earlier, as in ns-3's event queue
     * @return whether it was taken; if not, it would have overrun the queue and is dropped
     */
    bool Enqueue(Segment* segment, int64_t causePs);

    /// @return the counters; busy time up to now
    LinkCounters GetCounters() const;

  private:
    class ArrivalEvent;

    /// A packet in the queue: it leaves the queue when its transmission starts.
    struct Queued
    {
        int64_t startPs;
        int64_t causePs; //!< when the transmission before it started
        uint32_t bytes;
    };

    /// A packet on the link.
    struct InFlight
    {
        int64_t startPs;
        int64_t arrivalPs;
        Segment* segment;
    };

    void Arrive();
    void ScheduleArrival(int64_t delayPs);
    void LeaveQueue(int64_t nowPs, int64_t causePs);

    Parameters m_parameters;
    std::shared_ptr<TransmissionTimes> m_times;
    Receiver* m_receiver;
    ns3::Ptr<ArrivalEvent> m_event; //!< scheduled again and again
    RingBuffer<Queued> m_queue;     //!< kept only where its length matters
    RingBuffer<InFlight> m_inFlight;
    uint64_t m_queuedBytes{0};
    int64_t m_busyUntilPs{0};
    int64_t m_lastStartPs{0}; //!< when the last transmission starts
    LinkCounters m_counters;
};

} // namespace cosim

#endif // COSIM_EXPRESS_LINK_H
