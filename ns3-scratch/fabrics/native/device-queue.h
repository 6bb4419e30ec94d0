/*
 * SPDX-License-Identifier: GPL-2.0-only
 */

#ifndef COSIM_DEVICE_QUEUE_H
#define COSIM_DEVICE_QUEUE_H

#include "transport/switch-buffer.h"

#include "ns3/drop-tail-queue.h"
#include "ns3/packet.h"

#include <cstdint>

namespace cosim
{

/**
 * A DropTailQueue of a device in which the SwitchBuffer of the node replaces the limit.
 */
class DeviceQueue : public ns3::DropTailQueue<ns3::Packet>, private EgressQueue
{
  public:
    /// @return the TypeId
    static ns3::TypeId GetTypeId();

    DeviceQueue() = default;

    /**
     * Let every packet carry padding at its end. Like the headers of the link, it takes room in the
     * queue and time on the link, and ends at the next node.
     *
     * @param bytes number of bytes of padding
     */
    void SetPaddingBytes(uint32_t bytes);

    /**
     * Set the buffer that replaces the limit of the queue.
     *
     * @param buffer buffer of the node; must outlive the queue
     * @param link link on which the device sends
     */
    void SetBuffer(SwitchBuffer& buffer, const LinkState& link);

    /// @return true if the buffer decides; otherwise every packet enters
    bool IsGuarded() const
    {
        return m_buffer != nullptr;
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

    SwitchBuffer* m_buffer{nullptr}; //!< null: every packet enters
    uint32_t m_port{0};              //!< number in m_buffer
    uint32_t m_paddingBytes{0};
    uint64_t m_marks{0};
};

} // namespace cosim

#endif // COSIM_DEVICE_QUEUE_H
