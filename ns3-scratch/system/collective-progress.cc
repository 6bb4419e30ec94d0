/*
 * SPDX-License-Identifier: GPL-2.0-only
 */

#include "system/collective-progress.h"

#include <algorithm>
#include <sstream>

namespace cosim
{

CollectiveProgress::CollectiveProgress(std::size_t collectives, const CollectivePlans& plans)
    : m_plans(plans),
      m_running(collectives)
{
}

bool
CollectiveProgress::Issue(uint32_t collective, uint32_t member, uint32_t node)
{
    if (!m_running[collective])
    {
        const Collective& what = m_plans.GetCollective(collective);
        m_running[collective] = std::make_unique<Running>();
        const uint32_t members = m_plans.GetProgram(collective).GetMembers();
        m_running[collective]->issued.resize(members);
        m_running[collective]->node.resize(members);
        m_running[collective]->chunksLeft.assign(members, what.chunks);
    }
    Running& running = *m_running[collective];
    running.issued[member] = true;
    running.node[member] = node;
    if (m_plans.GetProgram(collective).GetFirstPlace(member) == ProgramTemplate::NONE)
    {
        running.chunksLeft[member] = 1;
        return false;
    }
    return true;
}

bool
CollectiveProgress::FinishChunk(uint32_t collective, uint32_t member)
{
    Running& running = *m_running[collective];
    if (--running.chunksLeft[member] != 0)
    {
        return false;
    }
    if (++running.membersDone == running.issued.size())
    {
        m_running[collective].reset();
    }
    return true;
}

std::string
CollectiveProgress::Describe(uint32_t collective, uint32_t member) const
{
    if (!m_running[collective])
    {
        return {};
    }
    const Running& running = *m_running[collective];
    const Collective& what = m_plans.GetCollective(collective);
    std::ostringstream text;
    text << ": " << what.chunks - running.chunksLeft[member] << " of " << what.chunks
         << " chunks done";
    const auto missing = std::count(running.issued.begin(), running.issued.end(), false);
    if (missing != 0)
    {
        const auto first = std::find(running.issued.begin(), running.issued.end(), false);
        text << ", not issued by " << missing << " of " << running.issued.size()
             << " ranks, the first of them rank "
             << what.ranks[static_cast<std::size_t>(first - running.issued.begin())];
    }
    return text.str();
}

} // namespace cosim
