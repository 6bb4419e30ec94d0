/*
 * SPDX-License-Identifier: GPL-2.0-only
 */

#ifndef COSIM_REDUCTION_UNITS_H
#define COSIM_REDUCTION_UNITS_H

#include "clock/last-event.h"
#include "network/network-api.h"
#include "stream/stream.h"
#include "system/task-table.h"
#include "system/trace-place.h"

#include <cstdint>
#include <functional>
#include <queue>
#include <vector>

namespace cosim
{

/**
 * The reduction units of all ranks. A unit performs one reduction at a time.
 *
 * With negotiated admission, a unit serves reductions in the order in which they become ready. With
 * local admission, it takes the first in the trace of those that are ready, as a processor takes
 * its computations: then a collective and the messages that it consists of give the same result.
 */
class ReductionUnits
{
  public:
    using Step = TaskTable::StepRef;

    /**
     * @param ranks number of ranks
     * @param settings rate of reductions, and how ranks start chunks
     * @param done called when a reduction is done
     */
    ReductionUnits(uint32_t ranks,
                   const SystemSettings& settings,
                   std::function<void(const Step&)> done);

    /// @return whether reductions take time
    bool AreTimed() const
    {
        return m_bytesPerS != 0;
    }

    /// @return the number of reductions that wait or run
    uint64_t GetActive() const
    {
        return m_active;
    }

    /**
     * Reduce the data of a step.
     *
     * @param place the step
     * @param bytes size of the data [bytes]
     * @param step what to report when it is done
     */
    void Reduce(const TracePlace& place, uint64_t bytes, const Step& step);

  private:
    /// A reduction that waits for the unit of its rank.
    struct Waiting
    {
        TracePlace place;
        uint64_t durationPs;
        Step step;

        bool operator>(const Waiting& other) const
        {
            return place > other.place;
        }
    };

    /// The reduction unit of a rank.
    struct Unit
    {
        uint64_t freePs{0}; //!< time at which it becomes free [ps]
        std::priority_queue<Waiting, std::vector<Waiting>, std::greater<>> waiting{};
    };

    void LetChoose(Rank rank);
    void Choose();
    void Finish(Rank rank, uint64_t durationPs, const Step& step);

    uint64_t m_bytesPerS;
    bool m_inTraceOrder;
    std::function<void(const Step&)> m_done;
    std::vector<Unit> m_units;
    std::vector<Rank> m_choosing; //!< ranks whose units may take another reduction
    LastEvent m_choose;
    uint64_t m_active{0};
};

} // namespace cosim

#endif // COSIM_REDUCTION_UNITS_H
