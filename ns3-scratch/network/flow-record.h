/*
 * SPDX-License-Identifier: GPL-2.0-only
 */

#ifndef COSIM_FLOW_RECORD_H
#define COSIM_FLOW_RECORD_H

#include "network/ideal-time.h"
#include "network/live-links.h"
#include "support/huge-allocator.h"

#include <algorithm>
#include <cstdint>
#include <vector>

namespace cosim
{

/// What a flow carried since the start of the run.
struct FlowCounters
{
    uint64_t messages{0};        //!< messages delivered
    uint64_t bytes{0};           //!< their payload
    uint64_t completionPs{0};    //!< sum of the completion times of the messages
    uint64_t maxCompletionPs{0}; //!< completion time of the slowest message
    uint64_t idealPs{0};         //!< sum of the times that the messages take in an empty network
    uint32_t retransmissions{0}; //!< data packets that were sent again
    uint32_t timeouts{0};        //!< retransmission timeouts
};

/// The state of a flow at one time.
struct FlowState
{
    uint64_t deliveredBytes{0}; //!< payload delivered in order
    uint32_t windowBytes{0};    //!< congestion window
    double rttNs{0};            //!< latest round trip
    uint64_t waitingBytes{0};   //!< payload that was handed over and is not delivered
    double rateBps{0};          //!< rate of a queue pair; 0: the transport does not limit it
};

/**
 * Counts the messages of each flow, and compares their completion times with those in an empty
 * network. The flow of a path has the index of the path.
 */
class FlowRecord
{
  public:
    /**
     * @param topology links and paths; must outlive this object
     * @param formats sizes of the packets; must outlive this object
     * @param links links as they are now; must outlive this object
     */
    FlowRecord(const Topology& topology, const PacketFormats& formats, const LiveLinks& links)
        : m_folding(topology.folding),
          m_links(links),
          m_ideal(topology, formats),
          m_flows(topology.pathSource.size())
    {
    }

    /**
     * Count a delivered message.
     *
     * @param path index of its path
     * @param bytes payload [bytes]
     * @param completionPs time from its send to its delivery [ps]
     */
    void Add(uint32_t path, uint64_t bytes, uint64_t completionPs)
    {
        if (m_links.GetVersion() != m_version)
        {
            Forget();
        }
        Flow& flow = m_flows[path];
        if (bytes != flow.lastBytes)
        { // messages of a flow mostly have the same size
            if (flow.lastBytes == NOTHING)
            {
                m_known.push_back(path);
            }
            flow.lastBytes = bytes;
            flow.lastIdealPs = m_ideal.Get(m_links, path, bytes).Sum();
        }
        ++flow.counters.messages;
        flow.counters.bytes += bytes;
        flow.counters.completionPs += completionPs;
        flow.counters.maxCompletionPs = std::max(flow.counters.maxCompletionPs, completionPs);
        flow.counters.idealPs += flow.lastIdealPs;
    }

    /// Start to load a flow whose message is soon delivered.
    void Prepare(uint32_t path) const
    {
        __builtin_prefetch(&m_flows[path]);
    }

    /**
     * Correct the completion time of a counted message to a later one.
     *
     * @param path index of its path
     * @param beforePs completion time that was counted [ps]
     * @param completionPs completion time, not before beforePs [ps]
     */
    void Replace(uint32_t path, uint64_t beforePs, uint64_t completionPs)
    {
        FlowCounters& counters = m_flows[path].counters;
        counters.completionPs += completionPs - beforePs;
        counters.maxCompletionPs = std::max(counters.maxCompletionPs, completionPs);
    }

    /// @param path path of a flow that sends a data packet again
    void AddRetransmission(uint32_t path)
    {
        ++m_flows[path].counters.retransmissions;
    }

    /// @param path path of a flow whose retransmission timer expires
    void AddTimeout(uint32_t path)
    {
        ++m_flows[path].counters.timeouts;
    }

    /// @return the number of flows
    uint32_t GetCount() const
    {
        return static_cast<uint32_t>(m_flows.size());
    }

    /// @return the payload that a flow has carried [bytes]
    uint64_t GetBytes(uint32_t path) const
    {
        return Get(path).bytes;
    }

    /// @return the counters of a flow
    const FlowCounters& Get(uint32_t path) const
    {
        return m_flows[m_folding.GetPath(path)].counters;
    }

  private:
    static constexpr uint64_t NOTHING = UINT64_MAX;

    struct alignas(64) Flow
    {
        FlowCounters counters;
        uint64_t lastBytes{NOTHING}; //!< size of the last message
        uint64_t lastIdealPs{0};     //!< its ideal time
    };

    /// Forget the ideal times, because links or paths have changed.
    void Forget()
    {
        m_version = m_links.GetVersion();
        for (const uint32_t path : m_known)
        {
            m_flows[path].lastBytes = NOTHING;
        }
        m_known.clear();
    }

    const Folding& m_folding;
    const LiveLinks& m_links;
    uint64_t m_version{0}; //!< of the links that the ideal times belong to
    IdealTime m_ideal;
    HugeVector<Flow> m_flows;
    std::vector<uint32_t> m_known; //!< flows with an ideal time
};

} // namespace cosim

#endif // COSIM_FLOW_RECORD_H
