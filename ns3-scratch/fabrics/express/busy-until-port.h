/*
 * SPDX-License-Identifier: GPL-2.0-only
 */

#ifndef COSIM_BUSY_UNTIL_PORT_H
#define COSIM_BUSY_UNTIL_PORT_H

#include "clock/causal-simulator.h"
#include "fabrics/express/port.h"
#include "support/ring-buffer.h"

#include <cstddef>
#include <cstdint>
#include <memory>
#include <vector>

namespace cosim
{

/**
 * A port that always knows when its link becomes free, because nothing holds a packet up.
 *
 * A packet that enters needs to know only the time until which the link is busy, so it costs one
 * event: its arrival at the other end. Packets arrive in the order in which they entered, so the
 * port keeps them in a ring buffer and has only the event of the first one pending. A transmission
 * counts as complete at the point at which PointToPointNetDevice would have run the event that
 * completes it.
 */
class alignas(64) BusyUntilPort final : public Port, private CausalEvent
{
  public:
    /// @param setup what the port works with
    explicit BusyUntilPort(const PortSetup& setup);

    BusyUntilPort(const BusyUntilPort&) = delete;
    BusyUntilPort& operator=(const BusyUntilPort&) = delete;

    /// @return a port
    static std::unique_ptr<Port> Make(const PortSetup& setup)
    {
        return std::make_unique<BusyUntilPort>(setup);
    }

    // Port
    void Set(TransmissionTimes& times, const LinkState& state) override;
    void Withdraw(std::vector<Packet*>& packets) override;

    int64_t GetLastArrivalPs() const override
    {
        return m_packets.IsEmpty() ? -1 : m_packets.Back().arrivalPs;
    }

    LinkCounters GetCounters() override;
    uint64_t TakeLongestQueue() override;

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
        bool marksAtDequeue; //!< as m_buffer says; here, where an arrival reads it anyway
    };

    // Port
    bool Take(Packet* packet, bool isDroppable) override;

    // EgressQueue
    void Update() override;

    // CausalEvent
    void Happen() override;

    uint64_t GetMaxQueueBytes() const;
    void ScheduleArrival(const EventOrigin& origin);
    bool IsComplete(int64_t endPs, const Start& start, int64_t nowPs) const;
    Start GetStart(std::size_t index) const;

    // What an arrival needs, in the first two cache lines:
    CausalSimulator& m_clock;
    Receiver& m_receiver;
    const int64_t m_latencyPs;
    Start m_front{-1, -1};             //!< the transmission of the packet that arrives next
    RingBuffer<Transit> m_packets;     //!< the first one has an event pending
    RingBuffer<EventOrigin> m_origins; //!< of the arrivals of all packets that were not queued

    // What only a packet that enters needs:
    int64_t m_busyUntilPs{0};
    Start m_last{-1, -1};                //!< the last transmission
    std::size_t m_waiting{0};            //!< number of packets in the queue, for the buffer
    uint64_t m_waitingBytes{0};          //!< their bytes
    int64_t m_longestWaitPs{0};          //!< longest time from the entry of a packet to its end
    TransmissionTimes* m_times{nullptr}; //!< not owned
    PortBuffer m_buffer;
    LinkCounters m_counters;
};

} // namespace cosim

#endif // COSIM_BUSY_UNTIL_PORT_H
