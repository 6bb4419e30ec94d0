/*
 * SPDX-License-Identifier: GPL-2.0-only
 */

#ifndef COSIM_EXPOSED_TIME_H
#define COSIM_EXPOSED_TIME_H

#include "results/timing-record.h"
#include "workload/trace-workers.h"

#include <cstdint>

namespace cosim
{

/**
 * Record a wait of a rank's compute stream as exposed communication.
 *
 * While the compute stream has to wait, the time from its last COMPUTE node to the end of the
 * collective or receive that it waited for is exposed communication, and counts for the layer and
 * the iteration of the dependency that finished last. Where that one was started during the wait,
 * the time before its start counts for the one that it waited for in turn, and so on. The wait
 * after a rank's last COMPUTE node is counted likewise.
 *
 * @param worker the rank, idle since its last COMPUTE node
 * @param now when the wait ended [ps]
 * @param last the node that it waited for, or NONE
 * @param timing where the time is counted
 */
void RecordExposed(const TraceWorker& worker, uint64_t now, uint32_t last, TimingRecord& timing);

} // namespace cosim

#endif // COSIM_EXPOSED_TIME_H
