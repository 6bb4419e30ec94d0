/*
 * SPDX-License-Identifier: GPL-2.0-only
 */

#ifndef COSIM_TCP_SENDER_H
#define COSIM_TCP_SENDER_H

#include "clock/causal-simulator.h"
#include "clock/lazy-timer.h"
#include "transport/endpoint.h"
#include "transport/flow-trail.h"
#include "transport/packet-counts.h"
#include "transport/tcp/congestion.h"
#include "transport/tcp/express-tcp-socket.h"
#include "transport/tcp/sender-state.h"

#include "ns3/nstime.h"
#include "ns3/ptr.h"

#include <cstddef>
#include <cstdint>
#include <memory>
#include <optional>
#include <span>

namespace cosim
{

struct TcpSettings;

/**
 * The sending endpoint of a flow in the express fabric: ns-3's TCP with header prediction.
 *
 * While each ACK is the one that TCP expects, a sender has little to decide: it samples the round
 * trip, opens the window, restarts a timer and sends. In this predicted state, this class does so
 * itself, on the integers of a SenderState, and calls ns-3's congestion control. Van Jacobson's
 * header prediction does the same in the TCP of operating systems. The window of ns3::TcpNewReno is
 * among the integers, so such a flow has no congestion control before it has a socket. At anything
 * else (a duplicate ACK, a SACK block, an ECN echo, a timeout, a pause), the flow gets an ns-3
 * socket in the state that the socket would have had, and the socket decides. When nothing is wrong
 * any more, the prediction continues, and another flow can use the socket. Only with ECN, the
 * socket remembers the latest echo, so the flow keeps it.
 *
 * Packets, timers and the order of events are the same as without prediction, to the picosecond.
 */
class TcpSender final : public PausableSender, private CausalEvent
{
  public:
    /// Makes what a flow needs of ns-3.
    class SocketMaker
    {
      public:
        virtual ~SocketMaker() = default;

        /// @return a socket that is new, or was returned
        virtual ns3::Ptr<ExpressTcpSocket> TakeSocket() = 0;

        /// @param socket a socket that knows nothing of its flow any more
        virtual void ReturnSocket(const ns3::Ptr<ExpressTcpSocket>& socket) = 0;

        /**
         * @return a new congestion control. A copied one would not do: some congestion controls of
         * ns-3 (TcpCubic in 3.44) behave differently after they are copied.
         */
        virtual Congestion MakeCongestion() = 0;
    };

    /// What all senders of a fabric share.
    struct Config
    {
        /**
         * @param settings the TCP settings
         * @param prototype a socket with the attributes of all sockets
         * @param control a congestion control of the type that all flows have
         * @param clock their clock
         */
        Config(const TcpSettings& settings,
               const ExpressTcpSocket& prototype,
               ns3::TcpCongestionOps& control,
               CausalSimulator& clock);

        CausalSimulator& clock;
        bool isPredicted; //!< false: each flow has a socket from the start
        bool isNewReno;   //!< true: the congestion control is ns3::TcpNewReno
        bool timestamps;
        bool ecn;
        uint8_t windowShift; //!< by which the window field of an ACK is scaled
        uint32_t segmentBytes;
        uint32_t headerBytes; //!< headers of a data packet on the wire [bytes]
        uint32_t linkHeaderBytes;
        int64_t minTimeoutPs;
        int64_t clockGranularityPs;

        // Set by the user, not owned:
        PacketCarrier* carrier{nullptr};
        SegmentPool* segments{nullptr};
        FlowObserver* observer{nullptr};
        SocketMaker* sockets{nullptr}; //!< makes congestion controls, and sockets where needed
    };

    /**
     * @param config what all senders share; not owned
     * @param flow id of the flow
     * @param state the state in which the handshake leaves the sender
     * @param opened when the handshake began
     */
    TcpSender(const Config& config, FlowId flow, const SenderState& state, ns3::Time opened);

    /// @return what decides what the flow does next, or nothing if that is more than a SilentState
    std::optional<SilentState> GetSilent() const;

    /// @return the packets that it has sent
    const PacketCounts& GetSent() const
    {
        return m_sent;
    }

    /// @return the state while nothing is wrong
    const SenderState& GetState() const
    {
        return m_state;
    }

    /**
     * Become what this silent flow would be if it had done what another one did.
     *
     * @param bytes the bytes that were sent
     * @param end its state after that
     * @param roundTrips the round trips
     * @param startPs when it started [ps]
     * @param memo what the round trips made of the estimate of another flow, or null; replaced by
     * what they make of this one, if it differs
     */
    void Advance(uint32_t bytes,
                 const SilentState& end,
                 std::span<const RoundTrip> roundTrips,
                 int64_t startPs,
                 std::unique_ptr<RttMemo>& memo);

    // FlowSender
    void Submit(uint64_t bytes) override;
    void Receive(const Packet& packet) override;
    uint32_t GetWindow() const override;

    void Abandon() override
    {
        m_isAbandoned = true;
        m_retransmissionTimer.Cancel();
    }

    // PausableSender
    void Pause() override;
    void Resume() override;

  private:
    // CausalEvent: what was submitted a tick ago is sent
    void Happen() override;

    void Send();
    void SendSegment(uint32_t bytes);
    std::size_t CountAcknowledged(const Segment& ack) const;
    void Acknowledge(const Segment& ack, std::size_t segments);
    void EstimateRtt(const Segment& ack, std::size_t segments);
    void Measure(int64_t oldestPs, int64_t latestPs, uint32_t echo);
    void Estimate(std::span<const RoundTrip> roundTrips, int64_t startPs);
    void OpenWindow(uint32_t ackedBytes);
    void OpenWindowOfNewReno(uint32_t segments);
    void MakeCongestion();
    void OnTimeout();
    void GetSocket();

    const Config& m_config;
    const FlowId m_flow;
    bool m_isPredicted{true};
    bool m_hasNeededSocket{false};
    bool m_isAbandoned{false};
    /// while paused: true if data was submitted and has not been sent yet
    bool m_isSubmitInterrupted{false};
    bool m_isSubmitPending{false}; //!< true if data was submitted less than a tick ago
    uint32_t m_interrupted{0};     //!< scheduled calls of Happen that a pause has interrupted
    SenderState m_state;           //!< valid while m_isPredicted is true
    PacketCounts m_sent;
    Congestion m_congestion;
    OwnedTimer<TcpSender, &TcpSender::OnTimeout> m_retransmissionTimer;
    /// while paused: remaining time of the retransmission timer; -1: not armed
    ns3::Time m_timeoutLeft{-1};
    ns3::Ptr<ExpressTcpSocket> m_socket; //!< null while it is not needed
};

} // namespace cosim

#endif // COSIM_TCP_SENDER_H
