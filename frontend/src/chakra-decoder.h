/*
 * SPDX-License-Identifier: GPL-2.0-only
 */

#ifndef COSIM_CHAKRA_DECODER_H
#define COSIM_CHAKRA_DECODER_H

#include "attribute-columns.h"

#include <cstdint>
#include <span>
#include <string>
#include <utility>
#include <vector>

namespace cosim
{

/**
 * Reads a Chakra execution trace: messages in protobuf's wire format, each after its length. The
 * first is a GlobalMetadata, all others are a Node (mlcommons/chakra,
 * schema/protobuf/et_def.proto).
 */
class ChakraDecoder
{
  public:
    /**
     * Read a trace.
     *
     * @param data the bytes of the file, not compressed
     * @param numbers names of the attributes to read as whole numbers
     * @param texts names of the attributes to read as text
     * @param control whether control dependencies count
     *
     * Throws std::invalid_argument if the bytes are not a trace.
     */
    ChakraDecoder(std::span<const uint8_t> data,
                  const std::vector<std::string>& numbers,
                  const std::vector<std::string>& texts,
                  bool control);

    std::string version;            //!< of the schema, as the file says
    std::vector<uint64_t> id;       //!< per node
    std::vector<uint32_t> type;     //!< per node: NodeType of the schema
    std::vector<std::string> name;  //!< per node
    std::vector<uint64_t> duration; //!< per node [µs]
    std::vector<uint64_t> depBegin; //!< per node: slices of dep, and the end of the last
    std::vector<uint64_t> dep;      //!< ids of the nodes that a node waits for
    AttributeColumns attributes;    //!< of the nodes
    std::vector<std::pair<uint64_t, std::string>> inputs; //!< input values of METADATA nodes

  private:
    void ReadMetadata(WireReader message);
    void ReadNode(WireReader message);

    const bool m_control;
};

} // namespace cosim

#endif // COSIM_CHAKRA_DECODER_H
