/*
 * SPDX-License-Identifier: GPL-2.0-only
 */

#ifndef COSIM_DELAY_LINE_H
#define COSIM_DELAY_LINE_H

#include "support/ring-buffer.h"

#include "ns3/nstime.h"
#include "ns3/simulator.h"

namespace cosim
{

/**
 * Returns items after a constant delay, in the order in which they were added.
 *
 * The delay is constant, so the oldest item is always due next. The line therefore needs only one
 * event in ns-3's queue, regardless of the number of items. One event serves all items that are due
 * at the same time.
 */
template <typename T, typename Owner>
class DelayLine
{
  public:
    using Sink = void (Owner::*)(const T&); //!< called for each item when it is due
    using Done = void (Owner::*)();         //!< called after all due items were returned

    DelayLine(ns3::Time delay, Owner& owner, Sink sink, Done done)
        : m_delay(delay),
          m_owner(owner),
          m_sink(sink),
          m_done(done)
    {
    }

    /// @param item the item to return after the delay
    void Push(const T& item)
    {
        if (m_items.IsEmpty() && !m_serving)
        {
            ns3::Simulator::Schedule(m_delay, &DelayLine::Serve, this);
        }
        m_items.Push({ns3::Simulator::Now() + m_delay, item});
    }

    /// @return the number of waiting items
    std::size_t GetSize() const
    {
        return m_items.GetSize();
    }

  private:
    struct Item
    {
        ns3::Time due;
        T item;
    };

    void Serve()
    {
        const ns3::Time now = ns3::Simulator::Now();
        m_serving = true;
        while (!m_items.IsEmpty() && m_items.Front().due <= now)
        {
            const T item = m_items.Front().item;
            m_items.Pop();
            (m_owner.*m_sink)(item);
        }
        (m_owner.*m_done)();
        m_serving = false;
        if (!m_items.IsEmpty())
        {
            ns3::Simulator::Schedule(m_items.Front().due - now, &DelayLine::Serve, this);
        }
    }

    ns3::Time m_delay;
    Owner& m_owner;
    Sink m_sink;
    Done m_done;
    RingBuffer<Item> m_items;
    bool m_serving{false};
};

} // namespace cosim

#endif // COSIM_DELAY_LINE_H
