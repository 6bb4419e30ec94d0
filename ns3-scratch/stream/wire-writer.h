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
 * Writes a message in protobuf's wire format, for the tests of WireReader. It does not check
 * anything, so a test can also write an invalid message.
 */
class WireWriter
{
  public:
    /// @param number a number without a key, for example the length before a record
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
     * @param field field number
     * @param wireType protobuf's wire type of the value
     */
    WireWriter& Key(uint32_t field, uint32_t wireType)
    {
        return Varint(uint64_t{field} << 3 | wireType);
    }

    /**
     * @param field field number
     * @param value value of the field
     */
    WireWriter& Number(uint32_t field, uint64_t value)
    {
        return Key(field, 0).Varint(value);
    }

    /**
     * @param field field number
     * @param value text, or the bytes of a message
     */
    WireWriter& Bytes(uint32_t field, std::string_view value)
    {
        return Key(field, 2).Varint(value.size()).Raw(value);
    }

    /**
     * @param field field number
     * @param values values of the field, written as one packed list
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

    /// @param bytes bytes to append
    WireWriter& Raw(std::string_view bytes)
    {
        m_bytes += bytes;
        return *this;
    }

    /// @return the bytes written so far
    const std::string& GetBytes() const
    {
        return m_bytes;
    }

  private:
    std::string m_bytes;
};

} // namespace cosim

#endif // COSIM_WIRE_WRITER_H
