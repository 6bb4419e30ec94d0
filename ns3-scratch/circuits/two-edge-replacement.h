/*
 * SPDX-License-Identifier: GPL-2.0-only
 */

#ifndef COSIM_TWO_EDGE_REPLACEMENT_H
#define COSIM_TWO_EDGE_REPLACEMENT_H

#include "circuits/optical-circuits.h"

#include <cstdint>
#include <vector>

namespace cosim
{

/**
 * Exchange the ends of circuits until every rank reaches every other rank.
 *
 * Take two circuits a→b and c→d of separate parts of the graph. They become a→d and c→b, which
 * leaves the number of used ports at every rank unchanged. If as many circuits enter each rank as
 * leave it, every circuit lies on a cycle. The exchange then joins two cycles into one, and so
 * joins the parts. One circuit of each part is exchanged: the one with the least demand. A rank
 * without circuits is inserted into the circuit with the least demand.
 *
 * Source: X. Jin et al., "Optimizing bulk transfers with software-defined optical WAN" (Owan),
 * SIGCOMM 2016. topology_gen.topoopt.reconfiguration implements the same algorithm in Python, and
 * both must return the same circuits.
 *
 * @param ranks number of ranks
 * @param demand demand ordered by pair; parallel circuits share it
 * @param circuits circuits to change in place; as many must leave each rank as enter it
 */
void ReplaceTwoEdges(uint32_t ranks,
                     const std::vector<Demand>& demand,
                     std::vector<Circuit>& circuits);

} // namespace cosim

#endif // COSIM_TWO_EDGE_REPLACEMENT_H
