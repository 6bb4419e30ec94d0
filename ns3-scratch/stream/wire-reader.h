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
 * Reads one message in protobuf's wire format, field by field, without libprotobuf.
 *
 * It accepts repeated numbers in packed and unpacked form. Every method throws
 * std::invalid_argument if the bytes are not a valid message. No method reads outside the bytes of
 * the message.
 */
class WireReader
{
  public:
    static constexpr uint32_t VARINT = 0;           //!< wire type of a varint
    static constexpr uint32_t FIXED64 = 1;          //!< wire type of 8 bytes
    static constexpr uint32_t LENGTH_DELIMITED = 2; //!< wire type of text, bytes and messages
    static constexpr uint32_t FIXED32 = 5;          //!< wire type of 4 bytes

    /**
     * @param begin first byte of the message; the bytes must outlive the reader
     * @param end end of the message, one past its last byte
     * @param origin start of the stream; error messages count positions from here
     */
    WireReader(const uint8_t* begin, const uint8_t* end, const uint8_t* origin);

    /// @return true if all bytes were read
    bool IsAtEnd() const;

    /**
     * Read the key of the next field.
     *
     * @return true if there is a field, false at the end of the message
     */
    bool NextField();

    /// @return the number of the current field
    uint32_t GetField() const;

    /// @return the wire type of the current field
    uint32_t GetWireType() const;

    /// @return the next varint, for example the length before a record
    uint64_t ReadVarint();

    /// @return the value of the current field as a number of at most 32 bits
    uint32_t ReadUint32();

    /// @return the value of the current field as a number
    uint64_t ReadUint64();

    /// @return the bits of the current field, which has 4 or 8 bytes
    uint64_t ReadFixed();

    /// @return the value of the current field as a Boolean
    bool ReadBool();

    /// @return the value of the current field as text
    std::string ReadString();

    /// @return a reader of the message in the current field
    WireReader ReadMessage();

    /**
     * @param length a length [bytes]
     * @return a reader of the next bytes. This reader continues after them.
     */
    WireReader ReadSlice(uint64_t length);

    /// Append the numbers of the current field, which holds one number or a packed list.
    void AppendTo(std::vector<uint32_t>& values);

    /// Append the numbers of the current field, which holds one number or a packed list.
    void AppendTo(std::vector<uint64_t>& values);

    /// Append the text of the current field.
    void AppendTo(std::vector<std::string>& values);

    /**
     * Read all fields of the message.
     *
     * @param field number of a field that holds text
     * @return the last text in it; empty if there is none
     */
    std::string FindString(uint32_t field);

    /// Skip the current field, because this version does not know it.
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
