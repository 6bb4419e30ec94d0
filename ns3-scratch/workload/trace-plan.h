/*
 * SPDX-License-Identifier: GPL-2.0-only
 */

#ifndef COSIM_TRACE_PLAN_H
#define COSIM_TRACE_PLAN_H

#include "stream/stream.h"

#include <cstdint>
#include <utility>
#include <vector>

namespace cosim
{

/// For each node of a trace, the nodes that wait for it.
struct Dependents
{
    std::vector<uint32_t> begin; //!< per node: index of its first entry in nodes
    std::vector<uint32_t> nodes;
};

/**
 * A trace prepared for running: the data that all ranks of the trace share.
 */
struct TracePlan
{
    /// @param source the trace; must outlive the plan
    explicit TracePlan(const Trace& source);

    /**
     * @param id id of a collective that the trace issues
     * @return index of the node that issues the collective
     */
    uint32_t FindNode(uint32_t id) const;

    const Trace* trace;
    std::vector<uint32_t> pending; //!< per node: number of its dependencies of both kinds
    Dependents next;               //!< the nodes that wait until the node is done
    Dependents startNext;          //!< the nodes that wait until the node has started; may be empty
    std::vector<uint32_t> computes; //!< the COMPUTE nodes of the compute stream, in order
    std::vector<std::pair<uint32_t, uint32_t>> collectives; //!< (collective id, node), sorted
};

} // namespace cosim

#endif // COSIM_TRACE_PLAN_H
