/*
 * SPDX-License-Identifier: GPL-2.0-only
 */

#include "fabrics/packet/handshake-plan.h"

#include "stream/stream-validator.h"

#include "ns3/data-rate.h"
#include "ns3/simulator.h"

#include <stdexcept>
#include <string>

namespace cosim
{

using namespace ns3;

HandshakePlan::HandshakePlan(const Topology& topology,
                             const LiveLinks& links,
                             const PathIndex& paths,
                             const PacketFormats& formats)
{
    constexpr uint32_t LARGEST_HEADERS = 20 + 60; // IPv4 without options, TCP with all options
    const uint32_t bytes = LARGEST_HEADERS + formats.GetLinkBytes();
    std::vector<Time> times;
    for (uint32_t link = 0; link < links.GetCount(); ++link)
    {
        const LinkState& state = links.Get(link);
        times.push_back(TimeStep(2 * (state.latencyPs + topology.forwardingDelayPs)) +
                        2 * DataRate(state.rateBps).CalculateBytesTxTime(bytes));
    }
    m_end = Simulator::Now();
    for (FlowId flow = 0; flow < topology.pathSource.size(); ++flow)
    {
        m_starts.push_back(m_end);
        for (const FlowId direction : {flow, paths.GetReverse(flow)})
        {
            for (const uint32_t link : links.GetPath(direction))
            {
                m_end += times[link];
            }
            if (m_end > TimeStep(MAX_TIME_PS))
            {
                throw std::invalid_argument(
                    "topology: to open a connection for each path, one after the other, takes "
                    "longer than the " +
                    std::to_string(MAX_TIME_PS) +
                    " ps that can be simulated: the latencies are too large");
            }
        }
    }
}

void
HandshakePlan::Pass() const
{
    Simulator::Stop(m_end - Simulator::Now() + TimeStep(1));
    Simulator::Run();
}

} // namespace cosim
