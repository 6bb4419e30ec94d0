/*
 * SPDX-License-Identifier: GPL-2.0-only
 */

#ifndef COSIM_WAITING_REPORT_H
#define COSIM_WAITING_REPORT_H

#include "system/collective-engine.h"
#include "workload/trace-workers.h"

#include <cstdint>
#include <string>
#include <vector>

namespace cosim
{

/**
 * Describe which ranks wait, and what the first of them wait for.
 *
 * @param workers the workers of all ranks that have a trace
 * @param engine supplies the progress of the collectives
 * @param details for how many ranks to say what they wait for
 * @return a sentence
 */
std::string DescribeWaiting(const std::vector<TraceWorker>& workers,
                            const CollectiveEngine& engine,
                            uint32_t details);

} // namespace cosim

#endif // COSIM_WAITING_REPORT_H
