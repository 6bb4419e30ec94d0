/*
 * SPDX-License-Identifier: GPL-2.0-only
 */

#ifndef COSIM_MESSAGE_PARTS_H
#define COSIM_MESSAGE_PARTS_H

#include "network/ideal-time.h"
#include "network/live-links.h"
#include "network/path-index.h"
#include "network/run-observer.h"
#include "network/transport-facts.h"
#include "stream/stream.h"
#include "support/flat-map.h"

#include <array>
#include <cstdint>
#include <span>
#include <string_view>
#include <vector>

namespace cosim
{

/// What the time on a critical path is spent on.
enum class PathKind : uint8_t
{
    COMPUTE,        //!< a rank computes
    TIMER,          //!< a timer of the workload runs
    SLOT,           //!< a chunk waits for slots
    INJECTION,      //!< the latency of a step before it sends, or after it has received
    HOST,           //!< a rank handles a message
    SERIALIZATION,  //!< transmission of a message, and of those of its collective before it
    PROPAGATION,    //!< latencies of the links
    QUEUEING,       //!< a message waits behind messages that are not of its collective
    PAUSED,         //!< a port of a message's path is paused, and its links explain no wait
    WINDOW,         //!< the rest of a message's time: TCP's window holds it back
    RETRANSMISSION, //!< TCP repairs losses
    REDUCTION,      //!< a rank reduces what it has received
};

/// Names of the kinds in a result, in their order.
constexpr std::array<std::string_view, 12> PATH_KINDS{"compute_ns",
                                                      "timer_ns",
                                                      "slot_ns",
                                                      "injection_ns",
                                                      "host_ns",
                                                      "serialization_ns",
                                                      "propagation_ns",
                                                      "queueing_ns",
                                                      "paused_ns",
                                                      "window_ns",
                                                      "retransmission_ns",
                                                      "reduction_ns"};

/**
 * Tells what a message waits for on the links of its path: for other messages of its owner, such as
 * its collective, or for those of others.
 *
 * It adds up the transmission times of all delivered messages on each link, and those of each
 * owner. A message counts when it is delivered, so a message that was half sent when another one
 * begins to wait counts whole.
 */
class LinkLoads
{
  public:
    /// What messages belong together: a number for each collective, or for each pair of ranks.
    using Owner = uint64_t;

    /// How much a link had carried at some time [ps].
    struct Mark
    {
        uint32_t link;
        uint64_t ownPs;       //!< of messages of the owner
        uint64_t allPs;       //!< of all messages
        uint64_t pausedPs{0}; //!< how long its port had been paused
    };

    /// What a link was busy with [ps].
    struct Load
    {
        uint64_t ownPs;    //!< other messages of the owner
        uint64_t othersPs; //!< messages of others
    };

    /**
     * @param links links as they are now; must outlive this object
     * @param formats sizes of the packets; must outlive this object
     */
    LinkLoads(const LiveLinks& links, const PacketFormats& formats);

    /**
     * @param owner owner of a message that is sent now
     * @param path index of its path
     * @return what the links have carried until now
     */
    std::vector<Mark> Look(Owner owner, uint32_t path);

    /// @param path index of the path of a message that was delivered
    void Add(uint32_t path, uint64_t bytes);

    /**
     * Count a delivered message for its owner, and say what it has waited for. All delivered
     * messages, this one too, were added before.
     *
     * @param path index of its path
     * @param marks what Look returned when the message was sent
     * @return what the busiest link of its path has carried since then beside this message
     */
    Load Deliver(Owner owner, uint32_t path, std::span<const Mark> marks, uint64_t bytes);

  private:
    /// A link, for the messages of an owner.
    struct Place
    {
        Owner owner{0};
        uint32_t link{0};

        bool operator==(const Place&) const = default;

        uint64_t Hash() const
        {
            return MixHash(owner, link);
        }
    };

    uint64_t GetTimePs(uint32_t link, uint64_t wireBytes) const;

