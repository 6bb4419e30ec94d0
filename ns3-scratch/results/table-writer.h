/*
 * SPDX-License-Identifier: GPL-2.0-only
 */

#ifndef COSIM_TABLE_WRITER_H
#define COSIM_TABLE_WRITER_H

#include "network/fabric.h"
#include "results/run-record.h"
#include "stream/stream.h"

#include <string>

namespace cosim
{

/// The tables of a run as CSV text: a line with the names of the columns, then a line per row.
struct ResultTables
{
    std::string links; //!< a row per directed link
    std::string flows; //!< a row per flow that delivered a message
    std::string fct;   //!< a row per quantile of the completion times of the messages
    /// a row per time for which a port was paused; empty if no switch pauses
    std::string pauses;
};

/// The largest number of rows of a table. A table with more candidates has the most telling ones.
constexpr uint32_t MAX_TABLE_ROWS = 100'000;

/**
 * Write the tables of a run.
 *
 * A table of links with too many candidates has the links that carried most bytes. A table of flows
 * has the flows whose messages were delayed most compared with an empty network.
 *
 * @param topology links and paths at the start of the run
 * @param fabric the fabric of the run
 * @param pauses the pauses of the run
 * @param endPs end of the run [ps]
 * @return the tables
 */
ResultTables WriteTables(const Topology& topology,
                         const Fabric& fabric,
                         const PauseRecord& pauses,
                         uint64_t endPs);

} // namespace cosim

#endif // COSIM_TABLE_WRITER_H
