/*
 * SPDX-License-Identifier: GPL-2.0-only
 */

#ifndef COSIM_COLLECTIVE_RECORD_H
#define COSIM_COLLECTIVE_RECORD_H

#include "network/run-observer.h"
#include "results/repetition.h"
#include "stream/stream.h"

#include <cstddef>
#include <cstdint>
#include <vector>

namespace cosim
{

/// Records when the collectives of a stream run.
class CollectiveRecord : public RunObserver
{
  public:
    /// Times of a collective, in simulated time [ps].
    struct Times
    {
        static constexpr uint64_t UNKNOWN = ~uint64_t{0}; //!< marks an event that has not happened

        uint64_t start{UNKNOWN}; //!< time at which the first rank issues it
        uint64_t end{0};         //!< latest time at which a rank finishes it
        /// number of ranks that have not finished; 0: the collective is done
        std::size_t ranksLeft{0};
    };

    /// @param stream the workload
    explicit CollectiveRecord(const Stream& stream);

    /**
     * @param collective id of the collective
     * @return its times
     */
    const Times& GetTimes(uint32_t collective) const
    {
        return m_times[collective];
    }

    /// @return the number of collectives that are done
    std::size_t GetDone() const
    {
        return m_done.size();
    }

    /**
     * Record collectives that repeat those that were done since an earlier time.
     *
     * @param from number of collectives that were done at the earlier time
     * @param repetition the repeated iterations
     */
    void Repeat(std::size_t from, const Repetition& repetition);

    uint32_t GetKinds() const override;
    void OnCollectiveBegun(const CollectiveEvent& event) override;
    void OnCollectiveEnded(const CollectiveEvent& event) override;

  private:
    std::vector<Times> m_times;   //!< indexed by collective id
    std::vector<uint32_t> m_done; //!< ids, in the order in which they were done
};

} // namespace cosim

#endif // COSIM_COLLECTIVE_RECORD_H
