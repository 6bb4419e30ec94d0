/*
 * SPDX-License-Identifier: GPL-2.0-only
 */

#ifndef COSIM_SUBMIT_LINE_H
#define COSIM_SUBMIT_LINE_H

#include "clock/causal-simulator.h"
#include "support/ring-buffer.h"

#include <cstdint>

namespace cosim
{

class TcpSender;

/**
 * The senders that send one tick after data was submitted to them.
 *
 * TcpSocketBase::Send also sends one tick later, so that several writes at the same time are
 * joined. Each sender has one event, but all events are one object, because the senders come out in
 * the order in which they came in.
 */
class SubmitLine : private CausalEvent
{
  public:
    /// @param clock the clock of the senders; must outlive the line
    explicit SubmitLine(CausalSimulator& clock)
        : m_clock(clock)
    {
    }

    /**
     * Call TcpSender::OnSubmitted one tick from now.
     *
     * @param sender the sender
     * @return the number with which the sender will be called
     */
    int64_t Add(TcpSender& sender)
    {
        const EventOrigin origin = m_clock.MakeOrigin();
        m_waiting.Push({&sender, origin.number});
        m_clock.Schedule(m_clock.GetNowPs() + 1, *this, origin, &sender);
        return origin.number;
    }

  private:
    struct Waiting
    {
        TcpSender* sender;
        int64_t number;
    };

    // CausalEvent
    void Happen() override;

    CausalSimulator& m_clock;
    RingBuffer<Waiting> m_waiting;
};

} // namespace cosim

#endif // COSIM_SUBMIT_LINE_H
