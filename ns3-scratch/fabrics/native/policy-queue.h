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
 * A device's DropTailQueue without a limit of its own: a QueuePolicy decides which packets enter,
 * and on which of them the queue sets CE (RFC 3168).
 */
class PolicyQueue : public ns3::DropTailQueue<ns3::Packet>, private EgressQueue
{
  public:
    /// @return the TypeId
    static ns3::TypeId GetTypeId();

    PolicyQueue() = default;

    /**
     * Let a policy decide instead of the queue's own limit.
     *
     * @param policies make the queue's policy
     * @param link the link that the device sends on
     */
    void SetPolicy(QueuePolicyMaker& policies, const LinkState& link);

    /// @return how many packets were marked
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
    uint64_t m_marks{0};
};

} // namespace cosim

#endif // COSIM_POLICY_QUEUE_H
