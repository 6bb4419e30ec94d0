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

/**
 * A trace made ready to run: what its ranks share.
 */
struct TracePlan
{
    /// @param source the trace; must outlive the plan
    explicit TracePlan(const Trace& source);

    /**
     * @param id a collective that the trace issues
     * @return the node that issues it
     */
    uint32_t FindNode(uint32_t id) const;

    const Trace* trace;
    std::vector<uint32_t> pending;                          //!< per node: how many it depends on
    std::vector<uint32_t> nextBegin;                        //!< per node, into next
    std::vector<uint32_t> next;                             //!< nodes that depend on it
    std::vector<uint32_t> computes;                         //!< the COMPUTE nodes
    std::vector<std::pair<uint32_t, uint32_t>> collectives; //!< (id, node), sorted
};

} // namespace cosim

#endif // COSIM_TRACE_PLAN_H
