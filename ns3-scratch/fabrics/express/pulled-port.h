/*
 * SPDX-License-Identifier: GPL-2.0-only
 */

#ifndef COSIM_PULLED_PORT_H
#define COSIM_PULLED_PORT_H

#include "clock/causal-simulator.h"
#include "fabrics/express/port.h"
#include "support/ring-buffer.h"

#include <array>
#include <cstddef>
#include <cstdint>
#include <functional>
#include <memory>
#include <utility>
#include <vector>

namespace cosim
{

/// Hands packets of a traffic class to a port that has no others of it to send, as the network
/// interface of a rank does.
class PacketSource
{
  public:
    virtual ~PacketSource() = default;

    /**
     * @return the packet to send now, or null; then the source wakes the port when it has one
     */
    virtual Packet* Pull() = 0;
};

/**
 * A port with a queue for each traffic class. When its transmitter is free, it takes a packet of
 * the highest class that is not paused and has one: the first in the queue, or what its source has.
 *
 * A packet costs two events: its transmission is complete, and it arrives. As long as nothing is
 * paused, and all packets are offered and have the same class, it equals BusyUntilPort packet for
 * packet. Events of one picosecond that were scheduled in the same picosecond by events that were,
 * too, can have another order.
 */
class PulledPort final : public Port
{
  public:
    static constexpr std::size_t CLASSES = 8;

    /// @param setup what the port works with
    explicit PulledPort(const PortSetup& setup);

    PulledPort(const PulledPort&) = delete;
    PulledPort& operator=(const PulledPort&) = delete;

    /// @return a port
    static std::unique_ptr<Port> Make(const PortSetup& setup)
    {
        return std::make_unique<PulledPort>(setup);
    }

    /**
     * @param source asked for packets when the queue of a class has none; must outlive the port
     * @param trafficClass the class
     */
    void Attach(PacketSource& source, uint8_t trafficClass);

    /// @return true if a transmission is under way
    bool IsSending() const
    {
        return m_isSending;
    }

    /// Ask the sources for a packet, if the transmitter is free.
    void Wake();

    /// Is notified when a class is paused, or resumes.
    using PauseHook = std::function<void(uint32_t trafficClass, uint32_t hops, bool isPaused)>;

    /// @param hook called after each change
    void SetPauseHook(PauseHook hook)
    {
        m_onPause = std::move(hook);
    }

    /**
     * Send no packet of a class until Resume. A transmission that has begun is completed.
     *
     * @param trafficClass the class
     * @param hops how many pauses in a row have led to this one, with it
     */
    void Pause(uint32_t trafficClass, uint32_t hops = 1);

    /// Send packets of a class again.
    void Resume(uint32_t trafficClass);

    /// @return true if a class is paused
    bool IsPaused(uint32_t trafficClass) const
    {
        return (m_paused >> trafficClass & 1) != 0;
    }

    /// A frame that pauses or resumes a class of a port at the other end of the link.
    struct PauseFrame
    {
        PulledPort* port; //!< the port; must outlive the frame
        uint32_t bytes;   //!< size on the wire
        uint8_t trafficClass;
        bool isPaused;
        uint32_t hops; //!< as in Pause
    };

    /// Send a frame before all packets. What is being sent is completed.
    void Send(const PauseFrame& frame);

    // Port
    void Set(TransmissionTimes& times, const LinkState& state) override;
    void Withdraw(std::vector<Packet*>& packets) override;
    int64_t GetLastArrivalPs() const override;
    LinkCounters GetCounters() override;
    uint64_t TakeLongestQueue() override;

  private:
    /// @return the place in the buffer of the node that a packet takes
    PortBuffer& GetBuffer(const Packet& packet)
    {
        return m_buffers[m_buffers.size() == 1 ? 0 : packet.trafficClass];
    }

    /// A packet in transmission or on its way.
    struct Transit
    {
        int64_t arrivalPs;
        Packet* packet; //!< null: a pause frame
        PauseFrame frame{};
    };

    /// The transmission that has begun last is complete.
    class Completion final : public CausalEvent
    {
      public:
        explicit Completion(PulledPort& port)
            : m_port(port)
        {
        }

        void Happen() override
        {
            m_port.m_isSending = false;
            m_port.SendNext();
        }

      private:
        PulledPort& m_port;
    };

    /// The packet that began its transmission first arrives.
    class Arrival final : public CausalEvent
    {
      public:
        explicit Arrival(PulledPort& port)
            : m_port(port)
        {
        }

        void Happen() override
        {
            m_port.Arrive();
        }

      private:
        PulledPort& m_port;
    };

    // Port
    bool Take(Packet* packet, bool isDroppable) override;

    // EgressQueue
    void Update() override
    { // the buffer hears of each packet when it leaves
    }

    Packet* TakeNext();
    void Arrive();
    void Transmit(uint32_t bytes, Packet* packet, const PauseFrame& frame);
    void SendNext();

    CausalSimulator& m_clock;
    Receiver& m_receiver;
    const int64_t m_latencyPs;
    std::vector<PortBuffer> m_buffers;              //!< one for all packets, or one for each class
    TransmissionTimes* m_times{nullptr};            //!< not owned
    std::array<PacketSource*, CLASSES> m_sources{}; //!< by traffic class; not owned
    uint32_t m_pulled{0};                           //!< classes with a source, one bit for each
    uint32_t m_waiting{0}; //!< classes with packets in their queue, one bit for each
    Completion m_completion{*this};
    Arrival m_arrival{*this};
    std::array<RingBuffer<Packet*>, CLASSES> m_queues;
    RingBuffer<Transit> m_transits;
    RingBuffer<PauseFrame> m_frames; //!< that wait for the transmitter
    PauseHook m_onPause;
    int64_t m_pausedPs{0};      //!< since when a class is paused
    uint32_t m_paused{0};       //!< one bit for each class
    uint64_t m_waitingBytes{0}; //!< in the queues
    int64_t m_waitingPs{0};     //!< time that their transmission takes
    int64_t m_endPs{0};         //!< end of the last transmission that has begun
    uint64_t m_rateBps{0};
    uint32_t m_sendingBytes{0}; //!< size of what is being sent
    bool m_isSending{false};
    bool m_isUp{true};
    LinkCounters m_counters;
};

} // namespace cosim

#endif // COSIM_PULLED_PORT_H
