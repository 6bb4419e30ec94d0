/*
 * SPDX-License-Identifier: GPL-2.0-only
 */

#include "chakra-decoder.h"

#include <stdexcept>

namespace cosim
{

namespace
{

// Fields of the messages GlobalMetadata, Node and IOInfo.
constexpr uint32_t VERSION = 1;
constexpr uint32_t ID = 1;
constexpr uint32_t NAME = 2;
constexpr uint32_t TYPE = 3;
constexpr uint32_t CTRL_DEPS = 4;
constexpr uint32_t DATA_DEPS = 5;
constexpr uint32_t DURATION_MICROS = 7;
constexpr uint32_t INPUTS = 8;
constexpr uint32_t ATTR = 10;
constexpr uint32_t VALUES = 1;

constexpr uint32_t METADATA_NODE = 1;

} // namespace

ChakraDecoder::ChakraDecoder(std::span<const uint8_t> data,
                             const std::vector<std::string>& numbers,
                             const std::vector<std::string>& texts,
                             bool control)
    : attributes(numbers, texts),
      m_control(control)
{
    WireReader file(data.data(), data.data() + data.size(), data.data());
    if (file.IsAtEnd())
    {
        throw std::invalid_argument("the stream is empty");
    }
    ReadMetadata(file.ReadSlice(file.ReadVarint()));
    while (!file.IsAtEnd())
    {
        ReadNode(file.ReadSlice(file.ReadVarint()));
    }
    depBegin.push_back(dep.size());
}

void
ChakraDecoder::ReadMetadata(WireReader message)
{
    while (message.NextField())
    {
        if (message.GetField() > 2 || message.GetWireType() != WireReader::LENGTH_DELIMITED)
        {
            throw std::invalid_argument("the stream is no Chakra trace: its first message is no "
                                        "GlobalMetadata");
        }
        if (message.GetField() == VERSION)
        {
            version = message.ReadString();
        }
        else
        {
            message.Skip();
        }
    }
}

void
ChakraDecoder::ReadNode(WireReader message)
{
    id.push_back(0);
    type.push_back(0);
    name.emplace_back();
    duration.push_back(0);
    depBegin.push_back(dep.size());
    attributes.AddNode();
    std::string values;
    while (message.NextField())
    {
        switch (message.GetField())
        {
        case ID:
            id.back() = message.ReadUint64();
            break;
        case NAME:
            name.back() = message.ReadString();
            break;
        case TYPE:
            type.back() = message.ReadUint32();
            break;
        case CTRL_DEPS:
            if (m_control)
            {
                message.AppendTo(dep);
            }
            else
            {
                message.Skip();
            }
            break;
        case DATA_DEPS:
            message.AppendTo(dep);
            break;
        case DURATION_MICROS:
            duration.back() = message.ReadUint64();
            break;
        case INPUTS:
            values = message.ReadMessage().FindString(VALUES);
            break;
        case ATTR:
            attributes.Read(message.ReadMessage());
            break;
        default:
            message.Skip();
        }
    }
    if (type.back() == METADATA_NODE && !values.empty())
    {
        inputs.emplace_back(id.size() - 1, values);
    }
}

} // namespace cosim
