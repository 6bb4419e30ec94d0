/*
 * SPDX-License-Identifier: GPL-2.0-only
 */

#ifndef COSIM_EXPRESS_LINK_H
#define COSIM_EXPRESS_LINK_H

#include "clock/causal-simulator.h"
#include "network/link-summary.h"
#include "support/ring-buffer.h"
#include "support/state-digest.h"
#include "transport/packet.h"
#include "transport/switch-buffer.h"

#include "ns3/data-rate.h"

#include <cstddef>
#include <cstdint>
#include <functional>
#include <memory>
#include <vector>

namespace cosim
{

/**
 * Serialization delays of packets on links of one rate, computed as in PointToPointNetDevice.
 */
class TransmissionTimes
{
  public:
    /**
     * @param maxBytes size of the largest packet [bytes]
     * @param maxBytes the largest packet [bytes]
     */
    TransmissionTimes(uint64_t rateBps, uint32_t maxBytes);

    /**
     * @param bytes packet size, at most maxBytes [bytes]
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

    /// @return the bytes that are sent in some time, rounded up; see GetBytesWithin
    uint64_t GetBytes(int64_t timePs) const
    {
        return GetBytesWithin(timePs, m_rate.GetBitRate());
    }

  private:
    ns3::DataRate m_rate;
    std::vector<int64_t> m_times; //!< indexed by size; 0: not computed yet
};

/**
 * A directed link with a first-in first-out egress queue at its source. The SwitchBuffer of the
 * source decides which packets enter the queue.
 *
 * As in PointToPointNetDevice, the packet in transmission is not in the queue. A packet that enters
 * needs to know only when the link becomes free (its busy-until time), so it costs one event: its
 * arrival at the other end. Packets arrive in the order in which they entered, so the link keeps
 * them in a ring buffer and has only the event of the first one pending.
 *
 * The order of events at the same picosecond equals that of PointToPointNetDevice, which schedules
 * the arrival when the transmission starts. Likewise, a transmission counts as complete at the
 * point at which PointToPointNetDevice would have run the event that completes it.
 */
class alignas(64) ExpressLink final : public EgressQueue, private CausalEvent
{
  public:
    /// Receives the packets that a link delivers.
    class Receiver
    {
      public:
        virtual ~Receiver() = default;

        /// @param packet a packet that has reached the target of the link
        virtual void OnLinkArrival(Packet* packet) = 0;
    };

    /**
     * @param clock its clock; must outlive the link
     * @param latencyPs propagation delay [ps]
     * @param buffer buffer of its source; must outlive the link
     * @param receiver receives the packets; must outlive the link
     */
    ExpressLink(CausalSimulator& clock,
                uint64_t latencyPs,
                SwitchBuffer& buffer,
                Receiver& receiver);

    ExpressLink(const ExpressLink&) = delete;
    ExpressLink& operator=(const ExpressLink&) = delete;

    /**
     * Set the properties that can change. Call it before the first packet, or while the queue is
     * empty.
     *
     * @param times serialization delays, which links of the same rate share; must outlive the link
     * @param state present state of the link
     */
    void Set(TransmissionTimes& times, const LinkState& state);

    /**
     * Add a packet to the egress queue, if the buffer admits it.
     *
     * @param packet the packet
     * @return true if the packet was admitted, false if the buffer drops it
     */
    bool Enqueue(Packet* packet);

    /**
     * Remove the packets whose transmission has not begun. All other packets still arrive.
     *
     * @param packets receives the removed packets at its end, in the order in which they entered
     */
    void Withdraw(std::vector<Packet*>& packets);

    /**
     * Add a packet that was removed by Withdraw to the egress queue again. It is never dropped.
     *
     * @param packet the packet
     */
    void Readmit(Packet* packet);

    /// @return the arrival of the last packet on the link, or -1 if there is none [ps]
    int64_t GetLastArrivalPs() const
    {
        return m_packets.IsEmpty() ? -1 : m_packets.Back().arrivalPs;
    }

    /// @return the number of packets in the queue, in transmission and on their way
    std::size_t GetPackets() const
    {
        return m_packets.GetSize();
    }

    /**
     * Add the state of the link, relative to the current time.
     *
     * @param digest receives the state
     * @param number a number that the simulator has just given; others count relative to it
     * @param add adds what a packet is
     */
    void AddState(StateDigest& digest,
                  int64_t number,
                  const std::function<void(const Packet&)>& add) const;

    /// @return the counters; the busy time counts up to now
    LinkCounters GetCounters() const;

    /**
     * Count again what was counted since an earlier time. Call it only at rest.
     *
     * @param from the counters at the earlier time
     * @param times number of times
     */
    void Repeat(const LinkCounters& from, uint64_t times);

  private:
    /// The start of a transmission.
    struct Start
    {
        int64_t timePs;
        int64_t causePs; //!< time at which the event that started it was scheduled
    };

    /// A packet in the queue, in transmission or on its way.
    struct Transit
    {
        int64_t arrivalPs;
        Packet* packet;
        Passage passage;
        bool isQueued; //!< true if it entered the queue: its transmission follows the one before it
        bool marksAtDeparture; //!< true if the buffer must hear that it has left before it arrives
    };

    // EgressQueue
    void Update() override;

    // CausalEvent
    void Happen() override;

    bool Take(Packet* packet, bool isDroppable);
    void Leave(Packet* packet, Passage passage);
    void Mark(Packet* packet);
    uint64_t GetMaxQueueBytes() const;
    void ScheduleArrival(const EventOrigin& origin);
    bool IsComplete(int64_t endPs, const Start& start, int64_t nowPs) const;
    Start GetStart(std::size_t index) const;

    // What an arrival needs, in the first two cache lines:
    CausalSimulator& m_clock;
    Receiver& m_receiver;
    const int64_t m_latencyPs;
    int64_t m_frontNumber{0};          //!< of the origin of the event that is pending
    Start m_front{-1, -1};             //!< the transmission of the packet that arrives next
    RingBuffer<Transit> m_packets;     //!< the first one has an event pending
    RingBuffer<EventOrigin> m_origins; //!< of the arrivals of all packets that were not queued

    // What only a packet that enters needs:
    int64_t m_busyUntilPs{0};
    Start m_last{-1, -1};                //!< the last transmission
    std::size_t m_waiting{0};            //!< number of packets in the queue, for the buffer
    uint64_t m_waitingBytes{0};          //!< their bytes
    int64_t m_longestWaitPs{0};          //!< longest time from the entry of a packet to its end
    SwitchBuffer* m_buffer{nullptr};     //!< null: every packet enters
    TransmissionTimes* m_times{nullptr}; //!< not owned
    SwitchBuffer& m_nodeBuffer;
    const uint32_t m_port; //!< number in m_nodeBuffer
    bool m_marksAtDeparture{false};
    LinkCounters m_counters;
};

} // namespace cosim

#endif // COSIM_EXPRESS_LINK_H
