/*
 * SPDX-License-Identifier: GPL-2.0-only
 */

#ifndef COSIM_EXCHANGE_H
#define COSIM_EXCHANGE_H

#include <cstddef>
#include <cstdint>
#include <span>
#include <vector>

namespace cosim
{

/// For each of several servers, a range of samples and a range of bytes of each sample.
struct Boxes
{
    std::span<const int64_t> servers;
    std::span<const int64_t> first; //!< first sample
    std::span<const int64_t> end;   //!< sample after the last one
    std::span<const int64_t> low;   //!< first byte
    std::span<const int64_t> high;  //!< byte after the last one
};

/// Data that servers have and others need. A server sends what both boxes have in common.
struct Exchange
{
    Boxes has;
    Boxes needs;

    /// @return the bytes that go from a box of `has` to one of `needs`; none to the same server
    int64_t GetBytes(std::size_t source, std::size_t target) const;
};

/// Which servers take part in an exchange.
struct Participants
{
    int64_t messages{0};           //!< number of pairs of servers that exchange data
    std::vector<uint8_t> sends;    //!< per box of `has`: 1 if it sends
    std::vector<uint8_t> receives; //!< per box of `needs`: 1 if it receives
};

/**
 * @param exchange an exchange
 * @return its participants
 * @throws std::invalid_argument if ranges and servers differ in number
 */
Participants FindParticipants(const Exchange& exchange);

/// Paths to some servers. Path t · sources + s leads from server s to the t-th of these servers.
struct PathView
{
    std::span<const uint32_t> begin;     //!< path i has links[begin[i]] … links[begin[i + 1] - 1]
    std::span<const uint32_t> links;     //!< the links of all paths
    std::span<const double> propagation; //!< per path: latency of its links [s]
    std::span<const double> stored; //!< per path: time of a full packet on all but the first [s]
    int64_t sources;                //!< number of servers that paths come from
    int64_t firstTarget;            //!< the server to which the first paths lead
};

/// How messages become packets, and which share of each message is sent.
struct Sending
{
    int64_t segmentBytes; //!< payload of a full packet
    int64_t headerBytes;  //!< headers of a packet
    int64_t route;        //!< index of the route that the paths are
    int64_t routes;       //!< number of routes that share each message
};

/**
 * Adds what links carry if the messages of an exchange go over some paths.
 *
 * @param exchange the exchange; its targets are servers to which there are paths
 * @param paths the paths
 * @param sending the share of each message that takes these paths, and its packets
 * @param rates per link: its rate [bytes/s]
 * @param loads per link: gets what it carries, added [bytes]
 * @return the latest arrival of the first packet of a message, if all leave at once; 0 without
 * messages [s]
 * @throws std::invalid_argument if a path or a link does not exist, or numbers differ
 */
double AddLoads(const Exchange& exchange,
                const PathView& paths,
                const Sending& sending,
                std::span<const double> rates,
                std::span<double> loads);

} // namespace cosim

#endif // COSIM_EXCHANGE_H
