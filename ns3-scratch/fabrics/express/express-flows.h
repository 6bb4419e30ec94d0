/*
 * SPDX-License-Identifier: GPL-2.0-only
 */

#ifndef COSIM_EXPRESS_FLOWS_H
#define COSIM_EXPRESS_FLOWS_H

#include "fabrics/packet/datapath.h"
#include "transport/endpoint.h"
#include "transport/packet.h"

#include <cstdint>
#include <vector>

namespace cosim
{

/**
 * The connections of an ExpressDatapath. A connection is created when it is first used, in the
 * state in which a handshake leaves it.
 */
class ExpressFlows
{
  public:
    /**
     * @param setup what the datapath works with
     * @param transport creates the endpoints; must outlive this object
     */
    ExpressFlows(const DatapathSetup& setup, Transport& transport);

    /**
     * @param handshakes when the connections open, or null if they open in no time, before the
     * first links are up; must outlive this object
     */
    void SetHandshakes(const HandshakePlan* handshakes)
    {
        m_handshakes = handshakes;
    }

    /// @return the path that leads a packet to the endpoint that it is for
    uint32_t GetPathOf(const Packet& packet) const
    {
        return packet.toSender ? m_connections[packet.flow].reverse : packet.flow;
    }

    /// Give a packet in the class of data the class of its flow, if flows have classes.
    void Classify(Packet& packet) const
    {
        if (m_topology.HasClasses() && packet.trafficClass == GetDataClass(packet.flow))
        {
            packet.trafficClass = GetClass(packet.flow) & 7U;
        }
    }

    /// @return the traffic class of the data of a flow
    uint8_t GetClass(FlowId flow) const
    {
        return m_topology.HasClasses() ? static_cast<uint8_t>(m_topology.pathClass[flow])
                                       : GetDataClass(flow);
    }

    /// @return the sending endpoint of a flow; null before its first message
    FlowSender* GetSender(FlowId flow) const
    {
        return m_connections[flow].ends.sender;
    }

    /// @return the endpoints of a flow, which are made now if it is used for the first time
    const FlowEnds& Connect(FlowId flow)
    {
        FlowEnds& ends = m_connections[flow].ends;
        if (ends.sender == nullptr)
        {
            ends = m_transport.Connect(flow, GetHandshake(flow));
        }
        return ends;
    }

    /// Append bytes to the stream of a flow that is not paused.
    void Send(FlowId flow, uint64_t bytes)
    {
        Connect(flow).sender->Submit(bytes);
    }

    /// Let a flow send nothing any more, and receive no packet.
    void Abandon(FlowId flow)
    {
        m_connections[flow].isAbandoned = true;
        if (FlowSender* const sender = GetSender(flow); sender != nullptr)
        {
            sender->Abandon();
        }
    }

    /// Deliver a packet at the endpoint that it is for.
    void Reach(Packet* packet)
    {
        const FlowEnds& ends = m_connections[packet->flow].ends;
        if (m_connections[packet->flow].isAbandoned)
        {
            // nobody is there any more
        }
        else if (packet->toSender)
        {
            ends.sender->Receive(*packet);
        }
        else
        {
            ends.receiver->Receive(*packet);
        }
        m_transport.Release(packet);
    }

  private:
    /// A connection. Its endpoints are null until it is first used.
    struct Connection
    {
        FlowEnds ends;
        FlowId reverse{0};
        bool isAbandoned{false};
    };

    Handshake GetHandshake(FlowId flow) const;

    /// @return the class in which the transport of a flow sends data
    uint8_t GetDataClass(FlowId flow) const
    {
        return m_dataClasses[m_topology.GetTransport(flow)];
    }

    const Topology& m_topology;
    const LiveLinks& m_links;
    Transport& m_transport;
    const PacketFormats& m_formats;
    std::vector<uint8_t> m_dataClasses; //!< by transport (see Settings::GetTransport)
    const HandshakePlan* m_handshakes{nullptr};
    std::vector<Connection> m_connections; //!< per flow
};

} // namespace cosim

#endif // COSIM_EXPRESS_FLOWS_H
