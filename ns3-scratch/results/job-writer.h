/*
 * SPDX-License-Identifier: GPL-2.0-only
 */

#ifndef COSIM_JOB_WRITER_H
#define COSIM_JOB_WRITER_H

#include "results/job-record.h"
#include "support/json-writer.h"

#include <vector>

namespace cosim
{

/**
 * Write the jobs that have started, with their iterations that have ended, and the mean and the
 * percentiles of all of these iterations' times: the least time that so many of them do not exceed.
 *
 * @param json where to, inside an object
 * @param jobs the jobs
 */
void WriteJobs(JsonWriter& json, const std::vector<JobRecord::Job>& jobs);

} // namespace cosim

#endif // COSIM_JOB_WRITER_H
