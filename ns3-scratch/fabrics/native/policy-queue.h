/*
 * SPDX-License-Identifier: GPL-2.0-only
 */

#ifndef COSIM_POLICY_QUEUE_H
#define COSIM_POLICY_QUEUE_H

#include "transport/queue-policy.h"

#include "ns3/drop-tail-queue.h"
#include "ns3/packet.h"

#include <cstdint>
#include <memory>

namespace cosim
{

/**
 * A DropTailQueue of a device in which a QueuePolicy replaces the limit. The policy decides which
 * packets enter, and which of them are marked with CE (RFC 3168).
 */
class PolicyQueue : public ns3::DropTailQueue<ns3::Packet>, private EgressQueue
{
  public:
    /// @return the TypeId
    static ns3::TypeId GetTypeId();

    PolicyQueue() = default;

    /**
     * Let every packet carry padding at its end. Like the headers of the link, it takes room in the
     * queue and time on the link, and ends at the next node.
     *
     * @param bytes number of bytes of padding
     */
    void SetPaddingBytes(uint32_t bytes);

    /**
     * Set the policy that replaces the limit of the queue.
     *
     * @param policies creates the policy
     * @param link link on which the device sends
     */
    void SetPolicy(QueuePolicyMaker& policies, const LinkState& link);

    /// @return true if a policy decides; otherwise every packet enters
    bool HasPolicy() const
    {
        return m_policy != nullptr;
    }

    /// @return the number of marked packets
    uint64_t GetMarks() const;

    // DropTailQueue
    bool Enqueue(ns3::Ptr<ns3::Packet> packet) override;
    ns3::Ptr<ns3::Packet> Dequeue() override;
    ns3::Ptr<ns3::Packet> Remove() override;

  private:
    // EgressQueue
    void Update() override;

    ns3::Ptr<ns3::Packet> NoteLeaving(ns3::Ptr<ns3::Packet> packet);

    std::unique_ptr<QueuePolicy> m_policy; //!< null: every packet enters
    uint32_t m_paddingBytes{0};
    uint64_t m_marks{0};
};

} // namespace cosim

#endif // COSIM_POLICY_QUEUE_H
