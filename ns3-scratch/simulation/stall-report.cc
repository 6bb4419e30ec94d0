/*
 * SPDX-License-Identifier: GPL-2.0-only
 */

#include "simulation/stall-report.h"

#include <cstdint>

namespace cosim
{

std::string
DescribeSmallWindow(const Stream& stream, const Fabric& fabric)
{
    const Topology& topology = stream.topology;
    for (uint32_t path = 0; path < topology.pathSource.size(); ++path)
    {
        const TransportSettings& transport =
            stream.settings.GetTransport(topology.GetTransport(path));
        if (transport.UsesRoce())
        { // a queue pair with nothing in flight may always send
            continue;
        }
        const TcpSettings& tcp = transport.tcp;
        const FlowState state = fabric.GetFlowState(path);
        if (state.waitingBytes > 0 && state.windowBytes < tcp.segmentBytes)
        { // with nothing in flight, no ACK and no timeout can make it larger
            return "TCP has reduced the congestion window of the flow from rank " +
                   std::to_string(topology.pathSource[path]) + " to rank " +
                   std::to_string(topology.pathTarget[path]) + " to " +
                   std::to_string(state.windowBytes) + " bytes, less than a segment of " +
                   std::to_string(tcp.segmentBytes) + " bytes, so the flow sends no more; ns-3's " +
                   tcp.congestionControl + " has no lower limit for it; ";
        }
    }
    return "";
}

} // namespace cosim
