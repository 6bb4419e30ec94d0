/*
 * SPDX-License-Identifier: GPL-2.0-only
 */

#include "system/collective-plans.h"

#include <algorithm>
#include <map>
#include <utility>

namespace cosim
{

CollectivePlans::CollectivePlans(const Stream& stream)
    : m_collectives(stream.collectives),
      m_programs(stream.programs.size())
{
    std::map<std::pair<uint32_t, std::vector<Rank>>, uint32_t> known;
    std::map<std::vector<Rank>, uint32_t> groups;
    for (const Collective& collective : stream.collectives)
    {
        std::unique_ptr<const ProgramTemplate>& program = m_programs[collective.program];
        if (!program)
        {
            const SystemSettings& system = stream.settings.system;
            program = std::make_unique<ProgramTemplate>(stream.programs,
                                                        collective.program,
                                                        !system.messageByMessage,
                                                        system.reductionBytesPerS == 0);
        }
        const auto [placement, isNew] =
            known.try_emplace({collective.program, collective.ranks},
                              static_cast<uint32_t>(m_placements.size()));
        m_placementOf.push_back(placement->second);
        if (isNew)
        {
            const auto group =
                groups.try_emplace(collective.ranks, static_cast<uint32_t>(groups.size()))
                    .first->second;
            m_placements.push_back({program.get(), &collective.ranks, group});
        }
    }
    CountBytes();
}

void
CollectivePlans::CountBytes()
{
    std::map<std::pair<uint32_t, uint64_t>, uint64_t> known; // keyed by program and chunk size
    const auto sentBy = [&](uint32_t program, uint64_t chunkBytes) {
        const auto [sent, isNew] = known.try_emplace({program, chunkBytes}, 0);
        if (isNew)
        {
            sent->second = m_programs[program]->GetSentBytes(chunkBytes);
        }
        return sent->second;
    };
    for (const Collective& collective : m_collectives)
    {
        // Chunks have two sizes: floor(bytes / chunks) bytes, and one byte more for `larger` of
        // them.
        const uint64_t size = collective.bytes / collective.chunks;
        const uint64_t larger = collective.bytes % collective.chunks;
        m_totalBytes += (collective.chunks - larger) * sentBy(collective.program, size);
        if (larger != 0)
        {
            m_totalBytes += larger * sentBy(collective.program, size + 1);
        }
    }
}

uint32_t
CollectivePlans::FindMember(uint32_t collective, Rank rank) const
{
    const std::vector<Rank>& ranks = m_collectives[collective].ranks;
    // Most groups are a range of ranks, or every n-th rank, so first look where the rank is in that
    // case.
    if (rank >= ranks.front() && ranks.size() > 1 && ranks[1] > ranks[0])
    {
        const std::size_t guess = (rank - ranks[0]) / (ranks[1] - ranks[0]);
        if (guess < ranks.size() && ranks[guess] == rank)
        {
            return static_cast<uint32_t>(guess);
        }
    }
    return static_cast<uint32_t>(std::find(ranks.begin(), ranks.end(), rank) - ranks.begin());
}

uint64_t
CollectivePlans::GetTotalBytes() const
{
    return m_totalBytes;
}

} // namespace cosim
