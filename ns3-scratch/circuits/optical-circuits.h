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

/**
 * A circuit of an optical circuit switch, from the transmitter of one rank to the receiver of
 * another.
 */
struct Circuit
{
    uint32_t source;
    uint32_t target;

    bool operator==(const Circuit&) const = default;
};

/// The demand of a pair of ranks.
struct Demand
{
    Circuit pair;
    double bytes; //!< bytes that wait to be carried; more than 0
};

/**
 * Choose the circuits of the next period.
 *
 * The pair with the largest demand gets a circuit, and its remaining weight falls by the discount.
 * This repeats until no pair with demand has free ports. Then the free transmitters, in the order
 * of their ranks, are linked to the free receivers of the ranks in descending order, again and
 * again. Without demand this is the generalized Kautz digraph. With forwarding, ends of circuits
 * are then exchanged until every rank reaches every other rank (see ReplaceTwoEdges).
 *
 * Source: W. Wang et al., "TopoOpt", NSDI 2023, Appendix E.4, Algorithm 5.
 * topology_gen.topoopt.reconfiguration implements the same algorithm in Python: for the same
 * demand, both must return the same circuits in the same order.
 *
 * @param ranks number of ranks
 * @param degree ports per rank; each port has a transmitter and a receiver
 * @param discount how the weight of a pair falls with each further circuit
 * @param forwarding true if ranks forward packets
 * @param demand one entry per pair of different ranks with demand, ordered by pair
 * @return the circuits in the order in which they were assigned
 */
std::vector<Circuit> ChooseCircuits(uint32_t ranks,
                                    uint32_t degree,
                                    Discount discount,
                                    bool forwarding,
                                    const std::vector<Demand>& demand);

} // namespace cosim

#endif // COSIM_OPTICAL_CIRCUITS_H
