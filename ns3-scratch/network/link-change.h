/*
 * SPDX-License-Identifier: GPL-2.0-only
 */

#ifndef COSIM_LINK_CHANGE_H
#define COSIM_LINK_CHANGE_H

#include "support/fields.h"

#include <cstdint>
#include <string>
#include <tuple>

namespace cosim
{

/// Report of one reconfiguration of the links during a run.
struct LinkChange
{
    uint64_t timePs;       //!< time at which the demand was measured and the pause began [ps]
    uint32_t newCircuits;  //!< number of circuits that did not exist before
    uint32_t demandPairs;  //!< number of pairs of ranks with demand
    uint32_t distantPairs; //!< number of these pairs that have no direct circuit afterwards
    uint64_t demandBytes;  //!< bytes that were handed to the network and are not delivered yet
};

/// Its time is not listed: each kind of file names it in its own way.
template <>
inline constexpr auto FIELDS<LinkChange> =
    std::make_tuple(Field{"new_circuits", &LinkChange::newCircuits},
                    Field{"demand_bytes", &LinkChange::demandBytes},
                    Field{"demand_pairs", &LinkChange::demandPairs},
                    Field{"distant_pairs", &LinkChange::distantPairs});

/// Report of an event of the scenario, or of the paths following it.
struct NetworkEventReport
{
    uint64_t timePs;        //!< [ps]
    std::string text;       //!< what happens, as people read it
    bool isReroute;         //!< false: the event happens; true: paths follow it
    uint32_t reroutedPaths; //!< paths that have changed now
    uint32_t brokenPaths;   //!< paths that use a link that is down, or have no links, afterwards
};

template <>
inline constexpr auto FIELDS<NetworkEventReport> =
    std::make_tuple(Field{"time_ns", &NetworkEventReport::timePs},
                    Field{"event", &NetworkEventReport::text},
                    Field{"rerouting", &NetworkEventReport::isReroute},
                    Field{"rerouted_paths", &NetworkEventReport::reroutedPaths},
                    Field{"broken_paths", &NetworkEventReport::brokenPaths});

} // namespace cosim

#endif // COSIM_LINK_CHANGE_H
