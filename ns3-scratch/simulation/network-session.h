/*
 * SPDX-License-Identifier: GPL-2.0-only
 */

#ifndef COSIM_NETWORK_SESSION_H
#define COSIM_NETWORK_SESSION_H

#include "circuits/circuit-switch.h"
#include "circuits/link-events.h"
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
 * A session of the network API without a workload. A script sends and receives single messages.
 *
 * It checks every argument, because a bad one would abort the process inside ns-3. It passes on
 * exceptions from callbacks. It reports an error if the script waits for a message that nobody
 * sends.
 */
class NetworkSession
{
  public:
    using Callback = NetworkApi::Callback;

    /**
     * @param stream a stream; only its settings and topology are used
     * @throws std::invalid_argument if the stream names an unknown fabric or congestion control
     * @throws CoreError if another Simulation or Network is open in this process
     */
    explicit NetworkSession(Stream stream);
    ~NetworkSession();

    NetworkSession(const NetworkSession&) = delete;
    NetworkSession& operator=(const NetworkSession&) = delete;

    /**
     * Send a message. See NetworkApi::SimSend.
     *
     * @throws std::invalid_argument if a rank or the size is out of range, or if there is no path
     */
    void Send(int64_t src, int64_t dst, int64_t bytes, uint64_t tag, Callback sent);

    /**
     * Receive a message. See NetworkApi::SimRecv.
     *
     * @throws std::invalid_argument in the cases of Send, and if a message of another size has
     * arrived
     */
    void Receive(int64_t src, int64_t dst, int64_t bytes, uint64_t tag, Callback received);

    /**
     * Call a function after a delay. See NetworkApi::SimSchedule.
     *
     * @param delayPs time from now [ps]
     * @param callback the function to call
     * @throws std::invalid_argument if the delay is negative or more than MAX_TIME_PS
     */
    void Schedule(int64_t delayPs, Callback callback);

    /// @return the simulated time since the fabric was ready [ps]
    uint64_t GetTimePs() const;

    /// @return the number of ranks
    uint32_t GetCommSize() const;

    /// End the run. No callback is called afterwards.
    void Finish();

    /**
     * Run until Finish is called, or until all messages are received and all callbacks are called.
     *
     * @param poll called from time to time; it may throw, which ends the run
     * @throws CoreError if receives wait for messages that nobody sends, or if a flow failed.
     * Exceptions of callbacks and of poll pass through.
     */
    void Run(const std::function<void()>& poll);

    /// @return the "network" object of a result, as JSON text
    std::string GetStatistics() const;

    /// Destroy the simulator and all its objects. Further calls have no effect.
    void Close();

  private:
    /// A posted receive that is not done.
    struct Posted
    {
        Rank src;
        Rank dst;
        uint64_t bytes;
        uint64_t tag;
    };

    void RequireOpen() const;
    void CheckMessage(int64_t src, int64_t dst, int64_t bytes) const;
    void Call(const Callback& callback);
    void CheckDone();
    void OnCheck();

    Stream m_stream;
    std::unique_ptr<SimulatorSession> m_session;
    std::unique_ptr<Fabric> m_fabric;
    std::unique_ptr<LinkEvents> m_events;      //!< null if no event changes links
    std::unique_ptr<CircuitSwitch> m_circuits; //!< null if the links do not change
    std::map<uint64_t, Posted> m_posted;       //!< keyed by the order in which they were posted
    uint64_t m_posts{0};
    uint64_t m_sending{0};   //!< messages that are not acknowledged
    uint64_t m_scheduled{0}; //!< callbacks that have not been called
    bool m_checking{false};  //!< true while OnCheck is scheduled
    bool m_hasRun{false};
    bool m_isFinished{false};
    bool m_isAbandoned{false};   //!< ns-3 has failed in the middle of an event
    std::exception_ptr m_thrown; //!< exception of a callback
};

} // namespace cosim

#endif // COSIM_NETWORK_SESSION_H
