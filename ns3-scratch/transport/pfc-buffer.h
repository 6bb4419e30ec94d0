/*
 * SPDX-License-Identifier: GPL-2.0-only
 */

#ifndef COSIM_PFC_BUFFER_H
#define COSIM_PFC_BUFFER_H

#include "stream/stream.h"
#include "transport/drop-tail-buffer.h"

#include <array>
#include <cstdint>
#include <functional>
#include <memory>
#include <vector>

namespace cosim
{

/// What the links into switches have in their memory, for all switches of a network.
struct PfcLinks
{
    /// @param topology the links; must outlive this object
    explicit PfcLinks(const Topology& topology);

    const Topology& topology;
    std::vector<uint32_t> number;            //!< per link: its number among those into its target
    std::vector<std::vector<uint32_t>> into; //!< per node: the links into it
};

/**
 * The memory of a lossless switch, which pauses the links that fill it (priority flow control, IEEE
 * 802.1Qbb).
 *
 * A packet counts at the link and in the traffic class with which it came. Each link has a reserve;
 * what exceeds it is shared memory, of which a link may take a part of what is free. From there on
 * the link is paused, and what still comes takes its headroom. A packet is dropped only if it fits
 * into neither. The link resumes when its headroom is empty and it is some bytes below its part
 * again. Packets of the classes from PROMPT_CLASS on, and those that start at the node, take no
 * memory. Lossy classes are never paused: they take shared memory alone, and a packet that would
 * make its queue longer than α times the free memory is dropped, as in SharedBuffer.
 *
 * Source: the switch of the public simulator of Y. Li et al., "HPCC", SIGCOMM 2019; the threshold
 * is that of A. Choudhury, E. Hahne, "Dynamic queue length thresholds for shared-memory packet
 * switches", IEEE/ACM Transactions on Networking 6(2), 1998.
 */
class PfcBuffer final : public SwitchBuffer
{
  public:
    /// The lowest class that is never paused.
    static constexpr uint8_t PROMPT_CLASS = 6;

    /**
     * @param rules how packets are marked, and the node
     * @param links the links of the network
     * @param bytes size of the memory [bytes]
     */
    PfcBuffer(const BufferRules& rules, std::shared_ptr<const PfcLinks> links, uint64_t bytes);

    // SwitchBuffer
    uint32_t AddPort(EgressQueue& queue) override;
    bool SetLink(uint32_t number, const LinkState& link) override;
    void SetMarking(uint32_t number, const EcnMarking& marking) override;
    Verdict Enter(uint32_t number, const Passage& packet, bool isDroppable) override;
    bool Leave(uint32_t number, const Passage& packet) override;
    bool MarksAtDequeue() const override;
    void SetPauseChannel(PauseChannel& channel) override;
    void OnLinkDown(uint32_t link) override;
    bool IsStuck(uint32_t link,
                 uint8_t trafficClass,
                 const std::function<bool(uint32_t port)>& isHeld) const override;
    HeadroomUse GetHeadroomUse() const override;

    /// @return the shared bytes from which a link is paused
    uint64_t GetThreshold(uint32_t link) const;

  private:
    struct Port
    {
        EcnRamp ramp;
        bool isUp{true};
        uint64_t queuedBytes{0}; //!< of the classes that can be paused
    };

    /// The packets of a class that came by a link.
    struct Ingress
    {
        uint64_t bytes{0};         //!< in reserve and shared memory
        uint64_t headroomBytes{0}; //!< in headroom
        uint64_t lostBytes{0};     //!< dropped since the last pause
        bool isPaused{false};
        std::vector<uint64_t> byPort; //!< bytes that wait at each port
    };

    using Classes = std::array<Ingress, PROMPT_CLASS>;

    bool IsLossy(const Passage& packet) const
    {
        return (m_lossy >> packet.trafficClass & 1) != 0;
    }

    /// @return true if a packet takes memory
    bool Counts(const Passage& packet) const
    {
        return packet.ingress != Passage::NO_LINK && packet.trafficClass < PROMPT_CLASS;
    }

    Ingress& Find(const Passage& packet)
    {
        return m_ingresses[m_links->number[packet.ingress]][packet.trafficClass];
    }

    uint64_t GetFree() const;
    uint64_t GetShared(const Ingress& ingress) const;
    bool TakeShared(const Port& port, const Passage& packet, bool isDroppable);

    const BufferRules m_rules;
    const std::shared_ptr<const PfcLinks> m_links;
    const uint64_t m_reserveBytes; //!< of each link
    uint64_t m_poolBytes;          //!< memory that is neither reserve nor headroom
    uint64_t m_sharedBytes{0};     //!< used of it
    uint32_t m_lossy{0};           //!< classes that are never paused, one bit for each
    PauseChannel* m_channel{nullptr};
    std::vector<Port> m_ports;
    PortNumbers m_numbers;
    std::vector<Classes> m_ingresses; //!< by number of the link
    HeadroomUse m_headroom;
};

} // namespace cosim

#endif // COSIM_PFC_BUFFER_H
