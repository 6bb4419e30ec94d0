/*
 * SPDX-License-Identifier: GPL-2.0-only
 */

#ifndef COSIM_REASSEMBLY_H
#define COSIM_REASSEMBLY_H

#include "ns3/sequence-number.h"
#include "ns3/tcp-option-sack.h"

#include <cstdint>
#include <vector>

namespace cosim
{

/**
 * The data that a receiver has out of order, and the SACK blocks that report it.
 *
 * It equals ns3::TcpRxBuffer whose data is read as soon as it is in order, but it knows only where
 * the data is. ns-3 stores packets, splits them, and joins them when they are read.
 */
class Reassembly
{
  public:
    using Block = ns3::TcpOptionSack::SackBlock;

    /// @param window receive buffer [bytes]
    explicit Reassembly(uint32_t window)
        : m_window(window)
    {
    }

    /**
     * Add a segment. What is in order after that is read.
     *
     * @param segment the sequence numbers of its first byte and of the byte after its last one
     * @param next the next byte in order; advances over what is read
     * @return true if the segment brought new data
     */
    bool Add(const Block& segment, ns3::SequenceNumber32& next);

    /// @return true if no data is out of order
    bool IsEmpty() const
    {
        return m_stored.empty();
    }

    /// @return the SACK blocks in the order of RFC 2018, at most 4
    const std::vector<Block>& GetSackBlocks() const
    {
        return m_sackBlocks;
    }

  private:
    void Trim(Block& fresh);
    void Report(Block first);
    void Read(ns3::SequenceNumber32& next);

    uint32_t m_window;
    std::vector<Block> m_stored; //!< in order; neighbors are not joined, as in ns-3
    std::vector<Block> m_sackBlocks;
};

} // namespace cosim

#endif // COSIM_REASSEMBLY_H
