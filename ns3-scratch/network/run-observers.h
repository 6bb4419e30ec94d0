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
 * Who listens to which kind of event: a small value that everything which has events copies.
 *
 * What happens is told in a loop over the observers of its kind, so that the event is made only if
 * there is one, and else costs a test:
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
     * @param observer called for the kinds that it names, after the observers that were added
     * before it; not owned
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

    /// @return the observers of a kind, often none
    const std::vector<RunObserver*>& operator[](RunObserver::Kind kind) const
    {
        return m_lists[static_cast<std::size_t>(std::countr_zero(static_cast<uint32_t>(kind)))];
    }

  private:
    std::array<std::vector<RunObserver*>, RunObserver::KINDS> m_lists;
};

} // namespace cosim

#endif // COSIM_RUN_OBSERVERS_H
