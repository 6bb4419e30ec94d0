/*
 * SPDX-License-Identifier: GPL-2.0-only
 */

#ifndef COSIM_CAUSAL_SCHEDULER_H
#define COSIM_CAUSAL_SCHEDULER_H

#include "ns3/event-impl.h"
#include "ns3/nstime.h"
#include "ns3/ptr.h"
#include "ns3/scheduler.h"

#include <compare>
#include <cstdint>
#include <vector>

namespace cosim
{

/**
 * Where an event comes from: it decides which of two events of the same time runs first.
 *
 * ns-3 runs them in the order in which they were scheduled, so a model that schedules an event
 * later than another model would (one event for what was two, a timer that is pushed back without
 * a new event) runs it later, too. With its origin it keeps its place.
 */
struct EventOrigin
{
    int64_t scheduledPs{0}; //!< when it was scheduled, or would have been
    int64_t causePs{0};     //!< when the event that scheduled it was scheduled
    int64_t number{0};      //!< counts up, where all else is equal

    auto operator<=>(const EventOrigin&) const = default;
};

/**
 * ns-3's event queue, ordered by time and origin.
 *
 * For events that are scheduled as always, that is the order of ns3::PriorityQueueScheduler; only
 * Schedule() below can give an event another origin.
 */
class CausalScheduler : public ns3::Scheduler
{
  public:
    /// @return the TypeId
    static ns3::TypeId GetTypeId();

    CausalScheduler();
    ~CausalScheduler() override;

    CausalScheduler(const CausalScheduler&) = delete;
    CausalScheduler& operator=(const CausalScheduler&) = delete;

    /// @return the simulator's; one must be in use
    static CausalScheduler& Get();

    /// @return the origin of the event that runs now
    const EventOrigin& GetCurrent() const
    {
        return m_current;
    }

    /// @return the origin of an event that is scheduled at this point
    EventOrigin MakeOrigin()
    {
        return {m_nowPs, m_current.scheduledPs, TakeNumber()};
    }

    /// @return the next number for an origin
    int64_t TakeNumber()
    {
        return ++m_number;
    }

    /**
     * As Simulator::Schedule, for an event with another origin than this point.
     *
     * @param delay from now
     * @param event what to run
     * @param origin where it comes from
     */
    void Schedule(ns3::Time delay,
                  const ns3::Ptr<ns3::EventImpl>& event,
                  const EventOrigin& origin);

    // Scheduler
    void Insert(const Event& event) override;
    bool IsEmpty() const override;
    Event PeekNext() const override;
    Event RemoveNext() override;
    void Remove(const Event& event) override;

  private:
    /// An event that waits.
    struct Item
    {
        int64_t timePs;
        EventOrigin origin;
        ns3::EventImpl* impl;
        uint32_t uid;
        uint32_t context;
    };

    /// Which of two events runs later: the order of the heap.
    struct IsLater;

    static Event MakeEvent(const Item& item);

    std::vector<Item> m_heap; //!< the next event first
    EventOrigin m_current;
    int64_t m_nowPs{0};
    int64_t m_number{0};
    const EventOrigin* m_next{nullptr}; //!< of the event that is being scheduled, if given
};

} // namespace cosim

#endif // COSIM_CAUSAL_SCHEDULER_H
