/*
 * SPDX-License-Identifier: GPL-2.0-only
 */

#ifndef COSIM_HEADER_SIZES_H
#define COSIM_HEADER_SIZES_H

#include <cstdint>

/**
 * @file
 * Sizes of IPv4 and TCP headers on the wire [bytes]. frontend/schema/transport.py must use the same
 * values.
 */

namespace cosim
{

/// An IPv4 header without options.
constexpr uint32_t IPV4_HEADER_BYTES = 20;
/// A TCP header without options.
constexpr uint32_t TCP_HEADER_BYTES = 20;

/// The largest total size of the options of a TCP header.
constexpr uint32_t MAX_OPTION_BYTES = 40;
/// The window scale option (RFC 7323), in a SYN.
constexpr uint32_t WINDOW_SCALE_OPTION_BYTES = 3;
/// The SACK-permitted option (RFC 2018), in a SYN.
constexpr uint32_t SACK_PERMITTED_OPTION_BYTES = 2;
/// The SACK option (RFC 2018) without its blocks.
constexpr uint32_t SACK_OPTION_BYTES = 2;
/// One block of the SACK option.
constexpr uint32_t SACK_BLOCK_BYTES = 8;
/// The timestamp option (RFC 7323).
constexpr uint32_t TIMESTAMP_OPTION_BYTES = 10;

/**
 * @param optionBytes total size of the TCP options; the header is padded to a multiple of four
 * bytes
 * @return the size of the IPv4 and TCP headers [bytes]
 */
constexpr uint32_t
GetHeaderBytes(uint32_t optionBytes)
{
    return IPV4_HEADER_BYTES + TCP_HEADER_BYTES + (optionBytes + 3) / 4 * 4;
}

/**
 * @param timestamps true if the connection uses the timestamp option
 * @return the size of the IPv4 and TCP headers of a data segment, which carries no other option
 * [bytes]
 */
constexpr uint32_t
GetDataHeaderBytes(bool timestamps)
{
    return GetHeaderBytes(timestamps ? TIMESTAMP_OPTION_BYTES : 0);
}

} // namespace cosim

#endif // COSIM_HEADER_SIZES_H
