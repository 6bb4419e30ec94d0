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

/// Records the reconfigurations of the links during a run.
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

    void OnLinkPauseBegun(const LinkChange& change) override
    {
        m_changes.push_back(change);
    }

  private:
    std::vector<LinkChange> m_changes;
};

} // namespace cosim

#endif // COSIM_LINK_RECORD_H
