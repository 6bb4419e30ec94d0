/*
 * SPDX-License-Identifier: GPL-2.0-only
 */

#ifndef COSIM_REPEATABLE_H
#define COSIM_REPEATABLE_H

#include "network/flow-record.h"
#include "network/link-summary.h"
#include "network/network-statistics.h"
#include "support/histogram.h"
#include "support/state-digest.h"

#include <cstddef>
#include <cstdint>
#include <string>
#include <vector>

namespace cosim
{

/// The counters of a network at a time.
struct NetworkCounters
{
    /// The round trips of a flow that count.
    struct RoundTrips
    {
        double sumNs{0};
        uint32_t samples{0};
    };

    NetworkStatistics totals;
    Histogram completionPs;
    std::vector<FlowCounters> flows;    //!< per path
    std::vector<LinkCounters> links;    //!< empty in a network that counts per path
    std::vector<uint64_t> carried;      //!< per path [bytes on the wire]; empty if links count
    std::vector<RoundTrips> roundTrips; //!< per path; empty without packets
    std::size_t loggedRoundTrips{0};    //!< number of round trips that were logged before
};

/**
 * A network whose state can be compared with an earlier one, and which can count what happened
 * since then many times.
 *
 * What a network does after a time of rest (see Fabric::IsAtRest) depends only on what it is given,
 * and on the state that AddState describes. All in this state is relative to the current time, so
 * that equal states at two times mean equal futures.
 */
class Repeatable
{
  public:
    virtual ~Repeatable() = default;

    /// @return why states cannot be compared in this run, or an empty string; it can change
    virtual std::string GetObstacle() const
    {
        return {};
    }

    /**
     * Add the state of a network that rests. The state leaves out what only grows and has no effect
     * any more once it is large enough, such as a congestion window that limits nothing.
     *
     * @param digest receives the state
     * @return the latest time at which something of that kind had an effect, on the clock of the
     * simulator; -1: never [ps]
     */
    virtual int64_t AddState(StateDigest& digest) const = 0;

    /// Log from now on what Repeat needs to be exact. Further calls have no effect.
    virtual void LogRoundTrips()
    {
    }

    /**
     * Forget a part of the log.
     *
     * @param oldest the oldest counters that Repeat will be called with
     */
    virtual void ForgetRoundTrips(const NetworkCounters& /* oldest */)
    {
    }

    /// @return the counters now
    virtual NetworkCounters GetCounters() const = 0;

    /**
     * @param from counters at an earlier time
     * @param times number of times to count again what happened since then
     * @return the largest number, at most times, for which all counters and the states that
     * AddState leaves out stay exact
     */
    virtual uint64_t LimitRepeats(const NetworkCounters& from, uint64_t times) const = 0;

    /**
     * Count again what happened since an earlier time, and set the clock of the run forward. Call
     * it only at rest.
     *
     * @param from counters at the earlier time
     * @param times number of times
     * @param periodPs time since then [ps]
     */
    virtual void Repeat(const NetworkCounters& from, uint64_t times, uint64_t periodPs) = 0;
};

} // namespace cosim

#endif // COSIM_REPEATABLE_H
