/*
 * SPDX-License-Identifier: GPL-2.0-only
 */

#include "stream-reader.h"

#include "stream-validator.h"
#include "wire-reader.h"

#include <stdexcept>
#include <string>
#include <utility>

namespace cosim
{

namespace
{

[[noreturn]] void
Refuse(const std::string& what)
{
    throw std::invalid_argument(what);
}

/**
 * Read the present field's enumerators, one or packed.
 *
 * @param reader stands at the field
 * @param values what they are appended to
 * @param last the last enumerator
 * @param what the field's name in an error text
 */
template <typename E>
void
AppendEnumerators(WireReader& reader, std::vector<E>& values, E last, const char* what)
{
    std::vector<uint32_t> numbers;
    reader.AppendTo(numbers);
    values.reserve(values.size() + numbers.size());
    for (const uint32_t number : numbers)
    {
        if (number > static_cast<uint32_t>(last))
        {
            Refuse(std::string(what) + " " + std::to_string(number) +
                   " is unknown; the last one known is " +
                   std::to_string(static_cast<uint32_t>(last)));
        }
        values.push_back(static_cast<E>(number));
    }
}

void
Decode(WireReader reader, StreamHeader& header)
{
    header.seed = 0; // what a proto3 writer leaves out is zero, not the default of the struct
    while (reader.NextField())
    {
        switch (reader.GetField())
        {
        case 1:
            header.version = reader.ReadUint32();
            break;
        case 2:
            header.producer = reader.ReadString();
            break;
        case 3:
            header.name = reader.ReadString();
            break;
        case 4:
            header.seed = reader.ReadUint64();
            break;
        case 5:
            header.scenarioJson = reader.ReadString();
            break;
        default:
            reader.Skip();
        }
    }
}

void
Decode(WireReader reader, TcpSettings& tcp)
{
    while (reader.NextField())
    {
        switch (reader.GetField())
        {
        case 1:
            tcp.congestionControl = reader.ReadString();
            break;
        case 2:
            tcp.mtuBytes = reader.ReadUint32();
            break;
        case 3:
            tcp.segmentBytes = reader.ReadUint32();
            break;
        case 4:
            tcp.sendBufferBytes = reader.ReadUint32();
            break;
        case 5:
            tcp.receiveBufferBytes = reader.ReadUint32();
            break;
        case 6:
            tcp.initialCwndSegments = reader.ReadUint32();
            break;
        case 7:
            tcp.minRtoPs = reader.ReadUint64();
            break;
        case 8:
            tcp.initialRtoPs = reader.ReadUint64();
            break;
        case 9:
            tcp.clockGranularityPs = reader.ReadUint64();
            break;
        case 10:
            tcp.delayedAckTimeoutPs = reader.ReadUint64();
            break;
        case 11:
            tcp.delayedAckSegments = reader.ReadUint32();
            break;
        case 12:
            tcp.dataRetries = reader.ReadUint32();
            break;
        case 13:
            tcp.sack = reader.ReadBool();
            break;
        case 14:
            tcp.timestamps = reader.ReadBool();
            break;
        case 15:
            tcp.windowScaling = reader.ReadBool();
            break;
        case 16:
            tcp.ecn = reader.ReadBool();
            break;
        case 17:
            tcp.linkHeaderBytes = reader.ReadUint32();
            break;
        default:
            reader.Skip();
        }
    }
}

void
Decode(WireReader reader, SystemSettings& system)
{
    while (reader.NextField())
    {
        switch (reader.GetField())
        {
        case 1: {
            std::vector<Scheduling> scheduling;
            AppendEnumerators(reader, scheduling, Scheduling::FIFO, "settings: scheduling");
            if (!scheduling.empty())
            {
                system.scheduling = scheduling.back();
            }
            break;
        }
        case 2:
            reader.AppendTo(system.concurrentChunks);
            break;
        case 3:
            system.injectionLatencyPs = reader.ReadUint64();
            break;
        case 4:
            system.reductionBytesPerS = reader.ReadUint64();
            break;
        default:
            reader.Skip();
        }
    }
}

void
Decode(WireReader reader, Settings& settings)
{
    settings.fabric.clear(); // zero, as above
    settings.tcp = {"", 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, false, false, false, false, 0};
    while (reader.NextField())
    {
        switch (reader.GetField())
        {
        case 1:
            settings.fabric = reader.ReadString();
            break;
        case 2:
            Decode(reader.ReadMessage(), settings.tcp);
            break;
        case 3:
            Decode(reader.ReadMessage(), settings.system);
            break;
        case 4:
            settings.rttSampleIntervalPs = reader.ReadUint64();
            break;
        case 5:
            settings.timeLimitPs = reader.ReadUint64();
            break;
        default:
            reader.Skip();
        }
    }
}

void
Decode(WireReader reader, Topology& topology)
{
    while (reader.NextField())
    {
        switch (reader.GetField())
        {
        case 1:
            topology.ranks = reader.ReadUint32();
            break;
        case 2:
            topology.nodes = reader.ReadUint32();
            break;
        case 3:
            reader.AppendTo(topology.dimensions);
            break;
        case 4:
            reader.AppendTo(topology.linkSource);
            break;
        case 5:
            reader.AppendTo(topology.linkTarget);
            break;
        case 6:
            reader.AppendTo(topology.linkRateBps);
            break;
        case 7:
            reader.AppendTo(topology.linkLatencyPs);
            break;
        case 8:
            reader.AppendTo(topology.linkBufferBytes);
            break;
        case 9:
            reader.AppendTo(topology.linkEcnThresholdBytes);
            break;
        case 10:
            reader.AppendTo(topology.linkDimension);
            break;
        case 11:
            reader.AppendTo(topology.pathSource);
            break;
        case 12:
            reader.AppendTo(topology.pathTarget);
            break;
        case 13:
            reader.AppendTo(topology.pathBegin);
            break;
        case 14:
            reader.AppendTo(topology.pathLinks);
            break;
        case 15:
            topology.forwardingDelayPs = reader.ReadUint64();
            break;
        default:
            reader.Skip();
        }
    }
}

void
Decode(WireReader reader, Program& program)
{
    while (reader.NextField())
    {
        switch (reader.GetField())
        {
        case 1:
            program.id = reader.ReadUint32();
            break;
        case 2:
            program.name = reader.ReadString();
            break;
        case 3:
            program.operation = reader.ReadString();
            break;
        case 4:
            program.groupSize = reader.ReadUint32();
            break;
        case 5:
            program.units = reader.ReadUint32();
            break;
        case 6:
            program.space = reader.ReadUint32();
            break;
        case 7:
            program.equalUnits = reader.ReadBool();
            break;
        case 8:
            reader.AppendTo(program.phaseDimension);
            break;
        case 9:
            reader.AppendTo(program.stepBegin);
            break;
        case 10:
            AppendEnumerators(reader, program.op, StepOp::REDUCE, "program: op");
            break;
        case 11:
            reader.AppendTo(program.phase);
            break;
        case 12:
            reader.AppendTo(program.peer);
            break;
        case 13:
            reader.AppendTo(program.offset);
            break;
        case 14:
            reader.AppendTo(program.count);
            break;
        case 15:
            reader.AppendTo(program.target);
            break;
        case 16:
            reader.AppendTo(program.depBegin);
            break;
        case 17:
            reader.AppendTo(program.dep);
            break;
        default:
            reader.Skip();
        }
    }
}

void
Decode(WireReader reader, Collective& collective)
{
    collective.chunks = 0;
    while (reader.NextField())
    {
        switch (reader.GetField())
        {
        case 1:
            collective.id = reader.ReadUint32();
            break;
        case 2:
            collective.name = reader.ReadString();
            break;
        case 3:
            collective.program = reader.ReadUint32();
            break;
        case 4:
            reader.AppendTo(collective.ranks);
            break;
        case 5:
            collective.bytes = reader.ReadUint64();
            break;
        case 6:
            collective.chunks = reader.ReadUint32();
            break;
        case 7:
            collective.priorityClass = reader.ReadUint32();
            break;
        case 8:
            collective.iteration = reader.ReadUint32();
            break;
        case 9:
            collective.layer = reader.ReadUint32();
            break;
        default:
            reader.Skip();
        }
    }
}

void
Decode(WireReader reader, Trace& trace)
{
    while (reader.NextField())
    {
        switch (reader.GetField())
        {
        case 1:
            reader.AppendTo(trace.ranks);
            break;
        case 2:
            reader.AppendTo(trace.layers);
            break;
        case 3:
            reader.AppendTo(trace.names);
            break;
        case 4:
            AppendEnumerators(reader, trace.type, NodeType::RECV, "trace: node type");
            break;
        case 5:
            reader.AppendTo(trace.layer);
            break;
        case 6:
            reader.AppendTo(trace.iteration);
            break;
        case 7:
            reader.AppendTo(trace.durationPs);
            break;
        case 8:
            reader.AppendTo(trace.collective);
            break;
        case 9:
            reader.AppendTo(trace.peer);
            break;
        case 10:
            reader.AppendTo(trace.bytes);
            break;
        case 11:
            reader.AppendTo(trace.tag);
            break;
        case 12:
            reader.AppendTo(trace.depBegin);
            break;
        case 13:
            reader.AppendTo(trace.dep);
            break;
        default:
            reader.Skip();
        }
    }
}

/// Collects the records of one stream and refuses an order that the format does not have.
class Collector
{
  public:
    /// @param record one record
    void Add(WireReader record)
    {
        while (record.NextField())
        {
            const uint32_t kind = record.GetField();
            if (kind == 0 || kind > 6)
            {
                record.Skip();
                continue;
            }
            if (!m_hasHeader && kind != 1)
            {
                Refuse("the stream does not start with a header record: it is no cosim stream");
            }
            Add(kind, record.ReadMessage());
        }
    }

