/*
 * SPDX-License-Identifier: GPL-2.0-only
 */

#ifndef COSIM_MESSAGE_FABRIC_H
#define COSIM_MESSAGE_FABRIC_H

#include "fabrics/message/bundle-log.h"
#include "fabrics/message/wire-sizes.h"
#include "network/fabric-base.h"
#include "network/link-summary.h"
#include "stream/stream-validator.h"
#include "support/radix-queue.h"
#include "support/slot-pool.h"

#include <algorithm>
#include <cstdint>
#include <span>
#include <unordered_map>
#include <vector>

namespace cosim
{

/**
 * What the estimators share: they carry messages as wholes, without packets and without loss.
 *
 * A message of P payload bytes in segments of at most M bytes is W = P + ceil(P/M)·h bytes on the
 * wire, where h are the IPv4 and TCP headers (with the timestamp option if timestamps are on) and
 * the link header. There are no acknowledgements, but SimSend's `sent` waits for the way back of
 * one. `packets` counts the ceil(P/M) segments; what only packets have (drops, marks, round trips)
 * is 0.
 *
 * An estimator plans what happens to its messages in a queue of its own, of which ns-3 sees one
 * event a moment at which something is due.
 */
class MessageFabric : public FabricBase, public BundleNetwork
{
  public:
    /**
     * @param topology links and paths; must outlive the fabric
     * @param settings its TCP settings give the sizes of segments and headers; must outlive it
     */
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
                        ns3::Time delay) override;

    // Fabric
    void Start() override;
    NetworkStatistics GetStatistics() const override;

  protected:
    static constexpr uint32_t NONE = UINT32_MAX;

    /// A byte at 1 bit/s [ps].
    static constexpr uint64_t BYTE_PS = 8'000'000'000'000;

    /// Tells a bundle that is due from what an estimator has planned.
    static constexpr uint32_t BUNDLE = uint32_t{1} << 31;

    /// A message that the estimator carries.
    struct Cargo
    {
        WireSize size;
        uint32_t path;
        uint32_t bundle;
    };

    /**
     * Messages were handed over; each is to be placed (see Place) when its arrival is known.
     *
     * @param cargo the messages
     * @param at when they are sent, not in the past [ps]
     * @param now the time [ps]
     */
    virtual void Launch(std::span<const Cargo> cargo, uint64_t at, uint64_t now) = 0;

    /**
     * Something that was planned is due.
     *
     * @param subject as planned
     * @param now the time [ps]
     */
    virtual void OnDue(uint32_t subject, uint64_t now) = 0;

    /**
     * All that was due at this moment is done.
     *
     * @param now the time [ps]
     */
    virtual void OnServed(uint64_t now);

    /// @return what every link did since the start
    virtual std::vector<LinkCounters> GetLinkCounters() const = 0;

    /**
     * @param at when something is due, not in the past [ps]
     * @param subject what; below 2³¹, its bits are the estimator's
     */
    void Plan(uint64_t at, uint32_t subject);

    /**
     * Call OnServed at this moment, once.
     *
     * @param now the time [ps]
     */
    void RequestService(uint64_t now);

    /**
     * It is known when a message will arrive.
     *
     * @param id the bundle that it belongs to
     * @param message the message; it does not arrive in the past
     */
    void Place(uint32_t id, const BundleLog::Message& message)
    {
        m_completionPs.Add(message.arrivesAt - message.sentAt);
        Bundle& bundle = m_bundles[id];
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

    /**
     * A placed message arrives later.
     *
     * @param bundle the one it belongs to
     * @param path its path
     * @param sentAt when it was sent [ps]
     * @param before when it would have arrived, not in the past [ps]
     * @param at when it arrives [ps]
     */
    void Postpone(uint32_t bundle, uint32_t path, uint64_t sentAt, uint64_t before, uint64_t at);

    /**
     * A message takes longer than the clock can count: end the run.
     *
     * @param bytes its size [bytes]
     * @param path its path
     */
    void Abandon(uint64_t bytes, uint32_t path);

    /// @return the time that a link takes to transmit so much, rounded up, at most MAX_TIME_PS
    uint64_t TransmissionPs(uint64_t bytes, uint32_t link) const;

    /// @return how long the node at which a link starts takes to pass a packet on [ps]
    uint64_t ForwardingPs(uint32_t link) const;

    /// @return from the arrival at a path's target to that of the acknowledgement at its source
    uint64_t AcknowledgementPs(uint32_t path) const;

    /// @return simulated time since the start [ps]
    uint64_t Now() const;

    /// @return a + b, at most twice MAX_TIME_PS
    static uint64_t Later(uint64_t a, uint64_t b)
    {
        return std::min(a + b, 2 * MAX_TIME_PS);
    }

    const uint32_t m_headerBytes; //!< h

  private:
    /// Messages of which the last arrival matters; one message that is handed over alone is such.
    struct Bundle
    {
        uint64_t tag{0};
        uint64_t bytes{0};     //!< of all of them
        uint64_t dueAt{0};     //!< as far as is known [ps]
        uint64_t delay{0};     //!< from the last arrival to dueAt [ps]
        uint32_t messages{0};  //!< how many
        uint32_t unplaced{0};  //!< how many of them are still to be placed
        uint32_t path{NONE};   //!< of a message alone
        bool isPut{false};     //!< that goes to the arrival handler
        bool isAwaited{false}; //!< whose acknowledgement somebody waits for
        bool isLogged{false};  //!< in m_log: somebody observes its messages
    };

    uint32_t MakeBundle();
    void Load(uint32_t path, uint64_t bytes, uint32_t bundle, Cargo& cargo);
    void LaunchAlone(uint32_t path, uint64_t bytes, uint64_t tag, bool isPut, Callback sent);
    void LogSent(Rank src, std::span<const BundledMessage> messages, uint64_t at);
    void ReportDelivered(uint32_t bundle);
    void OnBundleDue(uint32_t id, uint64_t now);
    void Arrive(uint32_t bundle);
    void Wake(uint64_t at, uint64_t now);
    void Serve();

    SlotPool<Bundle> m_bundles;
    BundleHandler* m_bundleHandler{nullptr};       //!< not owned
    std::unordered_map<uint32_t, Callback> m_sent; //!< of the bundles that are awaited
    WireSizes m_sizes;
    BundleLog m_log;
    std::vector<Cargo> m_cargo;    //!< of PutIntoBundles, to use its memory again
    std::vector<char> m_usedPaths; //!< that carried a message
    RadixQueue<uint32_t> m_due;
    std::vector<uint64_t> m_wakes; //!< times of the events that call Serve, the next one behind
    uint64_t m_nextPoll;           //!< the number of messages at which the poll hook is called
    bool m_isServing{false};
    bool m_isFinished{false};
};

} // namespace cosim

#endif // COSIM_MESSAGE_FABRIC_H
