/*
 * SPDX-License-Identifier: GPL-2.0-only
 */

#ifndef COSIM_MARKING_QUEUE_H
#define COSIM_MARKING_QUEUE_H

#include "ns3/drop-tail-queue.h"
#include "ns3/packet.h"

#include <cstdint>

namespace cosim
{

/**
 * A device's DropTailQueue that sets CE (RFC 3168) on ECN-capable packets which find it filled to a
 * threshold: the instantaneous marking that DCTCP asks of a switch (RFC 8257, section 3.1).
 */
class MarkingQueue : public ns3::DropTailQueue<ns3::Packet>
{
  public:
    /// @return the TypeId
    static ns3::TypeId GetTypeId();

    MarkingQueue() = default;

    /// @param bytes queue length from which packets are marked
    void SetThreshold(uint64_t bytes);

    /// @return how many packets were marked
    uint64_t GetMarks() const;

    bool Enqueue(ns3::Ptr<ns3::Packet> packet) override;

  private:
    bool Mark(const ns3::Ptr<ns3::Packet>& packet) const;

    uint64_t m_threshold{0};
    uint64_t m_marks{0};
};

} // namespace cosim

#endif // COSIM_MARKING_QUEUE_H
