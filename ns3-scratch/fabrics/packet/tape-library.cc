/*
 * SPDX-License-Identifier: GPL-2.0-only
 */

#include "fabrics/packet/tape-library.h"

#include <algorithm>

namespace cosim
{

namespace
{

/// The memory that all tapes may take [bytes].
constexpr std::size_t MOST_BYTES = std::size_t{1} << 30;

} // namespace

std::span<const TapeLibrary::Tape>
TapeLibrary::Find(const Submission& first, uint32_t shape) const
{
    const auto found = m_tapes.find({shape, first.bytes, first.isAwaited ? 1U : 0U});
    return found == m_tapes.end() ? std::span<const Tape>() : found->second;
}

TapeLibrary::Key
TapeLibrary::GetKey(const EpisodeTape& tape)
{
    const EpisodeTape::Item& first = tape.items.front();
    return {tape.flows.front().shape,
            first.bytes,
            first.kind == EpisodeTape::Kind::SUBMIT_AWAITED ? 1U : 0U};
}

void
TapeLibrary::Keep(const Tape& tape)
{
    tape->usedAt = ++m_uses;
    m_tapes[GetKey(*tape)].push_back(tape);
}

void
TapeLibrary::Use(const Tape& tape)
{
    tape->usedAt = ++m_uses;
    std::vector<Tape>& tapes = m_tapes[GetKey(*tape)];
    if (const auto found = std::ranges::find(tapes, tape); found != tapes.end())
    {
        std::rotate(found, found + 1, tapes.end());
    }
}

void
TapeLibrary::NoteEnd(const EpisodeTape& tape)
{
    m_roundTrips += tape.roundTrips;
    m_bytes += tape.GetBytes();
    if (m_bytes > MOST_BYTES)
    {
        ForgetOldest();
    }
}

void
TapeLibrary::Forget(const Tape& tape)
{
    if (tape->items.empty())
    {
        return;
    }
    if (const auto found = m_tapes.find(GetKey(*tape)); found != m_tapes.end())
    {
        std::erase(found->second, tape);
    }
}

/// Forget half of the tapes.
void
TapeLibrary::ForgetOldest()
{
    std::vector<uint64_t> uses;
    for (const auto& [key, tapes] : m_tapes)
    {
        for (const Tape& tape : tapes)
        {
            uses.push_back(tape->usedAt);
        }
    }
    const auto middle = uses.begin() + static_cast<std::ptrdiff_t>(uses.size() / 2);
    std::ranges::nth_element(uses, middle);
    for (auto& [key, tapes] : m_tapes)
    {
        std::erase_if(tapes, [&](const Tape& tape) {
            const bool isOld = tape->hasEnd && tape->usedAt <= *middle;
            m_bytes -= isOld ? tape->GetBytes() : 0;
            return isOld;
        });
    }
    std::erase_if(m_tapes, [](const auto& entry) { return entry.second.empty(); });
}

} // namespace cosim
