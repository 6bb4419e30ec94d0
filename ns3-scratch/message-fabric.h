/*
 * SPDX-License-Identifier: GPL-2.0-only
 */

#ifndef COSIM_MESSAGE_FABRIC_H
#define COSIM_MESSAGE_FABRIC_H

#include "fabric-base.h"
#include "link-summary.h"
#include "radix-queue.h"

#include <cstdint>
#include <unordered_map>
#include <vector>

namespace cosim
{

/**
 * What the estimators share: they carry messages as wholes, without packets and without loss.
 *
 * A message of P payload bytes in segments of at most M bytes is W = P + ceil(P/M)·h bytes on the
 * wire, where h are the IPv4 and TCP headers (with 12 bytes of options if timestamps are on) and
 * the link header. There are no acknowledgements, but SimSend's `sent` waits for the way back of
 * one. `packets` counts the ceil(P/M) segments; what only packets have (drops, marks, round trips)
 * is 0.
 *
 * An estimator plans what happens to its messages in a queue of its own, of which ns-3 sees one
 * event a moment at which something is due.
 */
class MessageFabric : public FabricBase
{
  public:
    /**
     * @param topology links and paths; must outlive the fabric
     * @param settings its TCP settings give the sizes of segments and headers; must outlive it
     */
    MessageFabric(const Topology& topology, const Settings& settings);

    // NetworkApi
    void SimSend(Rank src, Rank dst, uint64_t bytes, uint64_t tag, Callback sent) override;
    void SimPut(Rank src, Rank dst, uint64_t bytes, uint64_t tag, uint32_t route) override;
    void SimFinish() override;

    // Fabric
    void Start() override;
    NetworkStatistics GetStatistics() const override;

  protected:
    static constexpr uint32_t NONE = UINT32_MAX;

    /// A message under way. Slots of this kind are used again.
    struct Message
    {
        uint64_t bytes;
        uint64_t tag;
        uint64_t sentAt;     //!< when it was handed to the fabric [ps]
        uint64_t wireBytes;  //!< W
        uint64_t lastAt;     //!< the estimator's: a moment [ps]
        uint32_t firstBytes; //!< the first packet on the wire
        uint32_t lastBytes;  //!< the last packet on the wire
        uint32_t path;
        uint32_t next;  //!< the estimator's: another message, or a place in its path
        bool isPut;     //!< goes to the arrival handler
        bool isAwaited; //!< somebody waits for its acknowledgement
    };

    /**
     * A message was handed over.
     *
     * @param message its slot
     * @param now the time [ps]
     */
    virtual void Launch(uint32_t message, uint64_t now) = 0;

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
     * @param subject what; all its bits are the estimator's
     */
    void Plan(uint64_t at, uint32_t subject);

    /**
     * Call OnServed at this moment, once.
     *
     * @param now the time [ps]
     */
    void RequestService(uint64_t now);

    /**
     * The last byte of a message is at its target; its slot is free afterwards.
     *
     * @param message its slot
     */
    void Arrive(uint32_t message);

    /// @param message the one that takes longer than the clock can count: end the run
    void Abandon(const Message& message);

    /// @return the slot's message
    Message& GetMessage(uint32_t message)
    {
        return m_messages[message];
    }

    /// @return the slot's message
    const Message& GetMessage(uint32_t message) const
    {
        return m_messages[message];
    }

    /// @return the time that a link takes to transmit so much, rounded up, at most MAX_TIME_PS
    uint64_t TransmissionPs(uint64_t bytes, uint32_t link) const;

    /// @return how long the node at which a path's link starts takes to pass a packet on [ps]
    uint64_t ForwardingPs(uint32_t hop) const;

    /// @return from the arrival at a path's target to that of the acknowledgement at its source
    uint64_t AcknowledgementPs(uint32_t path) const;

    /// @return simulated time since the start [ps]
    uint64_t Now() const;

    /// @return a + b, at most twice MAX_TIME_PS
    static uint64_t Later(uint64_t a, uint64_t b);

    const uint32_t m_headerBytes; //!< h

  private:
    uint32_t Submit(uint32_t path, uint64_t bytes, uint64_t tag, bool isPut, Callback sent);
    void Wake(uint64_t at, uint64_t now);
    void Serve();

    std::vector<Message> m_messages;
    std::vector<uint32_t> m_freeMessages;
    std::unordered_map<uint32_t, Callback> m_sent; //!< of the messages that are awaited
    std::vector<bool> m_usedPaths;                 //!< that carried a message
    RadixQueue<uint32_t> m_due;
    std::vector<uint64_t> m_wakes; //!< times of the events that call Serve, the next one behind
    bool m_isServing{false};
    bool m_isFinished{false};
};

} // namespace cosim

#endif // COSIM_MESSAGE_FABRIC_H
