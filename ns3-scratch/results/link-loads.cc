/*
 * SPDX-License-Identifier: GPL-2.0-only
 */

#include "results/link-loads.h"

#include "support/wide-arithmetic.h"

#include <algorithm>

namespace cosim
{

namespace
{

/// Transmission time of one byte at 1 bit/s [ps].
constexpr uint64_t BYTE_PS = 8'000'000'000'000;

/// The longest time of a message [ps]; sums of many of them fit in 64 bits.
constexpr uint64_t LONGEST_PS = uint64_t{1} << 50;

uint64_t
Subtract(uint64_t a, uint64_t b)
{
    return a - std::min(a, b);
}

} // namespace

LinkLoads::LinkLoads(const LiveLinks& links, const PacketFormat& format)
    : m_links(links),
      m_format(format)
{
}

/// @return how long a link transmits the packets of a message [ps]
uint64_t
LinkLoads::GetTimePs(uint32_t link, uint64_t bytes) const
{
    return MultiplyDivideUp(m_format.GetWireBytes(bytes),
                            BYTE_PS,
                            std::max<uint64_t>(m_links.Get(link).rateBps, 1),
                            LONGEST_PS);
}

std::vector<LinkLoads::Mark>
LinkLoads::Look(Owner owner, std::span<const uint32_t> path)
{
    m_allPs.resize(m_links.GetCount());
    std::vector<Mark> marks;
    marks.reserve(path.size());
    for (const uint32_t link : path)
    {
        const uint64_t* own = m_ownPs.Find({owner, link});
        marks.push_back({link, own == nullptr ? 0 : *own, m_allPs[link]});
    }
    return marks;
}

void
LinkLoads::Add(std::span<const uint32_t> path, uint64_t bytes)
{
    m_allPs.resize(m_links.GetCount());
    for (const uint32_t link : path)
    {
        m_allPs[link] += GetTimePs(link, bytes);
    }
}

LinkLoads::Load
LinkLoads::Deliver(Owner owner, std::span<const Mark> marks, uint64_t bytes)
{
    Load busiest{0, 0};
    for (const Mark& mark : marks)
    {
        const uint64_t itselfPs = GetTimePs(mark.link, bytes);
        uint64_t& ownPs = m_ownPs[{owner, mark.link}];
        const uint64_t own = ownPs - mark.ownPs;
        const uint64_t all = Subtract(m_allPs[mark.link] - mark.allPs, itselfPs);
        const Load load{own, Subtract(all, own)};
        if (load.ownPs + load.othersPs > busiest.ownPs + busiest.othersPs)
        {
            busiest = load;
        }
        ownPs += itselfPs;
    }
    return busiest;
}

} // namespace cosim
