/*
 * SPDX-License-Identifier: GPL-2.0-only
 */

#include "simulation/network-session.h"

#include "clock/causal-simulator.h"
#include "clock/fatal-errors.h"
#include "fabrics/registry.h"
#include "results/result-writer.h"
#include "stream/stream-validator.h"

#include "ns3/simulator.h"

#include <stdexcept>
#include <utility>

namespace cosim
{

NetworkSession::NetworkSession(Stream stream)
    : m_stream(std::move(stream)),
      m_session(std::make_unique<SimulatorSession>(m_stream.header.seed)),
      m_fabric(MakeFabric(m_stream.topology, m_stream.settings)),
      m_circuits(MakeCircuitSwitch(m_stream.topology, *m_fabric, {}))
{
    m_fabric->Start();
    m_events = MakeLinkEvents(m_stream.topology, *m_fabric, {});
}

NetworkSession::~NetworkSession()
{
    Close();
}

void
NetworkSession::Send(int64_t src, int64_t dst, int64_t bytes, uint64_t tag, Callback sent)
{
    CheckMessage(src, dst, bytes);
    m_fabric->SimSend(static_cast<Rank>(src),
                      static_cast<Rank>(dst),
                      static_cast<uint64_t>(bytes),
                      tag,
                      0,
                      [this, callback = std::move(sent)] {
                          --m_sending;
                          Call(callback);
                      });
    ++m_sending;
}

void
NetworkSession::Receive(int64_t src, int64_t dst, int64_t bytes, uint64_t tag, Callback received)
{
    CheckMessage(src, dst, bytes);
    const Posted posted{static_cast<Rank>(src),
                        static_cast<Rank>(dst),
                        static_cast<uint64_t>(bytes),
                        tag};
    const uint64_t id = m_posts++;
    m_fabric->SimRecv(posted.src,
                      posted.dst,
                      posted.bytes,
                      posted.tag,
                      [this, id, callback = std::move(received)] {
                          m_posted.erase(id);
                          Call(callback);
                      });
    m_posted.emplace(id, posted);
}

void
NetworkSession::Schedule(int64_t delayPs, Callback callback)
{
    RequireOpen();
    if (delayPs < 0 || static_cast<uint64_t>(delayPs) > MAX_TIME_PS)
    {
        throw std::invalid_argument("the delay is " + std::to_string(delayPs) + " ps, but 0 … " +
                                    std::to_string(MAX_TIME_PS) + " are accepted");
    }
    ++m_scheduled;
    m_fabric->SimSchedule(ns3::Time(delayPs), [this, callback = std::move(callback)] {
        --m_scheduled;
        Call(callback);
    });
}

uint64_t
NetworkSession::GetTimePs() const
{
    RequireOpen();
    return static_cast<uint64_t>(m_fabric->SimGetTime().GetTimeStep());
}

uint32_t
NetworkSession::GetCommSize() const
{
    RequireOpen();
    return m_fabric->SimCommSize();
}

void
NetworkSession::Finish()
{
    RequireOpen();
    m_isFinished = true;
    m_fabric->SimFinish();
}

void
NetworkSession::Run(const std::function<void()>& poll)
{
    RequireOpen();
    if (m_hasRun)
    {
        throw CoreError("a Network runs only once");
    }
    m_hasRun = true;
    if (m_isFinished)
    {
        return;
    }
    CausalSimulator::Get().SetPollHook([this, &poll] { Call(poll); });
    CheckDone();
    try
    {
        const std::string error = CatchFatalErrors([] { ns3::Simulator::Run(); });
        if (!error.empty())
        {
            m_isAbandoned = true;
            throw CoreError("ns-3 cannot continue: " + error);
        }
    }
    catch (...)
    { // the sizes of a message and its receive differ
        m_thrown = std::current_exception();
    }
    CausalSimulator::Get().SetPollHook({});
    m_fabric->Finish();
    if (m_thrown)
    {
        std::rethrow_exception(std::exchange(m_thrown, nullptr));
    }
    if (const std::string failure = m_fabric->GetFailure(); !failure.empty())
    {
        throw CoreError(failure);
    }
    if (!m_isFinished && !m_posted.empty())
    {
        const Posted& first = m_posted.begin()->second;
        throw CoreError(
            std::to_string(m_posted.size()) +
            " receives wait for messages that nobody sends, the first of them at rank " +
            std::to_string(first.dst) + " for " + std::to_string(first.bytes) +
            " bytes from rank " + std::to_string(first.src) + " with tag " +
            std::to_string(first.tag));
    }
}

std::string
NetworkSession::GetStatistics() const
{
    RequireOpen();
    return WriteNetworkStatistics(m_fabric->GetStatistics());
}

void
NetworkSession::Close()
{
    if (m_isAbandoned && m_session)
    { // the stack that ns-3 was using stays, and refers to all of it
        SimulatorSession::Keep(std::move(m_events));
        SimulatorSession::Keep(std::move(m_circuits));
        SimulatorSession::Keep(std::move(m_fabric));
        SimulatorSession::Abandon(std::move(m_session));
    }
    m_events.reset();
    m_circuits.reset();
    m_fabric.reset();
    m_session.reset();
}

void
NetworkSession::RequireOpen() const
{
    if (!m_fabric)
    {
        throw CoreError("the Network is closed");
    }
}

void
NetworkSession::CheckMessage(int64_t src, int64_t dst, int64_t bytes) const
{
    RequireOpen();
    const int64_t ranks = m_fabric->SimCommSize();
    for (const int64_t rank : {src, dst})
    {
        if (rank < 0 || rank >= ranks)
        {
            throw std::invalid_argument("rank " + std::to_string(rank) +
                                        " does not exist: ranks are 0 … " +
                                        std::to_string(ranks - 1));
        }
    }
    if (src == dst)
    {
        throw std::invalid_argument("rank " + std::to_string(src) +
                                    " cannot send a message to itself");
    }
    if (bytes < 0 || static_cast<uint64_t>(bytes) > MAX_BYTES)
    {
        throw std::invalid_argument("the size is " + std::to_string(bytes) + " bytes, but 0 … " +
                                    std::to_string(MAX_BYTES) + " are accepted");
    }
}

void
NetworkSession::Call(const Callback& callback)
{
    if (m_thrown || m_isFinished)
    {
        return;
    }
    try
    {
        if (callback)
        {
            callback();
        }
    }
    catch (...)
    {
        m_thrown = std::current_exception();
        m_fabric->SimFinish();
        return;
    }
    CheckDone();
}

void
NetworkSession::CheckDone()
{
    if (m_sending == 0 && m_scheduled == 0 && !m_checking && !m_isFinished)
    {
        // the message of a receive has arrived, but the event that completes the receive has not
        // run yet
        m_checking = true;
        ns3::Simulator::ScheduleNow(&NetworkSession::OnCheck, this);
    }
}

void
NetworkSession::OnCheck()
{
    m_checking = false;
    if (m_sending == 0 && m_scheduled == 0)
    { // All callbacks are done, or receives wait for ever. Run tells the two cases apart.
        m_fabric->SimFinish();
    }
}

} // namespace cosim
