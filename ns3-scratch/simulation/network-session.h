/*
 * SPDX-License-Identifier: GPL-2.0-only
 */

#ifndef COSIM_NETWORK_SESSION_H
#define COSIM_NETWORK_SESSION_H

#include "circuits/circuit-switch.h"
#include "clock/simulator-session.h"
#include "network/fabric.h"
#include "stream/stream.h"

#include <cstdint>
#include <exception>
#include <functional>
#include <map>
#include <memory>
#include <string>

namespace cosim
{

/**
 * The network API on its own, driven message by message by a script.
 *
 * It checks every argument (a bad one would abort the process inside ns-3), passes on what a
 * callback throws, and tells a script that waits for a message that nobody sends.
 */
class NetworkSession
{
  public:
    using Callback = NetworkApi::Callback;

    /**
     * @param stream its settings and topology are used, and no work
     * @throws std::invalid_argument if it names an unknown fabric or congestion control
     * @throws CoreError if another Simulation or Network is alive
     */
    explicit NetworkSession(Stream stream);
    ~NetworkSession();

    NetworkSession(const NetworkSession&) = delete;
    NetworkSession& operator=(const NetworkSession&) = delete;

    /**
     * Send a message, see NetworkApi::SimSend.
     *
     * @throws std::invalid_argument if a rank or the size is out of range, or there is no path
     */
    void Send(int64_t src, int64_t dst, int64_t bytes, int64_t tag, Callback sent);

    /**
     * Receive a message, see NetworkApi::SimRecv.
     *
     * @throws std::invalid_argument as Send, or if a message of another size has arrived
     */
    void Receive(int64_t src, int64_t dst, int64_t bytes, int64_t tag, Callback received);

    /**
     * Call back later, see NetworkApi::SimSchedule.
     *
     * @param delayPs from now [ps]
     * @param callback what to call
     * @throws std::invalid_argument if the delay is negative or beyond MAX_TIME_PS
     */
    void Schedule(int64_t delayPs, Callback callback);

    /// @return the time since the fabric was ready [ps]
    uint64_t GetTimePs() const;

    /// @return the number of ranks
    uint32_t GetCommSize() const;

    /// End the run: no later callback is called.
    void Finish();

    /**
     * Run until Finish is called, or until all messages are received and all callbacks were called.
     *
     * @param poll called from time to time; may throw, which ends the run
     * @throws CoreError if receives wait for messages that nobody sends, or a flow failed; and
     * whatever a callback threw
     */
    void Run(const std::function<void()>& poll);

    /// @return the "network" object of a result as JSON text
    std::string GetStatistics() const;

    /// Destroy the simulator and all of its objects. Nothing happens the second time.
    void Close();

  private:
    /// A receive that was posted and is not done.
    struct Posted
    {
        Rank src;
        Rank dst;
        uint64_t bytes;
        uint64_t tag;
    };

    void RequireOpen() const;
    void CheckMessage(int64_t src, int64_t dst, int64_t bytes, int64_t tag) const;
    void Call(const Callback& callback);
    void CheckDone();
    void OnCheck();

    Stream m_stream;
    std::unique_ptr<SimulatorSession> m_session;
    std::unique_ptr<Fabric> m_fabric;
    std::unique_ptr<CircuitSwitch> m_circuits; //!< null: there are no circuits
    std::map<uint64_t, Posted> m_posted;       //!< by the order in which they were posted
    uint64_t m_posts{0};
    uint64_t m_sending{0};   //!< messages without acknowledgement
    uint64_t m_scheduled{0}; //!< callbacks
    bool m_checking{false};  //!< OnCheck is scheduled
    bool m_hasRun{false};
    bool m_isFinished{false};
    std::exception_ptr m_thrown; //!< by a callback
};

} // namespace cosim

#endif // COSIM_NETWORK_SESSION_H
