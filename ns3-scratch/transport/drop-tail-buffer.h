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
    Verdict Enter(uint32_t number, const Passage& packet, bool isDroppable) override;
    bool Leave(uint32_t number, const Passage& packet) override;
    bool MarksAtDequeue() const final;

  protected:
    /// A port and what is in its queue.
    struct alignas(64) Port
    {
        EgressQueue* queue; //!< not owned
        bool isUp{true};
        uint64_t limitBytes{UINT64_MAX};     //!< UINT64_MAX: none
        uint64_t thresholdBytes{UINT64_MAX}; //!< UINT64_MAX: none
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
};

} // namespace cosim

#endif // COSIM_DROP_TAIL_BUFFER_H
