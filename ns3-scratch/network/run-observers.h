/*
 * SPDX-License-Identifier: GPL-2.0-only
 */

#ifndef COSIM_RUN_OBSERVERS_H
#define COSIM_RUN_OBSERVERS_H

#include "network/run-observer.h"

#include <array>
#include <bit>
#include <cstdint>
#include <vector>

namespace cosim
{

/**
 * The observers of a run, grouped by the kind of event that they receive.
 *
 * It is a small value. Each class that reports events keeps a copy.
 *
 * A class reports an event in a loop over the observers of its kind. Without observers the loop
 * costs one test, and the event is not constructed:
 * @code
 * for (RunObserver* observer : m_observers[RunObserver::MESSAGES])
 * {
 *     observer->OnMessageSent({NowPs(), src, dst, bytes, tag, route});
 * }
 * @endcode
 */
class RunObservers
{
  public:
    /**
     * Add an observer for the kinds that its GetKinds returns. Observers are called in the order in
     * which they were added.
     *
     * @param observer the observer; not owned
     */
    void Add(RunObserver& observer)
    {
        for (uint32_t kind = 0; kind < RunObserver::KINDS; ++kind)
        {
            if ((observer.GetKinds() >> kind & 1) != 0)
            {
                m_lists[kind].push_back(&observer);
            }
        }
    }

    /// @return the observers of a kind; may be empty
    const std::vector<RunObserver*>& operator[](RunObserver::Kind kind) const
    {
        return m_lists[static_cast<std::size_t>(std::countr_zero(static_cast<uint32_t>(kind)))];
    }

  private:
    std::array<std::vector<RunObserver*>, RunObserver::KINDS> m_lists;
};

} // namespace cosim

#endif // COSIM_RUN_OBSERVERS_H
