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
 * Exchange the ends of circuits until every rank reaches every other.
 *
 * Two circuits a→b and c→d of separate parts become a→d and c→b, which leaves the ports of every
 * rank as they are. Where as many circuits enter every rank as leave it, each of them lies on a
 * cycle, so that the exchange makes one cycle of two, and one part. One circuit of each part is
 * exchanged, that with the least demand. A rank without any is put in the middle of the circuit
 * with the least demand.
 *
 * Source: X. Jin et al., "Optimizing bulk transfers with software-defined optical WAN" (Owan),
 * SIGCOMM 2016. It is the twin of topology_gen.topoopt.edge_exchange.
 *
 * @param ranks how many
 * @param demand ordered by pair; parallel circuits share it
 * @param circuits as many leave every rank as enter it; they keep their places
 */
void ReplaceTwoEdges(uint32_t ranks,
                     const std::vector<Demand>& demand,
                     std::vector<Circuit>& circuits);

} // namespace cosim

#endif // COSIM_TWO_EDGE_REPLACEMENT_H