    const LiveLinks& m_links;
    const PacketFormats& m_formats;
    std::vector<uint64_t> m_allPs; //!< indexed by link
    FlatMap<Place, uint64_t> m_ownPs;
};

/// A message on its way.
struct SentMessage
{
    Rank src;
    Rank dst;
    uint32_t route;
    uint64_t bytes;
    uint64_t sentPs;
    LinkLoads::Owner owner;             //!< what it belongs to: a collective, or a pair of ranks
    uint64_t repairPs;                  //!< the repairs of its flows when it was sent
    std::vector<LinkLoads::Mark> marks; //!< what its links had carried when it was sent
};

/// A part of the time of a message.
struct MessagePart
{
    PathKind kind;
    uint64_t timePs;
};

/**
 * Divides the time of a message into parts.
 *
 * Propagation is the latency of the path. Serialization is the transmission of the message in an
 * empty network, and of other messages of its owner, which it waits for on the busiest link of its
 * path: the bandwidth of a link decides how long a collective takes, however it is divided into
 * messages. The host part is the work of both ranks. Retransmission is the time in which TCP
 * repairs losses of the message's flow: for a timeout, the time for which the timer has run; for
 * other retransmissions, a round trip in an empty network. Queueing is the wait for messages of
 * other owners on the busiest link. Paused is the time for which a port of the path has stood still
 * longer than the busiest link was busy: while that link has something to send, a pause costs
 * nothing. It is the least that pauses can have cost. The rest is the wait for TCP's window, or for
 * the rate of a queue pair. If the parts exceed the time of the message, the first ones count.
 */
class MessageParts
{
  public:
    /**
     * @param topology paths of the run; must outlive this object
     * @param settings must outlive this object
     * @param links links as they are now; must outlive this object
     */
    MessageParts(const Topology& topology, const Settings& settings, const LiveLinks& links);

    /// @param event a flow whose retransmission timer expires
    void OnTimeout(const FlowEvent& event, uint64_t waitedPs);

    /// @param event a flow that sends a packet again
    void OnRetransmission(const FlowEvent& event);

    /// @param event a port that stops to send a traffic class
    void OnPaused(const PortPauseEvent& event);

    /// @param event a port that goes on to send a traffic class
    void OnResumed(const PortPauseEvent& event);

    /// @param event any message that was delivered
    void OnDelivered(const MessageEvent& event);

    /// @param message a message that is sent now; receives what the network has done until now
    void Mark(SentMessage& message);

    /**
     * @param message a message that arrives now
     * @param nowPs current time [ps]
     * @return the parts of its time, in the order of time; they add up to it
     */
    std::array<MessagePart, 7> Divide(const SentMessage& message, uint64_t nowPs);

  private:
    /// What a flow has lost.
    struct Flow
    {
        uint64_t repairPs{0};
        uint64_t repairedAtPs{0}; //!< end of the latest repair
    };

    /// How long a port was paused, in any of its traffic classes.
    struct PortStop
    {
        uint64_t sumPs{0};   //!< of the pauses that have ended
        uint64_t sincePs{0}; //!< start of the present one
        uint32_t classes{0}; //!< that are paused now
    };

    uint64_t GetPausedPs(uint32_t link, uint64_t nowPs) const;
    uint64_t GetRepairPs(Rank src, Rank dst, uint32_t route) const;
    uint64_t GetHostPs(const HostCost& cost, uint64_t bytes) const;

    const SystemSettings& m_system;
    PacketFormats m_formats;
    uint32_t m_flowsPerPair;
    const LiveLinks& m_links;
    IdealTime m_ideal;
    LinkLoads m_loads;
    PathIndex m_paths;
    std::vector<Flow> m_flows;     //!< indexed by path
    std::vector<PortStop> m_stops; //!< indexed by link; empty until one is paused
};

} // namespace cosim

#endif // COSIM_MESSAGE_PARTS_H
