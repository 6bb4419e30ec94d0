/*
 * SPDX-License-Identifier: GPL-2.0-only
 */

#include "results/cause.h"

namespace cosim
{

CauseRef::CauseRef(Cause* cause)
    : m_cause(cause)
{
    if (m_cause != nullptr)
    {
        ++m_cause->references;
    }
}

CauseRef::CauseRef(const CauseRef& other)
    : CauseRef(other.m_cause)
{
}

CauseRef::~CauseRef()
{
    // A loop, as a chain is too long for a recursion.
    while (m_cause != nullptr && --m_cause->references == 0)
    {
        Cause* parent = std::exchange(m_cause->parent.m_cause, nullptr);
        delete m_cause;
        m_cause = parent;
    }
}

uint64_t
CauseRef::GetEnd() const
{
    return m_cause == nullptr ? 0 : m_cause->endPs;
}

void
CauseRef::Cut() const
{
    if (m_cause != nullptr)
    {
        m_cause->parent = CauseRef();
    }
}

} // namespace cosim
