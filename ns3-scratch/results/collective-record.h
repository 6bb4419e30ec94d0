/*
 * SPDX-License-Identifier: GPL-2.0-only
 */

#ifndef COSIM_COLLECTIVE_RECORD_H
#define COSIM_COLLECTIVE_RECORD_H

#include "network/run-observer.h"
#include "stream/stream.h"

#include <cstddef>
#include <cstdint>
#include <vector>

namespace cosim
{

/// When the collectives of a stream ran.
class CollectiveRecord : public RunObserver
{
  public:
    /// One collective, in simulated time [ps].
    struct Times
    {
        static constexpr uint64_t UNKNOWN = ~uint64_t{0}; //!< the time of what has not happened

        uint64_t start{UNKNOWN};  //!< issued by the first rank
        uint64_t end{0};          //!< done at the last rank that is done
        std::size_t ranksLeft{0}; //!< 0: it is done
    };

    /// @param stream the work
    explicit CollectiveRecord(const Stream& stream);

    /**
     * @param collective its id
     * @return when it ran
     */
    const Times& GetTimes(uint32_t collective) const
    {
        return m_times[collective];
    }

    uint32_t GetKinds() const override;
    void OnCollectiveBegun(const CollectiveEvent& event) override;
    void OnCollectiveEnded(const CollectiveEvent& event) override;

  private:
    std::vector<Times> m_times; //!< by id
};

} // namespace cosim

#endif // COSIM_COLLECTIVE_RECORD_H
