/*
 * SPDX-License-Identifier: GPL-2.0-only
 */

#ifndef COSIM_PATH_SHAPES_H
#define COSIM_PATH_SHAPES_H

#include "network/path-index.h"
#include "stream/stream.h"

#include <array>
#include <cstdint>
#include <limits>
#include <map>
#include <vector>

namespace cosim
{

/**
 * What the paths of a network are like, whatever their links are called.
 *
 * Two sets of flows are carried in the same way if one can be mapped to the other so that each path
 * has the same shape as its image, and the parts of the paths map one to one.
 */
class PathShapes
{
  public:
    /**
     * @param topology links and paths that do not change; must outlive this object
     * @param paths the index of the paths; must outlive this object
     */
    PathShapes(const Topology& topology, const PathIndex& paths);

    /// @return the number of parts of the network: all links, and after them all nodes
    uint32_t GetPartCount() const
    {
        return static_cast<uint32_t>(m_topology.linkSource.size()) + m_topology.nodes;
    }

    /// @return true if a part is a link; its id is that of the part
    bool IsLink(uint32_t part) const
    {
        return part < m_topology.linkSource.size();
    }

    /**
     * @param path the path
     * @return a number that two paths share if their links, and those in the opposite direction,
     * have the same properties, one by one
     */
    uint32_t Get(uint32_t path);

    /**
     * @param path the path
     * @param parts receives what packets and acknowledgments use: links, and nodes whose memory
     * they share, in the order of the path
     */
    void GetParts(uint32_t path, std::vector<uint32_t>& parts) const;

  private:
    static constexpr uint32_t UNKNOWN = std::numeric_limits<uint32_t>::max();

    uint32_t GetKind(uint32_t part);

    const Topology& m_topology;
    const PathIndex& m_paths;
    std::vector<uint64_t> m_memories;                     //!< per node, if it is shared [bytes]
    std::vector<uint32_t> m_shapes;                       //!< per path
    std::map<std::vector<uint32_t>, uint32_t> m_shapeOf;  //!< by the kinds of the parts
    std::map<std::array<uint64_t, 5>, uint32_t> m_kindOf; //!< by the properties of a part
};

} // namespace cosim

#endif // COSIM_PATH_SHAPES_H
