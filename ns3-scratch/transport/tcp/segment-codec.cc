/*
 * SPDX-License-Identifier: GPL-2.0-only
 */

#include "transport/tcp/segment-codec.h"

#include "stream/stream.h"
#include "transport/tcp/tcp-defaults.h"

#include "ns3/tcp-option-sack.h"
#include "ns3/tcp-option-ts.h"

namespace cosim
{

using namespace ns3;

namespace
{

constexpr uint32_t MAX_OPTION_BYTES = 40;
constexpr uint32_t WINDOW_SCALE_OPTION_BYTES = 3;
constexpr uint32_t SACK_PERMITTED_OPTION_BYTES = 2;
constexpr uint32_t SACK_OPTION_BYTES = 2; //!< without its blocks
constexpr uint32_t SACK_BLOCK_BYTES = 8;
constexpr uint32_t TIMESTAMP_OPTION_BYTES = 10;

/// @return the size of a packet; its options are padded to words together, not each
uint32_t
WireBytes(uint32_t linkHeaderBytes, uint32_t optionBytes, uint32_t payloadBytes)
{
    const uint32_t padded = (optionBytes + 3) / 4 * 4;
    return linkHeaderBytes + IPV4_HEADER_BYTES + TCP_HEADER_BYTES + padded + payloadBytes;
}

} // namespace

uint32_t
GetWireBytes(const Segment& segment, bool timestamps, uint32_t linkHeaderBytes)
{
    uint32_t options = timestamps ? TIMESTAMP_OPTION_BYTES : 0;
    if (segment.sackBlocks)
    {
        const auto blocks = static_cast<uint32_t>(segment.sackBlocks->size());
        options += SACK_OPTION_BYTES + SACK_BLOCK_BYTES * blocks;
    }
    return WireBytes(linkHeaderBytes, options, segment.payloadBytes);
}

uint32_t
GetSynWireBytes(const TcpSettings& settings)
{
    const uint32_t options = (settings.windowScaling ? WINDOW_SCALE_OPTION_BYTES : 0) +
                             (settings.sack ? SACK_PERMITTED_OPTION_BYTES : 0) +
                             (settings.timestamps ? TIMESTAMP_OPTION_BYTES : 0);
    return WireBytes(settings.linkHeaderBytes, options, 0);
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
    if (segment.sackBlocks)
    {
        Ptr<TcpOptionSack> option = CreateObject<TcpOptionSack>();
        for (const TcpOptionSack::SackBlock& block : *segment.sackBlocks)
        {
            option->AddSackBlock(block);
        }
        header.AppendOption(option);
    }
}

} // namespace cosim
