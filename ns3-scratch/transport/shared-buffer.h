/*
 * SPDX-License-Identifier: GPL-2.0-only
 */

#ifndef COSIM_SHARED_BUFFER_H
#define COSIM_SHARED_BUFFER_H

#include "transport/drop-tail-buffer.h"

#include <cstdint>
#include <vector>

namespace cosim
{

/**
 * @param queuedBytes length of a queue [bytes]
 * @param bytes size of a packet [bytes]
 * @param freeBytes free memory [bytes]
 * @param alphaPpm limit of a queue over the free memory, in parts of 10^6
 * @return true if the packet fits into the queue
 */
bool FitsPart(uint64_t queuedBytes, uint32_t bytes, uint64_t freeBytes, uint64_t alphaPpm);

/**
 * A buffer whose memory the ports of a switch share dynamically.
 *
 * A port drops a packet that would make its queue longer than α times the free memory, or that does
 * not fit into the free memory. A packet is marked as by DropTailBuffer. A port whose link has no
 * limited buffer takes no part.
 *
 * Source: A. Choudhury, E. Hahne, "Dynamic queue length thresholds for shared-memory packet
 * switches", IEEE/ACM Transactions on Networking 6(2), 1998. Broadcom's switches have it as α.
 */
class SharedBuffer final : public DropTailBuffer
{
  public:
    /**
     * @param rules how packets are counted and marked
     * @param bytes size of the memory [bytes]
     * @param alphaPpm limit of a queue over the free memory, in parts of 10^6
     */
    SharedBuffer(const BufferRules& rules, uint64_t bytes, uint64_t alphaPpm);

    // SwitchBuffer
    Verdict Enter(uint32_t number, const Passage& packet, bool isDroppable) override;
    bool Leave(uint32_t number, const Passage& packet) override;

  private:
    bool HasRoom(const Port& port, uint32_t bytes) const;

    const uint64_t m_bytes;
    const uint64_t m_alphaPpm;
    uint64_t m_usedBytes{0};
    std::vector<uint32_t> m_busy; //!< the ports with packets in memory
};

} // namespace cosim

#endif // COSIM_SHARED_BUFFER_H
