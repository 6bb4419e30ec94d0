/*
 * SPDX-License-Identifier: GPL-2.0-only
 */

#ifndef COSIM_TRACE_PLACE_H
#define COSIM_TRACE_PLACE_H

#include "network/network-api.h"

#include <compare>
#include <cstdint>

namespace cosim
{

/// The place of a message or a reduction in the traces of all ranks. Unrolling a collective into
/// messages keeps the order of these places.
struct TracePlace
{
    Rank rank;
    uint32_t node;     //!< the node of the rank's trace
    uint32_t chunk{0}; //!< COLLECTIVE: the chunk of the collective
    uint32_t step{0};  //!< COLLECTIVE: the step of the program

    auto operator<=>(const TracePlace&) const = default;
};

} // namespace cosim

#endif // COSIM_TRACE_PLACE_H
