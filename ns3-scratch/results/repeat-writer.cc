/*
 * SPDX-License-Identifier: GPL-2.0-only
 */

#include "results/repeat-writer.h"

#include <algorithm>
#include <cmath>

namespace cosim
{

void
WriteRepeat(JsonWriter& json, const RepeatRecord& record)
{
    uint32_t simulated = record.iterations;
    json.Key("repeat").BeginObject();
    json.Key("mode").String(record.isExact ? "exact" : "approximate");
    json.Key("skipped").BeginArray();
    for (const RepeatRecord::Skip& skip : record.skips)
    {
        simulated -= skip.iterations;
        json.BeginObject();
        json.Key("after").Uint(skip.after);
        json.Key("iterations").Uint(skip.iterations);
        json.Key("period").Uint(skip.period);
        json.EndObject();
    }
    json.EndArray();
    json.Key("simulated_iterations").Uint(simulated);
    double largest = 0;
    json.Key("checks").BeginArray();
    for (const RepeatRecord::Check& check : record.checks)
    {
        const auto expected = static_cast<double>(check.expectedPs);
        const double error = (static_cast<double>(check.timePs) - expected) / expected;
        largest = std::max(largest, std::abs(error));
        json.BeginObject();
        json.Key("iteration").Uint(check.iteration);
        json.Key("time_ns").Nanoseconds(check.timePs);
        json.Key("expected_ns").Nanoseconds(check.expectedPs);
        json.EndObject();
    }
    json.EndArray();
    json.Key("largest_error").Double(largest);
    json.Key("note").String(record.note);
    json.EndObject();
}

} // namespace cosim
