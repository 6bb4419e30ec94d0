/*
 * SPDX-License-Identifier: GPL-2.0-only
 */

#ifndef COSIM_NODE_NAME_H
#define COSIM_NODE_NAME_H

#include "stream/stream.h"

#include <string>

namespace cosim
{

/// @return the name of a node for people: rank 3, or a switch as the topology names it
inline std::string
NameNode(const Topology& topology, uint32_t node)
{
    if (node < topology.ranks)
    {
        return "rank " + std::to_string(node);
    }
    return topology.nodeNames.empty() ? "switch " + std::to_string(node) : topology.nodeNames[node];
}

} // namespace cosim

#endif // COSIM_NODE_NAME_H
