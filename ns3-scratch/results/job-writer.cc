/*
 * SPDX-License-Identifier: GPL-2.0-only
 */

#include "results/job-writer.h"

#include "support/quantile.h"

#include <algorithm>
#include <cstdint>

namespace cosim
{

namespace
{

/// @return the times of the ended iterations of a job, in order [ps]
std::vector<uint64_t>
WriteJob(JsonWriter& json, const JobRecord::Job& job)
{
    std::vector<uint64_t> times;
    uint64_t start = job.start;
    json.BeginObject();
    json.Key("name").String(job.name);
    json.Key("start_ns").Nanoseconds(job.start);
    json.Key("iterations").BeginArray();
    for (const JobRecord::Iteration& iteration : job.iterations)
    {
        if (iteration.nodesLeft != 0)
        {
            break;
        }
        const uint64_t end = std::max(start, iteration.end);
        json.BeginObject();
        json.Key("index").Uint(times.size());
        json.Key("start_ns").Nanoseconds(start);
        json.Key("end_ns").Nanoseconds(end);
        json.Key("time_ns").Nanoseconds(end - start);
        json.EndObject();
        times.push_back(end - start);
        start = end;
    }
    json.EndArray();
    json.EndObject();
    return times;
}

} // namespace

void
WriteJobs(JsonWriter& json, const std::vector<JobRecord::Job>& jobs)
{
    std::vector<uint64_t> times;
    json.Key("jobs").BeginArray();
    for (const JobRecord::Job& job : jobs)
    {
        if (job.start != JobRecord::Job::UNKNOWN)
        {
            const std::vector<uint64_t> ofJob = WriteJob(json, job);
            times.insert(times.end(), ofJob.begin(), ofJob.end());
        }
    }
    json.EndArray();
    if (times.empty())
    {
        return;
    }
    std::sort(times.begin(), times.end());
    uint64_t sum = 0;
    for (const uint64_t time : times)
    {
        sum += time;
    }
    json.Key("iteration_times").BeginObject();
    json.Key("count").Uint(times.size());
    json.Key("mean_ns").Nanoseconds((sum + times.size() / 2) / times.size());
    json.Key("p50_ns").Nanoseconds(GetQuantile(times, 0.5));
    json.Key("p99_ns").Nanoseconds(GetQuantile(times, 0.99));
    json.Key("max_ns").Nanoseconds(times.back());
    json.EndObject();
}

} // namespace cosim
