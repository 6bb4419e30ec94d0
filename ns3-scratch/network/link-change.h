/*
 * SPDX-License-Identifier: GPL-2.0-only
 */

#ifndef COSIM_LINK_CHANGE_H
#define COSIM_LINK_CHANGE_H

#include <cstdint>
#include <string>

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

/// Report of an event of the scenario, or of the paths following it.
struct NetworkEventReport
{
    uint64_t timePs;        //!< [ps]
    std::string text;       //!< what happens, as people read it
    bool isReroute;         //!< false: the event happens; true: paths follow it
    uint32_t reroutedPaths; //!< paths that have changed now
    uint32_t brokenPaths;   //!< paths that use a link that is down, or have no links, afterwards
};

} // namespace cosim

#endif // COSIM_LINK_CHANGE_H
