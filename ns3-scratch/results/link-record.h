/*
 * SPDX-License-Identifier: GPL-2.0-only
 */

#ifndef COSIM_LINK_RECORD_H
#define COSIM_LINK_RECORD_H

#include "network/run-observer.h"

#include <cstdint>
#include <vector>

namespace cosim
{

/// Records the reconfigurations of the links during a run, and the events of the scenario.
class LinkRecord : public RunObserver
{
  public:
    /// @return the reconfigurations that have begun, in the order of time
    const std::vector<LinkChange>& GetChanges() const
    {
        return m_changes;
    }

    uint32_t GetKinds() const override
    {
        return LINKS;
    }

    /// @return the events of the scenario that have happened, and what followed them, in order
    const std::vector<NetworkEventReport>& GetEvents() const
    {
        return m_events;
    }

    void OnNetworkEvent(const NetworkEventReport& report) override
    {
        m_events.push_back(report);
    }

    void OnLinkPauseBegun(const LinkChange& change) override
    {
        m_changes.push_back(change);
    }

  private:
    std::vector<LinkChange> m_changes;
    std::vector<NetworkEventReport> m_events;
};

} // namespace cosim

#endif // COSIM_LINK_RECORD_H
