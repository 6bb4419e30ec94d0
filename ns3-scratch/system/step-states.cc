/*
 * SPDX-License-Identifier: GPL-2.0-only
 */

#include "system/step-states.h"

#include <algorithm>

namespace cosim
{

void
StepStates::Begin(const uint32_t* pending, const StepIds& ids)
{
    m_initial = pending;
    m_ids = ids;
    m_pages.resize((std::size_t{ids.GetEnd()} + PAGE - 1) / PAGE);
    uint32_t begin = 0;
    for (Page& page : m_pages)
    {
        const uint32_t end = begin + std::min(ids.GetEnd() - begin, PAGE);
        page.states = nullptr; // a part that failed leaves states behind
        page.left = ids.CountBelow(end) - ids.CountBelow(begin);
        begin = end;
    }
}

/// Take memory for a page and copy the initial counters to it.
void
StepStates::Open(uint32_t page, Spare& spare)
{
    const uint32_t begin = page * PAGE;
    const uint32_t size = GetSize(page);
    if (size == PAGE)
    {
        m_pages[page].slot = spare.Take();
        m_pages[page].states = spare[m_pages[page].slot].data();
    }
    else
    { // a small part keeps its memory for the next part in its slot
        m_rest.resize(size);
        m_pages[page].states = m_rest.data();
    }
    for (uint32_t i = 0; i < size; ++i)
    {
        const uint32_t id = begin + i;
        m_pages[page].states[i] = {m_ids.Has(id) ? m_initial[m_ids.GetIndex(id)] : 0, NONE};
    }
}

/// Give back the memory of a page.
void
StepStates::Close(uint32_t page, Spare& spare)
{
    m_pages[page].states = nullptr;
    if (GetSize(page) == PAGE)
    {
        spare.Return(m_pages[page].slot);
    }
}

} // namespace cosim
