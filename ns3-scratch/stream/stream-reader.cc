/*
 * SPDX-License-Identifier: GPL-2.0-only
 */

#include "stream/stream-reader.h"

#include "stream/stream-fields.h"
#include "stream/stream-validator.h"
#include "stream/wire-reader.h"

#include <string>
#include <string_view>
#include <tuple>
#include <type_traits>
#include <utility>
#include <vector>

namespace cosim
{

namespace
{

/// The largest value and the name of an enumeration.
struct Enumeration
{
    uint32_t last; //!< largest valid value
    std::string_view name;

    constexpr Enumeration(auto largest, std::string_view itsName)
        : last(static_cast<uint32_t>(largest)),
          name(itsName)
    {
    }
};

/// The properties of an enumeration that an error message needs.
template <typename E>
constexpr Enumeration ENUMERATION{0, ""};

template <>
constexpr Enumeration ENUMERATION<Scheduling>{Scheduling::FIFO, "scheduling"};

template <>
constexpr Enumeration ENUMERATION<LossRecovery>{LossRecovery::CLASSIC, "recovery"};

template <>
constexpr Enumeration ENUMERATION<RoceRecovery>{RoceRecovery::SELECTIVE_REPEAT, "recovery"};

template <>
constexpr Enumeration ENUMERATION<AdmissionKind>{AdmissionKind::LOCAL, "admission"};

template <>
constexpr Enumeration ENUMERATION<ChunkOrder>{ChunkOrder::ARRIVAL, "chunk order"};

template <>
constexpr Enumeration ENUMERATION<Discount>{Discount::NONE, "discount"};

template <>
constexpr Enumeration ENUMERATION<StepOp>{StepOp::REDUCE, "step operation"};

template <>
constexpr Enumeration ENUMERATION<NodeType>{NodeType::TIMER, "node type"};

template <>
constexpr Enumeration ENUMERATION<EventKind>{EventKind::JOB_FAILURE, "kind of event"};

template <>
constexpr Enumeration ENUMERATION<PathSpread>{PathSpread::FLOWLET, "spread"};

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
    std::vector<uint32_t> numbers;
    reader.AppendTo(numbers);
    values.reserve(values.size() + numbers.size());
    for (const uint32_t number : numbers)
    {
        Require(number <= ENUMERATION<E>.last,
                "{} {} is unknown; the largest known value is {}",
                {ENUMERATION<E>.name, number, ENUMERATION<E>.last});
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
    const auto readIfNext = [&fields, &message, &number](const auto& field) {
        if constexpr (std::is_same_v<decltype(field), const From&>)
        {
            number = field.number - 1;
            return false;
        }
        else
        {
            return ++number == fields.GetField() && (Read(fields, message.*GetMember(field)), true);
        }
    };
    const auto readField = [&readIfNext, &number](const auto&... row) {
        number = 0;
        return (readIfNext(row) || ...);
    };
    while (fields.NextField())
    {
        if (!std::apply(readField, FIELDS<T>))
        {
            fields.Skip();
        }
    }
}

/// Set all members of a message to zero or empty.
template <typename T>
void
Clear(T& value)
{
    if constexpr (HasFields<T>)
    {
        const auto clear = [&value](const auto& field) {
            if constexpr (!std::is_same_v<decltype(field), const From&>)
            {
                Clear(value.*GetMember(field));
            }
        };
        std::apply([&clear](const auto&... field) { (clear(field), ...); }, FIELDS<T>);
    }
    else
    {
        value = T{};
    }
}

/**
 * Read a record, or a message of a list. A proto3 writer leaves out fields that are zero, so it is
 * cleared first: the defaults of the struct must not apply.
 */
template <HasFields T>
void
ReadRecord(WireReader& reader, T& record)
{
    Clear(record);
    Read(reader, record);
}

template <HasFields T>
void
Read(WireReader& reader, std::vector<T>& messages)
{
    ReadRecord(reader, messages.emplace_back());
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
            Require(m_hasHeader || kind == 1,
                    "the stream does not start with a header record: it is not a cosim stream");
            Add(kind, record);
        }
    }

    /// @return the complete stream
    Stream Finish()
    {
        Require(m_hasHeader, "the stream has no header record");
        Require(m_hasSettings, "the stream has no settings record");
        Require(m_hasTopology, "the stream has no topology record");
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
            Require(m_stream.header.version == STREAM_VERSION,
                    "the stream has version {}, but this build reads version {}",
                    {m_stream.header.version, STREAM_VERSION});
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
        Require(!seen, "the stream has a second {} record", {kind});
        seen = true;
    }

    static void CheckId(const char* kind, uint32_t id, std::size_t count)
    {
        Require(id == count - 1,
                "the stream's {} {} has id {}, but ids count from 0 without gaps",
                {kind, count - 1, id});
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
