/*
 * SPDX-License-Identifier: GPL-2.0-only
 */

#include "results/path-writer.h"

#include <string>

namespace cosim
{

namespace
{

void
WriteTimes(JsonWriter& json, const PathTimes& times)
{
    json.Key("times").BeginObject();
    for (std::size_t kind = 0; kind < times.size(); ++kind)
    {
        json.Key(std::string(PATH_KINDS[kind]) + "_ns").Nanoseconds(times[kind]);
    }
    json.EndObject();
}

void
WriteStep(JsonWriter& json, const Stream& stream, const PathStep& step)
{
    const bool isCollective = step.label.trace == nullptr;
    const uint32_t id = step.label.id;
    json.BeginObject();
    if (isCollective)
    {
        const Collective& collective = stream.collectives[id];
        json.Key("name").String(collective.name);
        json.Key("kind").String("collective");
        json.Key("layer").String(
            stream.traces.empty() ? "" : stream.traces.front().layers[collective.layer]);
    }
    else
    {
        const Trace& trace = *step.label.trace;
        const NodeType type = trace.type[id];
        json.Key("name").String(trace.names[id]);
        json.Key("kind").String(type == NodeType::COMPUTE ? "compute"
                                : type == NodeType::TIMER ? "timer"
                                                          : "message");
        json.Key("layer").String(trace.layers[trace.layer[id]]);
    }
    json.Key("start_ns").Nanoseconds(step.startPs);
    json.Key("end_ns").Nanoseconds(step.endPs);
    json.Key("first_rank").Uint(step.firstRank);
    json.Key("last_rank").Uint(step.lastRank);
    WriteTimes(json, step.times);
    json.EndObject();
}

} // namespace

void
WritePaths(JsonWriter& json, const Stream& stream, const PathRecord& record)
{
    json.Key("critical_path").BeginArray();
    uint64_t index = 0;
    for (const IterationPath& path : record.GetPaths())
    {
        json.BeginObject();
        json.Key("iteration").Uint(index++);
        json.Key("start_ns").Nanoseconds(path.startPs);
        json.Key("end_ns").Nanoseconds(path.endPs);
        json.Key("time_ns").Nanoseconds(path.endPs - path.startPs);
        WriteTimes(json, path.times);
        json.Key("steps").BeginArray();
        for (const PathStep& step : path.steps)
        {
            WriteStep(json, stream, step);
        }
        json.EndArray();
        json.Key("steps_left_out").Uint(path.othersLeftOut);
        json.EndObject();
    }
    json.EndArray();
}

} // namespace cosim
