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
TapeLibrary::Find(uint64_t beginning) const
{
    const auto found = m_tapes.find(beginning);
    return found == m_tapes.end() ? std::span<const Tape>() : found->second;
}

void
TapeLibrary::Keep(const Tape& tape)
{
    tape->usedAt = ++m_uses;
    m_tapes[tape->beginnings.back()].push_back(tape);
}

void
TapeLibrary::Use(const Tape& tape, uint64_t beginning)
{
    tape->usedAt = ++m_uses;
    std::vector<Tape>& tapes = m_tapes[beginning];
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
TapeLibrary::NoteLong(const EpisodeTape& tape)
{
    m_roundTrips += tape.roundTrips;
    m_long.insert(tape.beginnings.front());
}

void
TapeLibrary::Forget(const Tape& tape)
{
    for (const uint64_t beginning : tape->beginnings)
    {
        if (const auto found = m_tapes.find(beginning); found != m_tapes.end())
        {
            std::erase(found->second, tape);
            if (found->second.empty())
            {
                m_tapes.erase(found);
            }
        }
    }
}

/// Forget half of the tapes.
void
TapeLibrary::ForgetOldest()
{
    std::vector<Tape> all;
    for (const auto& [beginning, tapes] : m_tapes)
    {
        std::ranges::copy_if(tapes, std::back_inserter(all), [&](const Tape& tape) {
            return tape->hasEnd && tape->beginnings.front() == beginning;
        });
    }
    const auto middle = all.begin() + static_cast<std::ptrdiff_t>(all.size() / 2);
    std::ranges::nth_element(all, middle, std::ranges::less(), [](const Tape& tape) {
        return tape->usedAt;
    });
    for (auto tape = all.begin(); tape != middle; ++tape)
    {
        m_bytes -= (*tape)->GetBytes();
        Forget(*tape);
    }
}

} // namespace cosim
