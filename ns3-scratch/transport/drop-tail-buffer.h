/*
 * SPDX-License-Identifier: GPL-2.0-only
 */

#ifndef COSIM_DROP_TAIL_BUFFER_H
#define COSIM_DROP_TAIL_BUFFER_H

#include "transport/switch-buffer.h"

#include <cstdint>
#include <vector>

namespace cosim
{

/// How packets are counted and marked at a switch.
struct BufferRules
{
    uint32_t slotBytes{0}; //!< room that a packet of any size takes; 0: as many bytes as it has
    bool marksAtDequeue{false}; //!< true: a queue is compared with its threshold when a packet
                                //!< leaves, without it; false: when one arrives
    uint32_t chancePpb{0};      //!< greatest chance of a mark between the two thresholds [10^-9]
    uint32_t node{0};           //!< the node of the buffer
    uint32_t seed{0};           //!< of the choice of the packets that are marked there
};

/**
 * Where a queue marks packets: none up to a length, all from another one on, and some in between.
 *
 * Source: random early detection as in Y. Zhu et al., "Congestion control for large-scale RDMA
 * deployments", SIGCOMM 2015, section 3.1.
 */
class EcnRamp
{
  public:
    /**
     * @param rules the chance and the seed; must outlive this object
     * @param port a number that makes the choice differ from those of others
     */
    EcnRamp(const BufferRules& rules, uint32_t port)
        : m_rules(&rules),
          m_chancePpb(rules.chancePpb),
          m_port(port),
          m_marksAtDequeue(rules.marksAtDequeue)
    {
    }

    /// @param link the link with the two lengths, unless others are set
    void Set(const LinkState& link);

    /// @param marking the two lengths, which stay, and the rest
    void Set(const EcnMarking& marking);

    /// @return true if a packet can be marked when it leaves, false if when it arrives
    bool MarksAtDequeue() const
    {
        return m_marksAtDequeue;
    }

    /// @return false if no packet is marked
    bool CanMark() const
    {
        return m_beginBytes != UINT64_MAX;
    }

    /// @return true if a packet is marked that finds a queue of so many bytes
    bool IsMarked(uint64_t queuedBytes);

  private:
    const BufferRules* m_rules;
    uint64_t m_beginBytes{UINT64_MAX}; //!< UINT64_MAX: none is marked
    uint64_t m_fullBytes{UINT64_MAX};
    uint64_t m_asked{0}; //!< number of packets for which chance decided
    uint32_t m_chancePpb;
    uint32_t m_port;
    bool m_marksAtDequeue;
    bool m_isSet{false}; //!< true if the lengths are not those of the link
};

/// Numbers the ports of a buffer for their EcnRamps. The traffic classes of a port, which are added
/// one after another, have the same number.
class PortNumbers
{
  public:
    /// @return the number of the port with an egress queue, which is added
    uint32_t Add(const EgressQueue& queue)
    {
        if (m_last != &queue)
        {
            m_last = &queue;
            ++m_count;
        }
        return m_count - 1;
    }

  private:
    const EgressQueue* m_last{nullptr}; //!< that was added last; not owned
    uint32_t m_count{0};
};

/**
 * A buffer in which each port has room of its own, and an ECN threshold.
 *
 * A port drops a packet that does not fit into its link's buffer, and every packet while the link
 * is down. It marks a packet if the queue has reached the link's ECN threshold. When packets
 * arrive, this is the marking by instantaneous queue length that DCTCP needs from a switch (RFC
 * 8257, 3.1). When they leave, the sender hears of the queue earlier, by the time that packets
 * wait.
 *
 * Source of marking at dequeue: H. Wu et al., "Tuning ECN for data center networks", CoNEXT 2012,
 * section 4.2.
 */
class DropTailBuffer : public SwitchBuffer
{
  public:
    /// @param rules how packets are counted and marked
    explicit DropTailBuffer(const BufferRules& rules);

    // SwitchBuffer
    uint32_t AddPort(EgressQueue& queue) final;
    bool SetLink(uint32_t number, const LinkState& link) final;
    void SetMarking(uint32_t number, const EcnMarking& marking) final;
    Verdict Enter(uint32_t number, const Passage& packet, bool isDroppable) override;
    bool Leave(uint32_t number, const Passage& packet) override;
    bool MarksAtDequeue() const final;

  protected:
    /// A port and what is in its queue.
    struct alignas(64) Port
    {
        EgressQueue* queue; //!< not owned
        EcnRamp ramp;
        bool isUp{true};
        uint64_t limitBytes{UINT64_MAX}; //!< UINT64_MAX: none
        uint64_t queuedBytes{0};
        uint64_t takenBytes{0}; //!< room that the packets in the queue take

        bool IsLimited() const
        {
            return limitBytes != UINT64_MAX;
        }
    };

    /// Put a packet into the queue of a port. @return true if it is marked
    bool Take(Port& port, const Passage& packet);

    /// @return a port
    Port& GetPort(uint32_t port)
    {
        return m_ports[port];
    }

  private:
    /// @return the room that a packet takes [bytes]
    uint32_t GetRoom(uint32_t bytes) const
    {
        return m_rules.slotBytes == 0 ? bytes : m_rules.slotBytes;
    }

    BufferRules m_rules;
    std::vector<Port> m_ports;
    PortNumbers m_numbers;
};

} // namespace cosim

#endif // COSIM_DROP_TAIL_BUFFER_H
