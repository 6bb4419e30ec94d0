/*
 * SPDX-License-Identifier: GPL-2.0-only
 */

#ifndef COSIM_SEGMENT_CODEC_H
#define COSIM_SEGMENT_CODEC_H

#include "transport/tcp/segment.h"

#include "ns3/tcp-header.h"

#include <cstddef>
#include <cstdint>

namespace cosim
{

/**
 * @file
 * Converts a Segment to its form on the wire: the size of its headers, and an ns3::TcpHeader for
 * the functions of TcpSocketBase that need one.
 */

struct TcpSettings;

/**
 * @param segment the segment
 * @param timestamps true if the segment carries the timestamp option (RFC 7323)
 * @param linkHeaderBytes header bytes per packet in addition to IP and TCP
 * @return size of the segment, all headers included [bytes]
 */
uint32_t GetWireBytes(const Segment& segment, bool timestamps, uint32_t linkHeaderBytes);

/**
 * @param settings TCP settings; they determine the options of a SYN
 * @return size of a SYN, all headers included [bytes]
 */
uint32_t GetSynWireBytes(const TcpSettings& settings);

/**
 * @param timestamps true if the header also has the timestamp option
 * @return the number of SACK blocks (RFC 2018) that fit into a header
 */
std::size_t GetSackRoom(bool timestamps);

/**
 * @param segment the segment
 * @param timestamps true if the segment carries the timestamp option
 * @param header receives the fields of the segment, and the timestamp option
 */
void FillHeader(const Segment& segment, bool timestamps, ns3::TcpHeader& header);

} // namespace cosim

#endif // COSIM_SEGMENT_CODEC_H
