/*
 * SPDX-License-Identifier: GPL-2.0-only
 */

#ifndef COSIM_MESSAGE_FABRIC_H
#define COSIM_MESSAGE_FABRIC_H

#include "fabrics/message/agenda.h"
#include "fabrics/message/bundle-log.h"
#include "fabrics/message/parcels.h"
#include "network/fabric-base.h"
#include "network/link-summary.h"
#include "stream/stream-validator.h"
#include "support/slot-pool.h"

#include <algorithm>
#include <cstddef>
#include <cstdint>
#include <span>
#include <unordered_map>
#include <vector>

namespace cosim
{

/**
 * Base class of the estimators: fabrics that carry messages as a whole, without packets and without
 * loss.
 *
 * A message takes PacketFormat::GetWireBytes on the wire. There are no acknowledgments, but the
 * `sent` callback of SimSend waits for the time that one needs to come back. The counter `packets`
 * counts data packets. Counters that need real packets (drops, marks, round trips) are 0.
 *
 * Messages that one path sends at the same time share packets (see Parcels). The estimator
 * therefore gets the messages of one time when all of them are known.
 *
 * An estimator plans its events in an Agenda.
 */
class MessageFabric : public FabricBase, public BundleNetwork
{
  public:
    /// Transmission time of one byte at 1 bit/s [ps].
    static constexpr uint64_t BYTE_PS = 8'000'000'000'000;

    /// @param topology links and paths; must outlive the fabric
    MessageFabric(const Topology& topology, const Settings& settings);

    // NetworkApi
    void SimSend(Rank src, Rank dst, uint64_t bytes, uint64_t tag, uint32_t route, Callback sent)
        override;
    void SimPut(Rank src, Rank dst, uint64_t bytes, uint64_t tag, uint32_t route) override;
    BundleNetwork* GetBundleNetwork() override;
    void SimFinish() override;

    // BundleNetwork
    void SetBundleHandler(BundleHandler* handler) override;
    uint32_t OpenBundle(uint64_t tag, uint32_t messages, ns3::Time delay) override;
    void PutIntoBundles(Rank src,
                        std::span<const BundledMessage> messages,
                        ns3::Time delay,
                        uint32_t group) override;

    // Fabric
    void Start() override;
    NetworkStatistics GetStatistics() const override;
    std::vector<LinkCounters> GetLinks() const override;

    bool IsAmbiguous() const override
    {
        return m_isAmbiguous;
    }

    uint64_t GetSentPackets() const override
    {
        return 0; // it carries messages; their packets are only counted
    }

  protected:
    static constexpr uint32_t NONE = UINT32_MAX;

    /**
     * Bit that marks the subject of a planned event as a bundle, not as a subject of the estimator.
     */
    static constexpr uint32_t BUNDLE = uint32_t{1} << 31;

    /**
     * Carry messages. The estimator calls Place for each of them when it knows its arrival time.
     *
     * @param cargo the messages
     * @param at time at which the messages are sent; not in the past [ps]
     * @param now current time [ps]
     */
    virtual void Launch(std::span<const Cargo> cargo, uint64_t at, uint64_t now) = 0;

    /// @return the counters of each link; only those of first links count if the topology is folded
    virtual std::vector<LinkCounters> CountLinks() const = 0;

    /**
     * Handle a planned event.
     *
     * @param subject the subject that was given to Plan
     * @param now current time [ps]
     */
    virtual void OnDue(uint32_t subject, uint64_t now) = 0;

    /**
     * Start to load what OnDue will need for an event that is soon due. Many messages in flight do
     * not fit into a processor's caches. It is called whenever the event comes nearer.
     *
     * @param subject the subject that was given to Plan
     * @param before an upper bound of the number of events before it, at most Agenda::SOON
     */
    virtual void Prepare(uint32_t subject, std::size_t before) const;

    /// Start to load a bundle for Place.
    void PrepareBundle(uint32_t id) const
    {
        __builtin_prefetch(&m_bundles[id]);
    }

    /**
     * Called when all events of the current time are handled.
     *
     * @param now current time [ps]
     */
    virtual void OnServed(uint64_t now);

    /**
     * Plan an event.
     *
     * @param at time of the event; not in the past [ps]
     * @param subject identifies the event to OnDue; any value below 2³¹
     */
    void Plan(uint64_t at, uint32_t subject);

    /**
     * Request one call of OnServed at the current time.
     *
     * @param now current time [ps]
     */
    void RequestService(uint64_t now);

    /// End the run of a folded topology; see IsAmbiguous.
    void EndAmbiguous();

    /// @return whether the topology is folded
    bool IsFolded() const
    {
        return m_topology.folding.Exists();
    }

    /**
     * Set the arrival time of a message.
     *
     * @param id id of the message's bundle
     * @param message the message, with an arrival time that is not in the past
     */
    void Place(uint32_t id, const BundleLog::Message& message)
    {
        if (m_bundles[id].passengers == NONE)
        {
            PlaceOne(id, message);
        }
        else
        {
            PlacePassengers(id, message);
        }
    }

    /**
     * Move the arrival time of a placed message to a later time.
     *
     * @param bundle id of the message's bundle
     * @param path path of the message
     * @param sentAt time at which the message was sent [ps]
     * @param before arrival time set so far; not in the past [ps]
     * @param at new arrival time [ps]
     */
    void Postpone(uint32_t bundle, uint32_t path, uint64_t sentAt, uint64_t before, uint64_t at);

