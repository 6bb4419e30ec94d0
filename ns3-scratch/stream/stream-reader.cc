/*
 * SPDX-License-Identifier: GPL-2.0-only
 */

#include "stream/stream-reader.h"

#include "stream/stream-fields.h"
#include "stream/stream-validator.h"
#include "stream/wire-reader.h"

#include <stdexcept>
#include <string>
#include <tuple>
#include <type_traits>
#include <utility>
#include <vector>

namespace cosim
{

namespace
{

[[noreturn]] void
Refuse(const std::string& what)
{
    throw std::invalid_argument(what);
}

/// The properties of an enumeration that an error message needs.
struct Enumeration
{
    uint32_t last; //!< largest valid value
    const char* name;
};

constexpr Enumeration
Describe(Scheduling /* type */)
{
    return {static_cast<uint32_t>(Scheduling::FIFO), "scheduling"};
}

constexpr Enumeration
Describe(LossRecovery /* type */)
{
    return {static_cast<uint32_t>(LossRecovery::CLASSIC), "recovery"};
}

constexpr Enumeration
Describe(AdmissionKind /* type */)
{
    return {static_cast<uint32_t>(AdmissionKind::LOCAL), "admission"};
}

constexpr Enumeration
Describe(ChunkOrder /* type */)
{
    return {static_cast<uint32_t>(ChunkOrder::ARRIVAL), "chunk order"};
}

constexpr Enumeration
Describe(Discount /* type */)
{
    return {static_cast<uint32_t>(Discount::NONE), "discount"};
}

constexpr Enumeration
Describe(StepOp /* type */)
{
    return {static_cast<uint32_t>(StepOp::REDUCE), "step operation"};
}

constexpr Enumeration
Describe(NodeType /* type */)
{
    return {static_cast<uint32_t>(NodeType::TIMER), "node type"};
}

constexpr Enumeration
Describe(EventKind /* type */)
{
    return {static_cast<uint32_t>(EventKind::COMPUTE), "kind of event"};
}

constexpr Enumeration
Describe(RepeatMode /* type */)
{
    return {static_cast<uint32_t>(RepeatMode::APPROXIMATE), "mode of repetition"};
}

constexpr Enumeration
Describe(PathSpread /* type */)
{
    return {static_cast<uint32_t>(PathSpread::FLOWLET), "spread"};
}

// Each Read function reads the current field into a struct member. The function for a message calls
// Read for each field of the message.

void
Read(WireReader& reader, uint32_t& value)
{
    value = reader.ReadUint32();
}

void
Read(WireReader& reader, uint64_t& value)
{
    value = reader.ReadUint64();
}

void
Read(WireReader& reader, bool& value)
{
    value = reader.ReadBool();
}

void
Read(WireReader& reader, std::string& value)
{
    value = reader.ReadString();
}

template <typename T>
    requires(!std::is_enum_v<T> && !HasFields<T>)
void
Read(WireReader& reader, std::vector<T>& values)
{
    reader.AppendTo(values);
}

template <typename E>
    requires std::is_enum_v<E>
void
Read(WireReader& reader, std::vector<E>& values)
{
    constexpr Enumeration type = Describe(E{});
    std::vector<uint32_t> numbers;
    reader.AppendTo(numbers);
    values.reserve(values.size() + numbers.size());
    for (const uint32_t number : numbers)
    {
        if (number > type.last)
        {
            Refuse(std::string(type.name) + " " + std::to_string(number) +
                   " is unknown; the largest known value is " + std::to_string(type.last));
        }
        values.push_back(static_cast<E>(number));
    }
}

template <typename E>
    requires std::is_enum_v<E>
void
Read(WireReader& reader, E& value)
{
    std::vector<E> values;
    Read(reader, values);
    if (!values.empty())
    {
        value = values.back();
    }
}

/// Read one message of a list.
template <HasFields T>
void Read(WireReader& reader, std::vector<T>& messages);

/**
 * Read a message. Members whose field the writer left out keep their value; see ReadRecord.
 *
 * @param reader reader at the field that holds the message
 * @param message receives the fields
 */
template <HasFields T>
void
Read(WireReader& reader, T& message)
{
    WireReader fields = reader.ReadMessage();
    uint32_t number = 0;
    const auto readIfNext = [&fields, &message, &number](auto member) {
        if constexpr (std::is_same_v<decltype(member), From>)
        {
            number = member.number - 1;
            return false;
        }
        else
        {
            return ++number == fields.GetField() && (Read(fields, message.*member), true);
        }
    };
    const auto readField = [&readIfNext, &number](auto... members) {
        number = 0;
        return (readIfNext(members) || ...);
    };
    while (fields.NextField())
    {
        if (!std::apply(readField, FIELDS<T>))
        {
            fields.Skip();
        }
    }
}

template <HasFields T>
void
Read(WireReader& reader, std::vector<T>& messages)
{
    Read(reader, messages.emplace_back());
}

/// Set all members of a message to zero or empty.
template <typename T>
void
Clear(T& value)
{
    if constexpr (HasFields<T>)
    {
        const auto clear = [&value](auto member) {
            if constexpr (!std::is_same_v<decltype(member), From>)
            {
                Clear(value.*member);
            }
        };
        std::apply([&clear](auto... members) { (clear(members), ...); }, FIELDS<T>);
    }
    else
    {
        value = T{};
    }
}

/**
 * Read a record. A proto3 writer leaves out fields that are zero, so the record is cleared first:
 * the defaults of the struct must not apply.
 */
template <HasFields T>
void
ReadRecord(WireReader& reader, T& record)
{
    Clear(record);
    Read(reader, record);
}

/// Collects the records of a stream and rejects an invalid order of records.
class Collector
{
  public:
    /// @param record the next record
    void Add(WireReader record)
    {
        while (record.NextField())
        {
            const uint32_t kind = record.GetField();
            if (kind > 6)
            {
                record.Skip();
                continue;
            }
            if (!m_hasHeader && kind != 1)
            {
                Refuse("the stream does not start with a header record: it is not a cosim stream");
            }
            Add(kind, record);
        }
    }

    /// @return the complete stream
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
    void Add(uint32_t kind, WireReader& record)
    {
        switch (kind)
        {
        case 1:
            Once(m_hasHeader, "header");
            ReadRecord(record, m_stream.header);
            if (m_stream.header.version != STREAM_VERSION)
            {
                Refuse("the stream has version " + std::to_string(m_stream.header.version) +
                       ", but this build reads version " + std::to_string(STREAM_VERSION));
            }
            break;
        case 2:
            Once(m_hasSettings, "settings");
            ReadRecord(record, m_stream.settings);
            break;
        case 3:
            Once(m_hasTopology, "topology");
            ReadRecord(record, m_stream.topology);
            break;
        case 4:
            ReadRecord(record, m_stream.programs.emplace_back());
            CheckId("program", m_stream.programs.back().id, m_stream.programs.size());
            break;
        case 5:
            ReadRecord(record, m_stream.collectives.emplace_back());
            CheckId("collective", m_stream.collectives.back().id, m_stream.collectives.size());
            break;
        default:
            ReadRecord(record, m_stream.traces.emplace_back());
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
