/*
 * SPDX-License-Identifier: GPL-2.0-only
 */

#ifndef COSIM_LINK_ORBITS_H
#define COSIM_LINK_ORBITS_H

#include "network/path-index.h"
#include "stream/stream.h"
#include "symmetry/rotations.h"

#include <cstdint>
#include <optional>
#include <vector>

namespace cosim
{

/**
 * Finds out whether a network looks the same after its ranks are rotated: each path then goes where
 * another one was, and so does each of its links. The links of an orbit are those to which one link
 * is brought.
 */
class LinkOrbits
{
  public:
    /// @param topology links and paths; must outlive this object
    explicit LinkOrbits(const Topology& topology);

    /**
     * Try to add a rotation.
     *
     * @param rotation the rotation
     * @param copies number of copies of a rank, with this rotation
     * @return whether the network looks the same, and each link that a path crosses is one of as
     * many different ones, of which no path crosses two; if not, nothing is added
     */
    bool Add(const Rotation& rotation, uint32_t copies);

    /// @return per link: the first one of its orbit; itself if no path crosses it
    const std::vector<uint32_t>& GetFirsts() const
    {
        return m_first;
    }

    /// @return the paths by their ranks
    const PathIndex& GetPaths() const
    {
        return m_paths;
    }

  private:
    std::optional<std::vector<uint32_t>> FindImages(const Rotation& rotation) const;
    bool Bring(uint32_t path, uint32_t image, std::vector<uint32_t>& links) const;
    bool AreAlike(uint32_t link, uint32_t other) const;
    bool IsFree(const std::vector<uint32_t>& first, uint32_t copies) const;

    const Topology& m_topology;
    PathIndex m_paths;
    std::vector<bool> m_isCrossed; //!< per link
    std::vector<uint32_t> m_first; //!< per link; see GetFirsts
};

} // namespace cosim

#endif // COSIM_LINK_ORBITS_H