    /**
     * End the run, because a message takes longer than the clock can count.
     *
     * @param bytes size of the message [bytes]
     * @param path path of the message
     */
    void Abandon(uint64_t bytes, uint32_t path);

    /**
     * @return the time that a link takes to transmit a number of bytes, rounded up, at most
     * MAX_TIME_PS
     */
    uint64_t TransmissionPs(uint64_t bytes, uint32_t link) const;

    /// @return the forwarding delay of the node at which a link starts [ps]
    uint64_t ForwardingPs(uint32_t link) const;

    /**
     * @return the link on which acknowledgments leave the target of a path, or NONE if they share
     * no link with data
     */
    uint32_t GetAckLink(uint32_t path) const;

    /// @return the time that an acknowledgment takes from the target of a path to its source [ps]
    uint64_t AcknowledgementPs(uint32_t path) const;

    /// @return the simulated time since the start [ps]
    uint64_t Now() const;

    /// @return a + b, at most twice MAX_TIME_PS
    static uint64_t Later(uint64_t a, uint64_t b)
    {
        return std::min(a + b, 2 * MAX_TIME_PS);
    }

  private:
    friend class AckStalls;
    friend class SendWindows;
    friend class Agenda<MessageFabric>;

    /// A bundle of messages. A single message is a bundle with one message.
    struct Bundle
    {
        uint64_t tag{0};
        uint64_t bytes{0};    //!< payload of the messages with an arrival time
        uint64_t dueAt{0};    //!< due time as known so far [ps]
        uint64_t delay{0};    //!< time from the last arrival to dueAt [ps]
        uint32_t messages{0}; //!< number of messages
        uint32_t unplaced{0}; //!< number of messages without an arrival time
        uint32_t path{NONE};  //!< path of a single message
        /// first one of m_passengers, if the bundle stands for messages that share packets
        uint32_t passengers{NONE};
        bool isPut{false};     //!< true if the message goes to the arrival handler
        bool isAwaited{false}; //!< true if a callback waits for the acknowledgment
        /// true if m_log records its messages, because an observer receives them
        bool isLogged{false};
    };

    /// A message that shares packets with others. Slots are reused.
    struct Passenger
    {
        uint32_t bundle;
        uint32_t next; //!< next message with the same packets
        uint64_t bytes;
    };

    /// The last message that was sent over a link as the first of its path.
    struct LastSend
    {
        uint64_t at{UINT64_MAX}; //!< [ps]
        uint32_t group{NONE};    //!< of its collective; NONE: it belongs to none
    };

    /**
     * Note that a message is sent. If another one takes its first link in the same picosecond,
     * their order is that in which things happen at the rank. This is the same for all ranks if
     * they belong to collectives of one group, which all its members begin at once.
     */
    void NoteSend(uint32_t path, uint64_t at, uint32_t group);

    /// Set the arrival time of a message that shares no packet.
    void PlaceOne(uint32_t id, const BundleLog::Message& message)
    {
        const uint64_t completionPs = message.arrivesAt - message.sentAt;
        m_completionPs.Add(completionPs);
        m_flowRecord.Add(message.path, message.bytes, completionPs);
        Bundle& bundle = m_bundles[id];
        bundle.bytes += message.bytes;
        bundle.dueAt = std::max(bundle.dueAt, message.arrivesAt + bundle.delay);
        if (bundle.isLogged)
        {
            m_log.Place(id, message);
        }
        if (--bundle.unplaced == 0)
        {
            Plan(bundle.dueAt, id | BUNDLE);
        }
    }

    uint32_t GetBack(uint32_t path) const;
    uint32_t MakeBundle();
    void PlacePassengers(uint32_t id, const BundleLog::Message& message);
    void Board(std::span<const Parcels::Passenger> passengers);
    void OnPass(uint64_t now);
    void PostponeOne(uint32_t id, uint32_t path, uint64_t sentAt, uint64_t before, uint64_t at);
    void LaunchAlone(uint32_t path, uint64_t bytes, uint64_t tag, bool isPut, Callback sent);
    void LogSent(Rank src, std::span<const BundledMessage> messages, uint64_t at);
    void ReportDelivered(uint32_t bundle);
    void OnBundleDue(uint32_t id, uint64_t now);
    void Arrive(uint32_t bundle);
    void OnPlanned(uint32_t subject, uint64_t now);
    void OnNear(uint32_t subject, std::size_t before) const;

    SlotPool<Bundle> m_bundles;
    BundleHandler* m_bundleHandler{nullptr}; //!< not owned
    /// callbacks that wait for an acknowledgment, keyed by bundle
    std::unordered_map<uint32_t, Callback> m_sent;
    BundleLog m_log;
    Parcels m_parcels;
    SlotPool<Passenger> m_passengers;
    // Buffers of OnPass; members so that their memory is reused
    std::vector<Cargo> m_cargo;
    std::vector<Parcels::Passenger> m_boarding;
    Agenda<MessageFabric> m_agenda;
    std::vector<LastSend> m_lastSends; //!< per link; empty unless the topology is folded
    bool m_isAmbiguous{false};
};

// Its code is next to that of MessageFabric, which it calls for each event.
extern template class Agenda<MessageFabric>;

} // namespace cosim

#endif // COSIM_MESSAGE_FABRIC_H
