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
 * Write the jobs that have started as JSON.
 *
 * Each job has its ended iterations. A summary has the mean and the percentiles of the times of all
 * these iterations. A percentile is the smallest time that this share of the iterations does not
 * exceed.
 *
 * @param json the writer; must be inside an object
 * @param jobs the jobs
 */
void WriteJobs(JsonWriter& json, const std::vector<JobRecord::Job>& jobs);

} // namespace cosim

#endif // COSIM_JOB_WRITER_H
