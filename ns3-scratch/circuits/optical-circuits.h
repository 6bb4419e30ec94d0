/*
 * SPDX-License-Identifier: GPL-2.0-only
 */

#ifndef COSIM_OPTICAL_CIRCUITS_H
#define COSIM_OPTICAL_CIRCUITS_H

#include "stream/stream.h"

#include <cstdint>
#include <vector>

namespace cosim
{

/// A link that an optical circuit switch makes, from one rank's transmitter to another's receiver.
struct Circuit
{
    uint32_t source;
    uint32_t target;

    bool operator==(const Circuit&) const = default;
};

/// What waits to be carried from one rank to another.
struct Demand
{
    Circuit pair;
    double bytes; //!< more than 0
};

/**
 * Choose the circuits of the next period: the greatest demand gets one, and what it still weighs
 * falls by the discount, until ports run out. Circuits go on to pairs without demand, in the order
 * of their numbers, until no rank with a free transmitter is left beside another with a free
 * receiver. With forwarding, the ends of circuits are then exchanged until every rank reaches every
 * other (see ReplaceTwoEdges).
 *
 * Source: W. Wang et al., "TopoOpt", NSDI 2023, Appendix E.4, Algorithm 5. It is the twin of
 * topology_gen.topoopt.reconfiguration: the same circuits in the same order for the same demand.
 *
 * @param ranks how many
 * @param degree ports of a rank, each a transmitter and a receiver
 * @param discount what further circuits of a pair are worth
 * @param forwarding ranks pass packets on
 * @param demand of different pairs of different ranks, ordered by pair; pairs without are left out
 * @return the circuits, in the order in which demand got them
 */
std::vector<Circuit> ChooseCircuits(uint32_t ranks,
                                    uint32_t degree,
                                    Discount discount,
                                    bool forwarding,
                                    const std::vector<Demand>& demand);

} // namespace cosim

#endif // COSIM_OPTICAL_CIRCUITS_H
