/*
 * SPDX-License-Identifier: GPL-2.0-only
 */

#ifndef COSIM_NETWORK_STATISTICS_H
#define COSIM_NETWORK_STATISTICS_H

#include "support/fields.h"

#include <array>
#include <cstddef>
#include <cstdint>
#include <optional>
#include <string>
#include <string_view>
#include <tuple>
#include <vector>

namespace cosim
{

/// Statistics of the links of one topology dimension.
struct DimensionStatistics
{
    std::string name;
    uint64_t links{0};
    uint64_t wireBytes{0};     //!< bytes carried, headers included, summed over the links
    uint64_t drops{0};         //!< packets that an egress queue had no room for
    uint64_t maxQueueBytes{0}; //!< longest egress queue of the links with a buffer size [bytes]
    double utilizationMean{0}; //!< mean over the links of busy time / elapsed time
    double utilizationMax{0};  //!< busy time / elapsed time of the busiest link
};

template <>
inline constexpr auto FIELDS<DimensionStatistics> =
    std::make_tuple(Field{"name", &DimensionStatistics::name},
                    Field{"links", &DimensionStatistics::links},
                    Field{"wire_bytes", &DimensionStatistics::wireBytes},
                    Field{"drops", &DimensionStatistics::drops},
                    Field{"max_queue_bytes", &DimensionStatistics::maxQueueBytes},
                    Field{"utilization_mean", &DimensionStatistics::utilizationMean},
                    Field{"utilization_max", &DimensionStatistics::utilizationMax});

/// Data packets that arrived after one of their flow that was sent later.
struct Reordering
{
    uint64_t packets{0};
    uint64_t largestDisplacement{0};     //!< most packets sent after it that one arrived behind
    uint64_t unneededRetransmissions{0}; //!< data packets whose bytes the receiver already had
};

template <>
inline constexpr auto FIELDS<Reordering> =
    std::make_tuple(Field{"packets", &Reordering::packets},
                    Field{"largest_displacement", &Reordering::largestDisplacement},
                    Field{"unneeded_retransmissions", &Reordering::unneededRetransmissions});

/// Why packets could be lost where messages were carried without packets.
struct LossRisk
{
    enum class Cause : uint8_t
    {
        QUEUE,   //!< more can arrive at once at a port than its buffer holds
        LINK,    //!< a link loses packets at random
        FAILURE, //!< a link fails
    };

    Cause cause{Cause::QUEUE};
    uint64_t arrivingBytes{0}; //!< QUEUE: what can arrive at once
    uint64_t bufferBytes{0};   //!< QUEUE: what the buffer holds

    /// @return the bytes that can arrive at once and find no room
    uint64_t GetLack() const
    {
        return arrivingBytes - (arrivingBytes < bufferBytes ? arrivingBytes : bufferBytes);
    }

