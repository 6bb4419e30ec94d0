/*
 * SPDX-License-Identifier: GPL-2.0-only
 */

#include "fabrics/host/host-fabric.h"

#include <algorithm>

namespace cosim
{

Repeatable*
HostFabric::GetRepeatable()
{
    return m_fabric->GetRepeatable() == nullptr ? nullptr : this;
}

bool
HostFabric::IsAtRest() const
{
    const auto now = static_cast<uint64_t>(SimGetTime().GetTimeStep());
    for (const Processors* processors : {&m_sending, &m_receiving})
    {
        if (std::any_of(processors->free.begin(), processors->free.end(), [now](uint64_t free) {
                return free > now;
            }))
        {
            return false;
        }
    }
    return m_messages.GetTaken() == 0 && m_matcher.IsEmpty() &&
           m_fabric->GetRepeatable()->IsAtRest();
}

std::string
HostFabric::GetObstacle() const
{
    return m_fabric->GetRepeatable()->GetObstacle();
}

int64_t
HostFabric::AddState(StateDigest& digest) const
{
    return m_fabric->GetRepeatable()->AddState(digest);
}

void
HostFabric::LogRoundTrips()
{
    m_fabric->GetRepeatable()->LogRoundTrips();
}

void
HostFabric::ForgetRoundTrips(const NetworkCounters& oldest)
{
    m_fabric->GetRepeatable()->ForgetRoundTrips(oldest);
}

NetworkCounters
HostFabric::GetCounters() const
{
    return m_fabric->GetRepeatable()->GetCounters();
}

uint64_t
HostFabric::LimitRepeats(const NetworkCounters& from, uint64_t times) const
{
    return m_fabric->GetRepeatable()->LimitRepeats(from, times);
}

void
HostFabric::Repeat(const NetworkCounters& from, uint64_t times, uint64_t periodPs)
{
    m_fabric->GetRepeatable()->Repeat(from, times, periodPs);
}

} // namespace cosim
