/*
 * SPDX-License-Identifier: GPL-2.0-only
 */

#ifndef COSIM_WIRE_READER_H
#define COSIM_WIRE_READER_H

#include <cstddef>
#include <cstdint>
#include <string>
#include <vector>

namespace cosim
{

/**
 * Reads one message of protobuf's wire format, field by field, without libprotobuf.
 *
 * Repeated numbers are accepted packed and unpacked; every method throws std::invalid_argument
 * on bytes that are no such message, and never reads outside of them.
 */
class WireReader
{
  public:
    /**
     * @param begin the first byte of the message; the bytes must outlive the reader
     * @param end behind its last byte
     * @param origin where positions in error texts are counted from
     */
    WireReader(const uint8_t* begin, const uint8_t* end, const uint8_t* origin);

    /// @return whether every byte was read
    bool IsAtEnd() const;

    /**
     * Read the key of the next field.
     *
     * @return false at the end of the message
     */
    bool NextField();

    /// @return the number of the present field
    uint32_t GetField() const;

    /// @return a bare varint, such as the length before a record
    uint64_t ReadVarint();

    /// @return the present field as a number of at most 32 bits
    uint32_t ReadUint32();

    /// @return the present field as a number
    uint64_t ReadUint64();

    /// @return the present field as a truth value
    bool ReadBool();

    /// @return the present field as text
    std::string ReadString();

    /// @return a reader of the message that the present field holds
    WireReader ReadMessage();

    /**
     * @param length a size [bytes]
     * @return a reader of the next bytes, which this reader then leaves behind
     */
    WireReader ReadSlice(uint64_t length);

    /// @param values what the present field's numbers, one or packed, are appended to
    void AppendTo(std::vector<uint32_t>& values);

    /// @param values what the present field's numbers, one or packed, are appended to
    void AppendTo(std::vector<uint64_t>& values);

    /// @param values what the present field's text is appended to
    void AppendTo(std::vector<std::string>& values);

    /// Leave the present field behind: it is not one that this version knows.
    void Skip();

  private:
    template <typename T>
    void AppendNumbers(std::vector<T>& values);

    void Expect(uint32_t wireType) const;
    [[noreturn]] void Refuse(const std::string& what) const;

    const uint8_t* m_next;
    const uint8_t* m_end;
    const uint8_t* m_origin;
    uint32_t m_field{0};
    uint32_t m_wireType{0};
};

} // namespace cosim

#endif // COSIM_WIRE_READER_H
