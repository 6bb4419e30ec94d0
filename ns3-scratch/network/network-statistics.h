/*
 * SPDX-License-Identifier: GPL-2.0-only
 */

#ifndef COSIM_NETWORK_STATISTICS_H
#define COSIM_NETWORK_STATISTICS_H

#include <cstdint>
#include <string>
#include <vector>

namespace cosim
{

/// Use of the links of one topology dimension.
struct DimensionStatistics
{
    std::string name;
    uint64_t links{0};
    uint64_t wireBytes{0};     //!< carried, headers included, summed over the links
    uint64_t drops{0};         //!< packets that would have overrun an egress queue
    uint64_t maxQueueBytes{0}; //!< longest egress queue seen, of those with a limit
    double utilizationMean{0}; //!< mean over the links of busy time / elapsed time
    double utilizationMax{0};  //!< the same, of the busiest link
};

/// What a fabric measured since it was started.
struct NetworkStatistics
{
    uint64_t messages{0};     //!< messages delivered
    uint64_t payloadBytes{0}; //!< delivered in order to the receivers
    uint64_t wireBytes{0};    //!< sent into the first link of a path, all headers included
    uint64_t packets{0};      //!< packets sent into the first link of a path, ACKs included
    uint64_t dataPackets{0};  //!< those that carry payload, retransmissions included
    uint64_t drops{0};
    uint64_t retransmissions{0};   //!< data packets sent again
    uint64_t rtoEvents{0};         //!< retransmission timeouts
    uint64_t ecnMarks{0};          //!< packets marked CE
    double linkUtilizationMean{0}; //!< over all links that carried data
    uint64_t flows{0};             //!< flows that carried at least one message
    // RTT: sampled per flow at a fixed interval, averaged per flow; these are over the flows.
    uint64_t rttFlows{0};
    double rttMeanNs{0};
    double rttP50Ns{0};
    double rttP99Ns{0};
    // Flow completion times: SimSend/SimPut to the last byte in order, per message.
    double fctMeanNs{0};
    double fctP50Ns{0};
    double fctP99Ns{0};
    double fctMaxNs{0};
    std::vector<DimensionStatistics> dimensions;
};

} // namespace cosim

#endif // COSIM_NETWORK_STATISTICS_H
