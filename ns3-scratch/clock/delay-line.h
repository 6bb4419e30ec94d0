/*
 * SPDX-License-Identifier: GPL-2.0-only
 */

#ifndef COSIM_DELAY_LINE_H
#define COSIM_DELAY_LINE_H

#include "clock/causal-simulator.h"
#include "support/ring-buffer.h"

#include "ns3/nstime.h"

#include <cstddef>
#include <cstdint>

namespace cosim
{

/**
 * Returns items after a constant delay, in the order in which they were added.
 *
 * The delay is constant, so the oldest item is always due next. The line therefore is one event,
 * regardless of the number of items. One event serves all items that are due at the same time.
 *
 * A line must live as long as the simulation runs.
 */
template <typename T, typename Owner>
class DelayLine : private CausalEvent
{
  public:
    using Sink = void (Owner::*)(const T&); //!< called for each item when it is due
    using Done = void (Owner::*)();         //!< called after all due items were returned

    DelayLine(ns3::Time delay, Owner& owner, Sink sink, Done done)
        : m_simulator(CausalSimulator::Get()),
          m_delayPs(delay.GetTimeStep()),
          m_owner(owner),
          m_sink(sink),
          m_done(done)
    {
    }

    /// @param item the item to return after the delay
    void Push(const T& item)
    {
        const int64_t duePs = m_simulator.GetNowPs() + m_delayPs;
        if (m_items.IsEmpty() && !m_isServing)
        {
            m_simulator.Schedule(duePs, *this, m_simulator.MakeOrigin());
        }
        m_items.Push({duePs, item});
    }

    /// @return the number of waiting items
    std::size_t GetSize() const
    {
        return m_items.GetSize();
    }

  private:
    struct Item
    {
        int64_t duePs;
        T item;
    };

    // CausalEvent
    void Happen() override
    {
        const int64_t nowPs = m_simulator.GetNowPs();
        m_isServing = true;
        while (!m_items.IsEmpty() && m_items.Front().duePs <= nowPs)
        {
            (m_owner.*m_sink)(m_items.Pop().item);
        }
        (m_owner.*m_done)();
        m_isServing = false;
        if (!m_items.IsEmpty())
        {
            m_simulator.Schedule(m_items.Front().duePs, *this, m_simulator.MakeOrigin());
        }
    }

    CausalSimulator& m_simulator;
    int64_t m_delayPs;
    Owner& m_owner;
    Sink m_sink;
    Done m_done;
    RingBuffer<Item> m_items;
    bool m_isServing{false};
};

} // namespace cosim

#endif // COSIM_DELAY_LINE_H
