/*
 * SPDX-License-Identifier: GPL-2.0-only
 */

#ifndef COSIM_SEGMENT_CODEC_H
#define COSIM_SEGMENT_CODEC_H

#include "transport/segment.h"

#include "ns3/tcp-header.h"

#include <cstddef>
#include <cstdint>

namespace cosim
{

/**
 * @file
 * What a Segment would be on the wire: the size of its headers, and ns3::TcpHeader for the parts of
 * TcpSocketBase that want one.
 */

struct TcpSettings;

/**
 * @param segment the segment
 * @param timestamps whether it carries the timestamp option (RFC 7323)
 * @param linkHeaderBytes per packet beside IP and TCP
 * @return its size with all headers [bytes]
 */
uint32_t GetWireBytes(const Segment& segment, bool timestamps, uint32_t linkHeaderBytes);

/**
 * @param settings the options that a SYN carries depend on them
 * @return the size of a SYN with all headers [bytes]
 */
uint32_t GetSynWireBytes(const TcpSettings& settings);

/**
 * @param timestamps whether the header has the timestamp option, too
 * @return how many SACK blocks (RFC 2018) a header has room for
 */
std::size_t GetSackRoom(bool timestamps);

/**
 * @param segment the segment
 * @param timestamps whether it carries the timestamp option
 * @param header gets the segment's fields and options
 */
void FillHeader(const Segment& segment, bool timestamps, ns3::TcpHeader& header);

} // namespace cosim

#endif // COSIM_SEGMENT_CODEC_H
