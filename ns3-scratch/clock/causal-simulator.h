/*
 * SPDX-License-Identifier: GPL-2.0-only
 */

#ifndef COSIM_CAUSAL_SIMULATOR_H
#define COSIM_CAUSAL_SIMULATOR_H

#include "clock/causal-queue.h"
#include "clock/event-origin.h"

#include "ns3/event-id.h"
#include "ns3/event-impl.h"
#include "ns3/nstime.h"
#include "ns3/object-factory.h"
#include "ns3/simulator-impl.h"

#include <cstdint>
#include <functional>
#include <list>
#include <utility>
#include <vector>

namespace cosim
{

/**
 * ns-3's simulator with events that are ordered by time and then by origin.
 *
 * For events that are scheduled in the usual way, through ns3::Simulator, the order equals that of
 * ns3::DefaultSimulatorImpl. Only Schedule(timePs, event, origin) gives an event another origin.
 *
 * All events must be scheduled by the thread that runs the simulation.
 */
class CausalSimulator : public ns3::SimulatorImpl
{
  public:
    /// @return the TypeId
    static ns3::TypeId GetTypeId();

    CausalSimulator();
    ~CausalSimulator() override;

    CausalSimulator(const CausalSimulator&) = delete;
    CausalSimulator& operator=(const CausalSimulator&) = delete;

    /// @return the simulator in use, which must be a CausalSimulator
    static CausalSimulator& Get();

    /// @return the current time [ps]
    int64_t GetNowPs() const
    {
        return m_nowPs;
    }

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
     * Schedule an event with a given origin. No ns3::EventId refers to it.
     *
     * @param timePs its time, not before the current time [ps]
     * @param event the event to run; the same object may be scheduled many times
     * @param origin the origin of the event
     */
    void Schedule(int64_t timePs, ns3::EventImpl* event, const EventOrigin& origin)
    {
        event->Ref();
        m_queue.Push(timePs, origin, event, uint32_t{0}, m_context);
    }

    /**
     * Schedule an event of a model with a given origin.
     *
     * @param timePs its time, not before the current time [ps]
     * @param event the event; the same object may be scheduled many times
     * @param origin the origin of the event
     * @param data what the event reads first, or null
     */
    void Schedule(int64_t timePs,
                  CausalEvent& event,
                  const EventOrigin& origin,
                  const void* data = nullptr)
    {
        m_queue.Push(timePs, origin, event, data);
    }

    /**
     * Run no event until a later time, at which the caller does what an event would do. It counts
     * as an event that the current event has scheduled.
     *
     * @param delayPs time from now until then, more than 0 [ps]
     * @return false, without an effect, if another event comes by then, or the simulator stops
     */
    bool Advance(int64_t delayPs)
    {
        const int64_t timePs = m_nowPs + delayPs;
        if (m_isStopped || m_queue.GetFirstTimePs() <= timePs || m_nextWatchPs <= timePs)
        {
            return false;
        }
        m_current = MakeOrigin();
        m_nowPs = timePs;
        m_eventPs = timePs;
        m_actedPs = timePs;
        m_currentUid = ns3::EventId::UID::INVALID;
        ++m_eventCount;
        Poll();
        return true;
    }

    /**
     * Record that the current event has changed nothing. A run that ends because no event is left
     * ends at the time of the last event that did.
     */
    void NoteIdleEvent()
    {
        m_actedPs = m_actedBeforePs;
    }

    /**
     * Do late what a model would have done earlier: call a function that reads an earlier time.
     *
     * @param timePs the time that it reads, not after the current time [ps]
     * @param function schedules no event
     */
    template <typename Function>
    void CallAsAt(int64_t timePs, const Function& function)
    {
        const int64_t now = std::exchange(m_nowPs, timePs);
        function();
        m_nowPs = now;
    }

    /**
     * A time of its own for a part of the model that is independent of all others. While it exists,
     * the clock is set back, and only what is scheduled meanwhile happens. At its end, the clock
     * shows the same time as before, and the events that are left take their places among the
     * others.
     */
    class Aside
    {
      public:
        /**
         * @param clock the clock; must outlive this object
         * @param fromPs the time at which to begin, not after the current time [ps]
         */
        Aside(CausalSimulator& clock, int64_t fromPs);

        ~Aside();

        Aside(const Aside&) = delete;
        Aside& operator=(const Aside&) = delete;

