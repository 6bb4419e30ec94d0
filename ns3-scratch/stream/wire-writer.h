/*
 * SPDX-License-Identifier: GPL-2.0-only
 */

#ifndef COSIM_WIRE_WRITER_H
#define COSIM_WIRE_WRITER_H

#include <cstdint>
#include <initializer_list>
#include <string>
#include <string_view>

namespace cosim
{

/**
 * Writes a message of protobuf's wire format for the tests of its reader; nothing stops it from
 * writing what is no message.
 */
class WireWriter
{
  public:
    /// @param number a bare number, such as the length before a record
    WireWriter& Varint(uint64_t number)
    {
        for (; number >= 0x80; number >>= 7)
        {
            m_bytes += static_cast<char>(number | 0x80);
        }
        m_bytes += static_cast<char>(number);
        return *this;
    }

    /**
     * @param field a field's number
     * @param wireType how its value is written
     */
    WireWriter& Key(uint32_t field, uint32_t wireType)
    {
        return Varint(uint64_t{field} << 3 | wireType);
    }

    /**
     * @param field a field's number
     * @param value its value
     */
    WireWriter& Number(uint32_t field, uint64_t value)
    {
        return Key(field, 0).Varint(value);
    }

    /**
     * @param field a field's number
     * @param value text, or the bytes of a message
     */
    WireWriter& Bytes(uint32_t field, std::string_view value)
    {
        return Key(field, 2).Varint(value.size()).Raw(value);
    }

    /**
     * @param field a field's number
     * @param values its values, written as one
     */
    WireWriter& Packed(uint32_t field, std::initializer_list<uint64_t> values)
    {
        WireWriter packed;
        for (const uint64_t value : values)
        {
            packed.Varint(value);
        }
        return Bytes(field, packed.GetBytes());
    }

    /// @param bytes what to append
    WireWriter& Raw(std::string_view bytes)
    {
        m_bytes += bytes;
        return *this;
    }

    /// @return the message so far
    const std::string& GetBytes() const
    {
        return m_bytes;
    }

  private:
    std::string m_bytes;
};

} // namespace cosim

#endif // COSIM_WIRE_WRITER_H
