/*
 * SPDX-License-Identifier: GPL-2.0-only
 */

#ifndef COSIM_SHARED_MEMORY_POLICY_H
#define COSIM_SHARED_MEMORY_POLICY_H

#include "stream/stream.h"
#include "transport/drop-tail-policy.h"
#include "transport/queue-policy.h"

#include <cstdint>
#include <map>
#include <memory>
#include <vector>

namespace cosim
{

/// The packet memory of a switch, and the queues of the ports that share it.
class SharedMemory
{
  public:
    /**
     * @param bytes size of the memory [bytes]
     * @param alphaPpm limit of a queue over the free memory, in parts of 10^6
     */
    SharedMemory(uint64_t bytes, uint64_t alphaPpm);

    /// Add the queue of a port.
    void Add(EgressQueue& queue);

    /// Bring the number of used bytes up to date.
    void Update();

    /// @return the number of bytes that no queue uses
    uint64_t GetFreeBytes() const
    {
        return m_bytes - std::min(m_bytes, m_usedBytes);
    }

    /// @return the length at which a queue is full now [bytes]
    uint64_t GetLimitBytes() const;

    /// Count bytes that a queue has taken.
    void Take(uint64_t bytes)
    {
        m_usedBytes += bytes;
    }

    /// Count bytes that have left a queue.
    void Free(uint64_t bytes)
    {
        m_usedBytes -= bytes;
    }

  private:
    const uint64_t m_bytes;
    const uint64_t m_alphaPpm;
    uint64_t m_usedBytes{0};
    std::vector<EgressQueue*> m_queues; //!< not owned
};

/**
 * A queue in a memory that the ports of a switch share dynamically.
 *
 * It drops a packet that would make the queue longer than α times the free memory, or that does not
 * fit into the free memory. A packet is marked as by DropTailPolicy.
 *
 * Source: A. Choudhury, E. Hahne, "Dynamic queue length thresholds for shared-memory packet
 * switches", IEEE/ACM Transactions on Networking 6(2), 1998. Broadcom's switches have it as α.
 */
class SharedMemoryPolicy : public QueuePolicy
{
  public:
    /**
     * @param link supplies the ECN threshold
     * @param memory memory of the link's switch
     */
    SharedMemoryPolicy(const LinkState& link, std::shared_ptr<SharedMemory> memory);

    Verdict Decide(const Arrival& arrival) override;
    void Enter(uint32_t bytes) override;
    void Leave(uint32_t bytes) override;

  private:
    std::shared_ptr<SharedMemory> m_memory;
    uint64_t m_thresholdBytes; //!< UINT64_MAX if the queue has no threshold
};

/**
 * Creates a SharedMemoryPolicy for each link with a limited buffer. The memory of a node is the sum
 * of the buffers of its links. Other links get what DropTailPolicyMaker creates.
 */
class SharedMemoryPolicyMaker : public DropTailPolicyMaker
{
  public:
    /**
     * @param topology supplies α and the buffers at the start of the run
     * @param slotBytes as for DropTailPolicyMaker
     */
    SharedMemoryPolicyMaker(const Topology& topology, uint32_t slotBytes);

    std::unique_ptr<QueuePolicy> Make(const LinkState& link, EgressQueue& queue) override;

  private:
    std::map<uint32_t, std::shared_ptr<SharedMemory>> m_memories; //!< by node
};

} // namespace cosim

#endif // COSIM_SHARED_MEMORY_POLICY_H