        /// @return the time of the clock before [ps]
        int64_t GetPresentPs() const
        {
            return m_nowPs;
        }

        /**
         * Let everything happen before or at a time, which then is the current time. No event has
         * happened at the present time if none has outside.
         *
         * @param timePs the time, not after the present [ps]
         */
        void RunTo(int64_t timePs);

      private:
        CausalSimulator& m_clock;
        CausalQueue m_queue; //!< the events outside
        const EventOrigin m_current;
        const int64_t m_nowPs;
        const int64_t m_eventPs;
        const int64_t m_actedPs;
        const int64_t m_actedBeforePs;
        const uint32_t m_currentUid;
        const uint32_t m_context;
    };

    /**
     * Look at the simulation at a time, before the events of that time. Unlike an event, a watch
     * does not keep the simulation running: nobody looks if no event is left by then.
     *
     * @param timePs when to look, not before the current time [ps]
     * @param look the function to call; it schedules no event
     * @return the id of the watch
     */
    uint64_t Watch(int64_t timePs, std::function<void()> look);

    /// @param id a watch that ends; ignored if it has ended
    void Unwatch(uint64_t id);

    /// Function by which a run shows its progress and notices an interrupt.
    using PollHook = std::function<void()>;

    /// @param hook the function that every 256th call of Poll calls; empty: none
    void SetPollHook(PollHook hook);

    /// Call the poll hook from time to time. Run does so after each event.
    void Poll()
    {
        if ((++m_polls & POLL_MASK) == 0 && m_pollHook)
        {
            m_pollHook();
        }
    }

    // SimulatorImpl
    void Destroy() override;
    bool IsFinished() const override;
    void Stop() override;
    ns3::EventId Stop(const ns3::Time& delay) override;
    ns3::EventId Schedule(const ns3::Time& delay, ns3::EventImpl* event) override;
    void ScheduleWithContext(uint32_t context,
                             const ns3::Time& delay,
                             ns3::EventImpl* event) override;
    ns3::EventId ScheduleNow(ns3::EventImpl* event) override;
    ns3::EventId ScheduleDestroy(ns3::EventImpl* event) override;
    void Remove(const ns3::EventId& id) override;
    void Cancel(const ns3::EventId& id) override;
    bool IsExpired(const ns3::EventId& id) const override;
    void Run() override;
    ns3::Time Now() const override;
    ns3::Time GetDelayLeft(const ns3::EventId& id) const override;
    ns3::Time GetMaximumSimulationTime() const override;
    void SetScheduler(ns3::ObjectFactory factory) override;
    uint32_t GetSystemId() const override;
    uint32_t GetContext() const override;
    uint64_t GetEventCount() const override;

  protected:
    void DoDispose() override;

  private:
    /// The poll hook is called when the number of polls has none of these bits.
    static constexpr uint64_t POLL_MASK = 255;

    /// A function that looks at the simulation.
    struct Watcher
    {
        int64_t timePs;
        uint64_t id;
        std::function<void()> look;
    };

    ns3::EventId Insert(uint32_t context, const ns3::Time& delay, ns3::EventImpl* event);
    void Enter(const CausalQueue::Item& item);
    bool DropCancelled();
    void RunNext();
    void AdvanceTo(int64_t timePs);
    void Look();

    CausalQueue m_queue;
    std::list<ns3::EventId> m_destroyEvents;
    EventOrigin m_current;
    int64_t m_nowPs{0};
    int64_t m_eventPs{-1};      //!< time of the current or last event; -1: none yet
    int64_t m_actedPs{0};       //!< time of the last event that changed something
    int64_t m_actedBeforePs{0}; //!< m_actedPs before the current event
    int64_t m_number{0};
    uint64_t m_eventCount{0};
    uint32_t m_uid{ns3::EventId::UID::VALID}; //!< of the next event
    /// largest uid of the events that have run at the current time
    uint32_t m_currentUid{ns3::EventId::UID::INVALID};
    uint32_t m_context;
    std::vector<Watcher> m_watchers; //!< the earliest is the last
    uint64_t m_watches{0};           //!< number of watches so far
    int64_t m_nextWatchPs{CausalQueue::NEVER};
    PollHook m_pollHook;
    uint64_t m_polls{0};
    bool m_isStopped{false};
};

} // namespace cosim

#endif // COSIM_CAUSAL_SIMULATOR_H
