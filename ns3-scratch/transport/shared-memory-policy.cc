/*
 * SPDX-License-Identifier: GPL-2.0-only
 */

#include "transport/shared-memory-policy.h"

#include "support/wide-arithmetic.h"

#include <algorithm>
#include <utility>

namespace cosim
{

SharedMemory::SharedMemory(uint64_t bytes, uint64_t alphaPpm)
    : m_bytes(bytes),
      m_alphaPpm(alphaPpm)
{
}

void
SharedMemory::Add(EgressQueue& queue)
{
    if (std::find(m_queues.begin(), m_queues.end(), &queue) == m_queues.end())
    {
        m_queues.push_back(&queue);
    }
}

void
SharedMemory::Update()
{
    if (m_usedBytes > 0)
    {
        for (EgressQueue* queue : m_queues)
        {
            queue->Update();
        }
    }
}

uint64_t
SharedMemory::GetLimitBytes() const
{
    constexpr uint64_t one = 1'000'000;
    return MultiplyDivide(GetFreeBytes(), m_alphaPpm, one);
}

SharedMemoryPolicy::SharedMemoryPolicy(const LinkState& link, std::shared_ptr<SharedMemory> memory)
    : m_memory(std::move(memory)),
      m_thresholdBytes(link.ecnThresholdBytes == 0 ? UINT64_MAX : link.ecnThresholdBytes)
{
}

QueuePolicy::Verdict
SharedMemoryPolicy::Decide(const Arrival& arrival)
{
    m_memory->Update();
    const uint64_t queued = GetQueuedBytes();
    if (arrival.isDroppable && (arrival.bytes > m_memory->GetFreeBytes() ||
                                queued + arrival.bytes > m_memory->GetLimitBytes()))
    {
        return Verdict::DROP;
    }
    return arrival.isEcnCapable && queued >= m_thresholdBytes ? Verdict::MARK : Verdict::ADMIT;
}

void
SharedMemoryPolicy::Enter(uint32_t bytes)
{
    QueuePolicy::Enter(bytes);
    m_memory->Take(bytes);
}

void
SharedMemoryPolicy::Leave(uint32_t bytes)
{
    QueuePolicy::Leave(bytes);
    m_memory->Free(bytes);
}

SharedMemoryPolicyMaker::SharedMemoryPolicyMaker(const Topology& topology, uint32_t slotBytes)
    : DropTailPolicyMaker(slotBytes)
{
    std::map<uint32_t, uint64_t> bytes;
    for (std::size_t link = 0; link < topology.linkSource.size(); ++link)
    {
        bytes[topology.linkSource[link]] += topology.linkBufferBytes[link];
    }
    for (const auto& [node, size] : bytes)
    {
        m_memories[node] = std::make_shared<SharedMemory>(size, topology.sharedMemoryAlphaPpm);
    }
}

std::unique_ptr<QueuePolicy>
SharedMemoryPolicyMaker::Make(const LinkState& link, EgressQueue& queue)
{
    if (!link.isUp || link.bufferBytes == 0)
    {
        return DropTailPolicyMaker::Make(link, queue);
    }
    const std::shared_ptr<SharedMemory>& memory = m_memories[link.source];
    memory->Add(queue);
    return std::make_unique<SharedMemoryPolicy>(link, memory);
}

} // namespace cosim
