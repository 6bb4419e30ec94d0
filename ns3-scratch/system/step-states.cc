/*
 * SPDX-License-Identifier: GPL-2.0-only
 */

#include "system/step-states.h"

#include <algorithm>
#include <utility>

namespace cosim
{

void
StepStates::Begin(const uint32_t* pending, uint32_t steps, uint32_t turnBits, uint32_t turns)
{
    m_initial = pending;
    m_steps = steps << turnBits;
    m_turnBits = turnBits;
    m_pages.resize((std::size_t{m_steps} + PAGE - 1) / PAGE);
    const auto countBelow = [turnBits, turns](uint32_t id) {
        return (id >> turnBits) * turns + std::min(id & ((uint32_t{1} << turnBits) - 1), turns);
    };
    uint32_t begin = 0;
    for (Page& page : m_pages)
    {
        const uint32_t end = begin + std::min(m_steps - begin, PAGE);
        page.states.clear(); // a part that failed leaves states behind
        page.left = countBelow(end) - countBelow(begin);
        begin = end;
    }
}

/// Take memory for a page and copy the initial counters to it.
void
StepStates::Open(uint32_t page, Spare& spare)
{
    Page& opened = m_pages[page];
    const uint32_t begin = page * PAGE;
    const uint32_t size = std::min(m_steps - begin, PAGE);
    if (size == PAGE && !spare.empty())
    {
        opened.states = std::move(spare.back());
        spare.pop_back();
    }
    opened.states.resize(size);
    for (uint32_t i = 0; i < size; ++i)
    {
        opened.states[i] = {m_initial[(begin + i) >> m_turnBits], NONE};
    }
}

/// Give back the memory of a page. A small part keeps it for the next part in its slot.
void
StepStates::Close(Page& page, Spare& spare)
{
    const bool isWhole = page.states.size() == PAGE;
    page.states.clear();
    if (isWhole)
    {
        spare.push_back(std::move(page.states));
        page.states = {};
    }
}

} // namespace cosim
