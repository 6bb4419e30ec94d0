/*
 * SPDX-License-Identifier: GPL-2.0-only
 */

#ifndef COSIM_SHARED_LINKS_H
#define COSIM_SHARED_LINKS_H

#include "network/run-observer.h"
#include "stream/stream.h"
#include "support/pair-index.h"

#include <cstdint>
#include <vector>

namespace cosim
{

/// A link between switches, and the flows that have sent messages over it.
struct SharedLink
{
    uint32_t link;
    uint64_t bytes;              //!< payload of the flows [bytes]
    std::vector<uint32_t> paths; //!< the flows, as indices of paths
};

/**
 * Finds the links between switches that most flows share.
 *
 * It counts the messages of each path of the stream; a detour around a failed link does not count.
 * It observes nothing unless the result lists shared links.
 */
class SharedLinks : public RunObserver
{
  public:
    /// @param topology links and paths; must outlive this object
    explicit SharedLinks(const Topology& topology);

    /// @return the payload of each path so far; empty if it is not counted [bytes]
    const std::vector<uint64_t>& GetBytes() const
    {
        return m_bytes;
    }

    /**
     * Count again what was delivered since an earlier time.
     *
     * @param from the payload of each path at the earlier time [bytes]
     * @param times number of times
     */
    void Repeat(const std::vector<uint64_t>& from, uint64_t times)
    {
        for (std::size_t path = 0; path < m_bytes.size(); ++path)
        {
            m_bytes[path] += times * (m_bytes[path] - from[path]);
        }
    }

    uint32_t GetKinds() const override
    {
        return m_topology.sharedLinks > 0 ? uint32_t{MESSAGES} : 0U;
    }

    void OnMessageDelivered(const MessageEvent& event) override;

    /// @return the links with at least two flows: most flows first, then most bytes
    std::vector<SharedLink> GetLinks() const;

  private:
    const Topology& m_topology;
    PairIndex m_pathOf;
    std::vector<uint64_t> m_bytes; //!< per path
    std::vector<bool> m_isUsed;    //!< per path: true if it has carried a message
};

} // namespace cosim

#endif // COSIM_SHARED_LINKS_H
