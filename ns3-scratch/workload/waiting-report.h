/*
 * SPDX-License-Identifier: GPL-2.0-only
 */

#ifndef COSIM_WAITING_REPORT_H
#define COSIM_WAITING_REPORT_H

#include "system/collective-engine.h"
#include "workload/trace-workers.h"

#include <string>
#include <vector>

namespace cosim
{

/**
 * Say which ranks wait, and what the first of them wait for.
 *
 * @param workers all ranks that have work
 * @param engine knows how far the collectives are
 * @return a sentence
 */
std::string DescribeWaiting(const std::vector<TraceWorker>& workers,
                            const CollectiveEngine& engine);

} // namespace cosim

#endif // COSIM_WAITING_REPORT_H
