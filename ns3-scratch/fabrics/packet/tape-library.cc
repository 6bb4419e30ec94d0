/*
 * SPDX-License-Identifier: GPL-2.0-only
 */

#include "fabrics/packet/tape-library.h"

#include <algorithm>

namespace cosim
{

namespace
{

/// The memory that all tapes may take [bytes]: so much at first, as much more as the tapes take
/// that were used, and at most so much.
constexpr std::size_t FIRST_BYTES = std::size_t{1} << 25;
constexpr std::size_t MOST_BYTES = std::size_t{1} << 31;

} // namespace

std::span<const TapeLibrary::Tape>
TapeLibrary::Find(const Beginning& beginning) const
{
    const auto found = m_tapes.find(beginning.GetLandmark());
    return found == m_tapes.end() ? std::span<const Tape>() : found->second;
}

void
TapeLibrary::Keep(const Tape& tape)
{
    tape->usedAt = ++m_uses;
    if (std::has_single_bit(tape->beginnings.size()))
    {
        m_tapes[tape->beginnings.back()].push_back(tape);
    }
}

void
TapeLibrary::Use(const Tape& tape, const Beginning& beginning)
{
    tape->usedAt = ++m_uses;
    m_usedBytes = std::min(MOST_BYTES, m_usedBytes + tape->bytes);
    std::vector<Tape>& tapes = m_tapes[beginning.GetLandmark()];
    if (const auto found = std::ranges::find(tapes, tape); found != tapes.end())
    {
        std::rotate(found, found + 1, tapes.end());
    }
}

void
TapeLibrary::NoteEnd(EpisodeTape& tape)
{
    m_roundTrips += tape.roundTrips;
    tape.bytes = tape.GetBytes();
    m_bytes += tape.bytes;
    m_usedBytes = std::min(MOST_BYTES, m_usedBytes + tape.followers.size() * tape.bytes);
    if (m_bytes > std::min(FIRST_BYTES + m_usedBytes, MOST_BYTES))
    {
        ForgetOldest();
    }
}

void
TapeLibrary::Forget(const Tape& tape)
{
    m_roundTrips += tape->hasEnd ? 0 : tape->roundTrips;
    for (std::size_t times = 1; times <= tape->beginnings.size(); times *= 2)
    {
        const auto found = m_tapes.find(tape->beginnings[times - 1]);
        if (found != m_tapes.end())
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
    for (const auto& [landmark, tapes] : m_tapes)
    {
        std::ranges::copy_if(tapes, std::back_inserter(all), [&](const Tape& tape) {
            return tape->hasEnd && tape->beginnings.front() == landmark;
        });
    }
    const auto middle = all.begin() + static_cast<std::ptrdiff_t>(all.size() / 2);
    std::ranges::nth_element(all, middle, std::ranges::less(), [](const Tape& tape) {
        return tape->usedAt;
    });
    for (auto tape = all.begin(); tape != middle; ++tape)
    {
        m_bytes -= (*tape)->bytes;
        Forget(*tape);
    }
}

} // namespace cosim