    /// @return the whole stream
    Stream Finish()
    {
        if (!m_hasHeader || !m_hasSettings || !m_hasTopology)
        {
            Refuse(std::string("the stream has no ") +
                   (!m_hasHeader     ? "header"
                    : !m_hasSettings ? "settings"
                                     : "topology") +
                   " record");
        }
        return std::move(m_stream);
    }

  private:
    void Add(uint32_t kind, WireReader message)
    {
        switch (kind)
        {
        case 1:
            Once(m_hasHeader, "header");
            Decode(message, m_stream.header);
            if (m_stream.header.version != STREAM_VERSION)
            {
                Refuse("the stream has version " + std::to_string(m_stream.header.version) +
                       ", but this build reads version " + std::to_string(STREAM_VERSION));
            }
            break;
        case 2:
            Once(m_hasSettings, "settings");
            Decode(message, m_stream.settings);
            break;
        case 3:
            Once(m_hasTopology, "topology");
            Decode(message, m_stream.topology);
            break;
        case 4:
            Decode(message, m_stream.programs.emplace_back());
            CheckId("program", m_stream.programs.back().id, m_stream.programs.size());
            break;
        case 5:
            Decode(message, m_stream.collectives.emplace_back());
            CheckId("collective", m_stream.collectives.back().id, m_stream.collectives.size());
            break;
        default:
            Decode(message, m_stream.traces.emplace_back());
        }
    }

    static void Once(bool& seen, const char* kind)
    {
        if (seen)
        {
            Refuse(std::string("the stream has a second ") + kind + " record");
        }
        seen = true;
    }

    static void CheckId(const char* kind, uint32_t id, std::size_t count)
    {
        if (id != count - 1)
        {
            Refuse(std::string("the stream's ") + kind + " " + std::to_string(count - 1) +
                   " has id " + std::to_string(id) + ", but ids count from 0 without gaps");
        }
    }

    Stream m_stream;
    bool m_hasHeader{false};
    bool m_hasSettings{false};
    bool m_hasTopology{false};
};

} // namespace

Stream
ReadStream(const void* data, std::size_t size)
{
    const auto* begin = static_cast<const uint8_t*>(data);
    WireReader reader(begin, begin + size, begin);
    Collector collector;
    while (!reader.IsAtEnd())
    {
        collector.Add(reader.ReadSlice(reader.ReadVarint()));
    }
    Stream stream = collector.Finish();
    ValidateStream(stream);
    return stream;
}

} // namespace cosim
