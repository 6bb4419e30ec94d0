/*
 * SPDX-License-Identifier: GPL-2.0-only
 */

#include "transport/tcp/segment-codec.h"

#include "stream/stream.h"
#include "support/header-sizes.h"

#include "ns3/tcp-header.h"
#include "ns3/tcp-option-ts.h"

namespace cosim
{

using namespace ns3;

uint32_t
GetWireBytes(const Segment& segment, bool timestamps, uint32_t linkHeaderBytes)
{
    uint32_t options = timestamps ? TIMESTAMP_OPTION_BYTES : 0;
    if (segment.sackBlocks)
    {
        const auto blocks = static_cast<uint32_t>(segment.sackBlocks->size());
        options += SACK_OPTION_BYTES + SACK_BLOCK_BYTES * blocks;
    }
    return linkHeaderBytes + GetHeaderBytes(options) + segment.payloadBytes;
}

uint32_t
GetSynWireBytes(const TcpSettings& settings)
{
    const uint32_t options = (settings.windowScaling ? WINDOW_SCALE_OPTION_BYTES : 0) +
                             (settings.sack ? SACK_PERMITTED_OPTION_BYTES : 0) +
                             (settings.timestamps ? TIMESTAMP_OPTION_BYTES : 0);
    return settings.linkHeaderBytes + GetHeaderBytes(options);
}

std::size_t
GetSackRoom(bool timestamps)
{
    const uint32_t used = SACK_OPTION_BYTES + (timestamps ? TIMESTAMP_OPTION_BYTES : 0);
    return (MAX_OPTION_BYTES - used) / SACK_BLOCK_BYTES;
}

void
FillHeader(const Segment& segment, bool timestamps, TcpHeader& header)
{
    header.SetFlags(segment.flags);
    header.SetSequenceNumber(segment.sequence);
    header.SetAckNumber(segment.acknowledgment);
    header.SetWindowSize(segment.window);
    if (timestamps)
    {
        Ptr<TcpOptionTS> option = CreateObject<TcpOptionTS>();
        option->SetTimestamp(segment.timestamp);
        option->SetEcho(segment.timestampEcho);
        header.AppendOption(option);
    }
}

} // namespace cosim
