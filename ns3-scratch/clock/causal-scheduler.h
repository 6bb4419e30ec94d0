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
 * The origin of an event. It decides which of two events at the same time runs first.
 *
 * ns-3 runs events of the same time in the order in which they were scheduled. An optimized model
 * may schedule an event later than the original model, for example because one event replaces two,
 * or because a timer is pushed back without a new event. Without an origin, that event would also
 * run later than in the original model. With the origin of the original event, it keeps its place.
 */
struct EventOrigin
{
    int64_t scheduledPs{0}; //!< time at which it was scheduled, or would have been
    int64_t causePs{0};     //!< time at which the event that scheduled it was scheduled
    int64_t number{0};      //!< increasing number that decides if all else is equal

    auto operator<=>(const EventOrigin&) const = default;
};

/**
 * An event queue for ns-3 that orders events by time and then by origin.
 *
 * For events that are scheduled in the usual way, the order equals that of
 * ns3::PriorityQueueScheduler. Only Schedule() below gives an event another origin.
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

    /// @return the scheduler of the simulator, which must be a CausalScheduler
    static CausalScheduler& Get();

    /// @return the origin of the event that runs now
    const EventOrigin& GetCurrent() const
    {
        return m_current;
    }

    /// @return the origin of an event that would be scheduled now
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
     * Schedule an event like Simulator::Schedule, but with a given origin.
     *
     * @param delay time from now
     * @param event the event to run
     * @param origin the origin of the event
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
    /// An event in the queue.
    struct Item
    {
        int64_t timePs;
        EventOrigin origin;
        ns3::EventImpl* impl;
        uint32_t uid;
        uint32_t context;
    };

    /// Orders the heap: true if an event runs later than another one.
    struct IsLater;

    static Event MakeEvent(const Item& item);

    std::vector<Item> m_heap; //!< a heap, with the next event at the front
    EventOrigin m_current;
    int64_t m_nowPs{0};
    int64_t m_number{0};
    /// origin given for the event that is being scheduled, or null
    const EventOrigin* m_next{nullptr};
};

} // namespace cosim

#endif // COSIM_CAUSAL_SCHEDULER_H
