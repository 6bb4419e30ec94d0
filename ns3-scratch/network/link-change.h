/*
 * SPDX-License-Identifier: GPL-2.0-only
 */

#ifndef COSIM_LINK_CHANGE_H
#define COSIM_LINK_CHANGE_H

#include <cstdint>

namespace cosim
{

/// One change of the links during a run.
struct LinkChange
{
    uint64_t timePs;       //!< when the demand was measured, and the pause began
    uint32_t newCircuits;  //!< that were not there before
    uint32_t demandPairs;  //!< with something to carry
    uint32_t distantPairs; //!< of these, without a circuit of their own afterwards
    uint64_t demandBytes;  //!< handed to the network and not yet delivered
};

} // namespace cosim

#endif // COSIM_LINK_CHANGE_H
