/*
 * SPDX-License-Identifier: GPL-2.0-only
 */

#ifndef COSIM_HEADER_SIZES_H
#define COSIM_HEADER_SIZES_H

#include <cstdint>

/**
 * @file
 * The sizes of IPv4 and TCP headers on the wire [bytes]. The schema has the same ones
 * (frontend/schema/transport.py).
 */

namespace cosim
{

/// An IPv4 header without options.
constexpr uint32_t IPV4_HEADER_BYTES = 20;
/// A TCP header without options.
constexpr uint32_t TCP_HEADER_BYTES = 20;

/// What the options of a TCP header have room for.
constexpr uint32_t MAX_OPTION_BYTES = 40;
/// The window scale option (RFC 7323), in a SYN.
constexpr uint32_t WINDOW_SCALE_OPTION_BYTES = 3;
/// The SACK-permitted option (RFC 2018), in a SYN.
constexpr uint32_t SACK_PERMITTED_OPTION_BYTES = 2;
/// The SACK option (RFC 2018) without its blocks.
constexpr uint32_t SACK_OPTION_BYTES = 2;
/// A block of the SACK option.
constexpr uint32_t SACK_BLOCK_BYTES = 8;
/// The timestamp option (RFC 7323).
constexpr uint32_t TIMESTAMP_OPTION_BYTES = 10;

/**
 * @param optionBytes the TCP options; all together are padded to whole words of four bytes
 * @return the IPv4 and the TCP header
 */
constexpr uint32_t
GetHeaderBytes(uint32_t optionBytes)
{
    return IPV4_HEADER_BYTES + TCP_HEADER_BYTES + (optionBytes + 3) / 4 * 4;
}

/**
 * @param timestamps whether the connection uses the timestamp option
 * @return the IPv4 and the TCP header of a segment with data: it carries no other option
 */
constexpr uint32_t
GetDataHeaderBytes(bool timestamps)
{
    return GetHeaderBytes(timestamps ? TIMESTAMP_OPTION_BYTES : 0);
}

} // namespace cosim

#endif // COSIM_HEADER_SIZES_H