    /// @return a number that only a cause QUEUE has
    std::optional<uint64_t> OfQueue(uint64_t bytes) const
    {
        return cause == Cause::QUEUE ? std::optional(bytes) : std::nullopt;
    }
};

template <>
inline constexpr auto FIELDS<LossRisk> = std::make_tuple(
    Field{"cause",
          [](const LossRisk& risk) {
              constexpr std::array<std::string_view, 3> names{"queue", "link", "failure"};
              return names[static_cast<std::size_t>(risk.cause)];
          }},
    Field{"arriving_bytes", [](const LossRisk& risk) { return risk.OfQueue(risk.arrivingBytes); }},
    Field{"buffer_bytes", [](const LossRisk& risk) { return risk.OfQueue(risk.bufferBytes); }});

/// Episodes that were simulated once and then played without packets (see EpisodePlayer).
struct Replay
{
    uint64_t episodes{0};
    uint64_t simulated{0}; //!< episodes that were simulated, at least in part
    uint64_t takenBack{0}; //!< episodes that were played, and then simulated because they differed
    uint64_t messages{0};  //!< messages that were played to the end
    uint64_t packets{0};   //!< packets that were not simulated
};

template <>
inline constexpr auto FIELDS<Replay> = std::make_tuple(Field{"episodes", &Replay::episodes},
                                                       Field{"simulated", &Replay::simulated},
                                                       Field{"taken_back", &Replay::takenBack},
                                                       Field{"messages", &Replay::messages},
                                                       Field{"packets", &Replay::packets});

/// What RoCE counts.
struct Rdma
{
    uint64_t cnps{0};          //!< congestion notifications, in ACKs or as packets
    uint64_t nacks{0};         //!< requests for missing packets
    uint64_t repeatedBytes{0}; //!< payload that was sent again
    // The mean rate of a queue pair is what it has sent over the time that this takes at the rates
    // that its congestion control allowed; these are statistics over the queue pairs.
    double rateMeanBps{0};
    double rateP01Bps{0};
    double rateP50Bps{0};
    double rateP99Bps{0};
};

template <>
inline constexpr auto FIELDS<Rdma> = std::make_tuple(Field{"cnps", &Rdma::cnps},
                                                     Field{"nacks", &Rdma::nacks},
                                                     Field{"repeated_bytes", &Rdma::repeatedBytes},
                                                     Field{"rate_mean_bps", &Rdma::rateMeanBps},
                                                     Field{"rate_p01_bps", &Rdma::rateP01Bps},
                                                     Field{"rate_p50_bps", &Rdma::rateP50Bps},
                                                     Field{"rate_p99_bps", &Rdma::rateP99Bps});

/// The pauses to which the same number of pauses in a row has led.
struct PauseHop
{
    uint64_t count{0};
    uint64_t timePs{0}; //!< time that ports were paused, summed
    uint64_t links{0};  //!< links that were paused
};

template <>
inline constexpr auto FIELDS<PauseHop> = std::make_tuple(Field{"count", &PauseHop::count},
                                                         Field{"time_ns", &PauseHop::timePs},
                                                         Field{"links", &PauseHop::links});

/// How often switches paused the ports that send to them.
struct Pauses
{
    uint64_t count{0};
    uint64_t timePs{0};    //!< time that ports were paused, summed
    std::string worstLink; //!< the link that was paused longest, by its ends
    uint64_t worstPs{0};   //!< time that it was paused
    uint64_t hops{0};      //!< longest chain of pauses of which each caused the next
    uint64_t hosts{0};     //!< links of ranks that were paused
    uint64_t headroomPeakBytes{0};
    uint64_t headroomBytes{0}; //!< of the link with the peak
    uint64_t headroomDrops{0}; //!< packets that did not fit into headroom
    uint64_t headroomLackBytes{0};
    std::vector<PauseHop> spread; //!< the first pauses of chains, the second ones, ...
};

template <>
inline constexpr auto FIELDS<Pauses> =
    std::make_tuple(Field{"count", &Pauses::count},
                    Field{"time_ns", &Pauses::timePs},
                    Field{"worst_link", &Pauses::worstLink},
                    Field{"worst_ns", &Pauses::worstPs},
                    Field{"hops", &Pauses::hops},
                    Field{"hosts", &Pauses::hosts},
                    Field{"headroom_peak_bytes", &Pauses::headroomPeakBytes},
                    Field{"headroom_bytes", &Pauses::headroomBytes},
                    Field{"headroom_drops", &Pauses::headroomDrops},
                    Field{"headroom_lack_bytes", &Pauses::headroomLackBytes},
                    Field{"spread", &Pauses::spread});

/// What a fabric measured since its start.
struct NetworkStatistics
{
    uint64_t messages{0};     //!< messages delivered
    uint64_t payloadBytes{0}; //!< payload bytes delivered in order
    uint64_t wireBytes{0};    //!< bytes sent into the first link of a path, headers included
    uint64_t packets{0};      //!< packets sent into the first link of a path, ACKs included
    uint64_t dataPackets{0};  //!< packets with payload, retransmissions included
    uint64_t drops{0};
    uint64_t retransmissions{0};   //!< data packets that were sent again
    uint64_t rtoEvents{0};         //!< number of retransmission timeouts
    uint64_t rtoWaitPs{0};         //!< time that a flow waited for a timeout; overlaps count once
    uint64_t ecnMarks{0};          //!< packets marked with CE
    double linkUtilizationMean{0}; //!< mean over the links that carried data
    uint64_t linkLosses{0};        //!< packets lost on links, or in queues of links that failed
    uint64_t refusals{0};          //!< drops at links that were down
    uint64_t flows{0};             //!< flows that carried at least one message
    uint64_t repeatedPackets{0};   //!< data packets whose bytes the receiver already had
    std::optional<Reordering> reordering; //!< empty if packets of a flow cannot overtake each other
    // Round-trip times. Each flow is sampled at a fixed interval and averaged; these are statistics
    // over the averages of the flows.
    uint64_t rttFlows{0};
    double rttMeanNs{0};
    double rttP50Ns{0};
    double rttP99Ns{0};
    // Flow completion times of the messages: from SimSend or SimPut until the last byte is
    // delivered in order.
    double fctMeanNs{0};
    double fctP50Ns{0};
    double fctP99Ns{0};
    double fctMaxNs{0};
    std::vector<DimensionStatistics> dimensions;
    std::optional<LossRisk> lossRisk; //!< empty if packets were simulated, or none can be lost
    std::optional<Replay> replay;     //!< empty if nothing is replayed
    std::optional<Rdma> rdma;         //!< empty if the transport is not RoCE
    std::optional<Pauses> pauses;     //!< empty if switches pause nobody
};

/// The block "network" of a result. What is not listed here is in other blocks.
template <>
inline constexpr auto FIELDS<NetworkStatistics> =
    std::make_tuple(Field{"payload_bytes", &NetworkStatistics::payloadBytes},
                    Field{"wire_bytes", &NetworkStatistics::wireBytes},
                    Field{"packets", &NetworkStatistics::packets},
                    Field{"data_packets", &NetworkStatistics::dataPackets},
                    Field{"messages", &NetworkStatistics::messages},
                    Field{"drops", &NetworkStatistics::drops},
                    Field{"retransmissions", &NetworkStatistics::retransmissions},
                    Field{"rto_events", &NetworkStatistics::rtoEvents},
                    Field{"rto_wait_ns", &NetworkStatistics::rtoWaitPs},
                    Field{"ecn_marks", &NetworkStatistics::ecnMarks},
                    Field{"link_utilization_mean", &NetworkStatistics::linkUtilizationMean},
                    Field{"flows", &NetworkStatistics::flows},
                    Field{"rtt_flows", &NetworkStatistics::rttFlows},
                    Field{"rtt_mean_ns", &NetworkStatistics::rttMeanNs},
                    Field{"rtt_p50_ns", &NetworkStatistics::rttP50Ns},
                    Field{"rtt_p99_ns", &NetworkStatistics::rttP99Ns},
                    Field{"fct_mean_ns", &NetworkStatistics::fctMeanNs},
                    Field{"fct_p50_ns", &NetworkStatistics::fctP50Ns},
                    Field{"fct_p99_ns", &NetworkStatistics::fctP99Ns},
                    Field{"fct_max_ns", &NetworkStatistics::fctMaxNs},
                    Field{"dimensions", &NetworkStatistics::dimensions});

} // namespace cosim

#endif // COSIM_NETWORK_STATISTICS_H
