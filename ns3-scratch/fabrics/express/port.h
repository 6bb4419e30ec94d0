/*
 * SPDX-License-Identifier: GPL-2.0-only
 */

#ifndef COSIM_PORT_H
#define COSIM_PORT_H

#include "clock/causal-simulator.h"
#include "network/link-summary.h"
#include "network/live-links.h"
#include "transport/packet.h"
#include "transport/switch-buffer.h"

#include "ns3/data-rate.h"

#include <cstdint>
#include <memory>
#include <span>
#include <utility>
#include <vector>

namespace cosim
{

/// Serialization delays of packets on links of one rate, computed as in PointToPointNetDevice.
class TransmissionTimes
{
  public:
    /**
     * @param rateBps rate of the links [bit/s]
     * @param maxBytes size of the largest packet [bytes]
     * @param unitPs unit to which they are rounded down [ps]
     */
    TransmissionTimes(uint64_t rateBps, uint32_t maxBytes, uint32_t unitPs = 1)
        : m_rate(rateBps),
          m_unitPs(unitPs),
          m_times(maxBytes + 1)
    {
    }

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
            time = time / m_unitPs * m_unitPs;
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
    const int64_t m_unitPs;
    std::vector<int64_t> m_times; //!< indexed by size; 0: not computed yet
};

/// The place of a port in the buffer of its node. A packet passes it when it enters and leaves the
/// queue.
class PortBuffer
{
  public:
    /**
     * @param node buffer of the node; must outlive this object
     * @param queue the queue of the port
     */
    PortBuffer(SwitchBuffer& node, EgressQueue& queue)
        : m_node(node),
          m_port(node.AddPort(queue))
    {
    }

    /// @param marking how packets are marked, in place of what the link says
    void SetMarking(const EcnMarking& marking)
    {
        m_node.SetMarking(m_port, marking);
    }

    /// @param link the present state of the port's link, whose queue is empty
    void SetLink(const LinkState& link)
    {
        m_guard = m_node.SetLink(m_port, link) ? &m_node : nullptr;
        m_marksAtDequeue = m_guard != nullptr && m_guard->MarksAtDequeue();
    }

    /// @return false if every packet enters unmarked
    bool IsGuarded() const
    {
        return m_guard != nullptr;
    }

    /// @return true if a packet can be marked when it leaves
    bool MarksAtDequeue() const
    {
        return m_marksAtDequeue;
    }

    /**
     * Let a packet enter, and count if it is dropped or marked.
     *
     * @param packet the packet
     * @param passage the packet as the buffer sees it
     * @param isDroppable as in SwitchBuffer::Enter
     * @param counters the counters of the link
     * @return false if the buffer drops the packet
     */
    bool Enter(Packet& packet, const Passage& passage, bool isDroppable, LinkCounters& counters)
    {
        if (m_guard == nullptr)
        {
            return true;
        }
        const SwitchBuffer::Verdict verdict = m_guard->Enter(m_port, passage, isDroppable);
        if (verdict == SwitchBuffer::Verdict::DROP)
        {
            ++counters.drops;
            return false;
        }
        if (verdict == SwitchBuffer::Verdict::MARK)
        {
            Mark(packet, counters);
        }
        return true;
    }

    /// Let a packet leave, as its transmission begins, and count if it is marked. The parameters
    /// are those of Enter.
    void Leave(Packet& packet, const Passage& passage, LinkCounters& counters)
    {
        if (m_guard != nullptr && m_guard->Leave(m_port, passage))
        {
            Mark(packet, counters);
        }
    }

    /// Take a packet out that is not sent.
    void Withdraw(const Passage& passage)
    {
        if (m_guard != nullptr)
        {
            m_guard->Leave(m_port, passage);
        }
    }

  private:
    static void Mark(Packet& packet, LinkCounters& counters)
    {
        packet.ce = true;
        ++counters.marks;
    }

    SwitchBuffer* m_guard{nullptr}; //!< m_node, or null if every packet enters
    SwitchBuffer& m_node;
    const uint32_t m_port; //!< number in m_node
    bool m_marksAtDequeue{false};
};

/**
 * A directed link with its egress queue, at the source of the link. The SwitchBuffer of the source
 * decides which packets enter the queue.
 *
 * As in PointToPointNetDevice, the packet in transmission is not in the queue. So is the order of
 * events of the same picosecond: a packet's arrival is scheduled when its transmission starts.
 */
class Port : public EgressQueue
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
     * Set the properties that can change. Call it before the first packet, or while the queue is
     * empty.
     *
     * @param times serialization delays, which links of the same rate share; must outlive the port
     * @param state present state of the link
     */
    virtual void Set(TransmissionTimes& times, const LinkState& state) = 0;

    /**
     * Add a packet to the egress queue, if the buffer admits it.
     *
     * @param packet the packet
     * @return true if the packet was admitted, false if the buffer drops it
     */
    bool Offer(Packet* packet)
    {
        return Take(packet, true);
    }

    /**
     * Remove the packets whose transmission has not begun. All other packets still arrive.
     *
     * @param packets receives the removed packets at its end, in the order in which they would have
     * been sent
     */
    virtual void Withdraw(std::vector<Packet*>& packets) = 0;

    /**
     * Add a packet that was removed by Withdraw to the egress queue again. It is never dropped.
     *
     * @param packet the packet
     */
    void Readmit(Packet* packet)
    {
        Take(packet, false);
    }

    /// @return the arrival of the last packet whose transmission has begun, or -1 [ps]
    virtual int64_t GetLastArrivalPs() const = 0;

    /// @return the counters up to now
    virtual LinkCounters GetCounters() = 0;

    /// @return the longest queue since the last call, which no longer counts [bytes]
    virtual uint64_t TakeLongestQueue() = 0;

  protected:
    /// @return a packet as the buffer of the port sees it
    static Passage MakePassage(const Packet& packet)
    {
        return {packet.wireBytes,
                packet.hop > 0 ? packet.path[packet.hop - 1U] : Passage::NO_LINK,
                packet.trafficClass,
                packet.ect};
    }

  private:
    /// See Offer and Readmit.
    virtual bool Take(Packet* packet, bool isDroppable) = 0;
};

/// What the ports of a fabric have in common, and what one of them needs.
struct PortSetup
{
    CausalSimulator& clock;   //!< must outlive the port
    const LinkState& state;   //!< its link at the start
    SwitchBuffer& buffer;     //!< buffer of its source; must outlive the port
    Port::Receiver& receiver; //!< receives the packets; must outlive the port
    bool hasClasses{false};   //!< whether each traffic class has a place of its own in the buffer
    std::span<const std::pair<uint32_t, EcnMarking>> markings{}; //!< of traffic classes
};

/// Makes the ports of a fabric.
using PortMaker = std::function<std::unique_ptr<Port>(const PortSetup&)>;

} // namespace cosim

#endif // COSIM_PORT_H
