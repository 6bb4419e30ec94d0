/*
 * SPDX-License-Identifier: GPL-2.0-only
 */

#ifndef COSIM_TIMELY_H
#define COSIM_TIMELY_H

#include "transport/roce/rate-control.h"

#include <cstdint>

namespace cosim
{

/**
 * TIMELY: once per round trip, the rate follows how long round trips take and whether they become
 * longer.
 *
 * Source: R. Mittal et al., "TIMELY: RTT-based congestion control for the datacenter", SIGCOMM
 * 2015, algorithm 1.
 */
class Timely final : public RateControl
{
  public:
    /**
     * @param settings the parameters; must outlive this object
     * @param path the path of the queue pair
     */
    Timely(const RoceSettings& settings, const PathFacts& path);

    // RateControl
    void OnFeedback(const Feedback& feedback) override;

  private:
    void Increase();

    const RoceSettings& m_settings;
    const double m_lineBps;
    double m_differencePs{0}; //!< smoothed change of the round-trip time [ps]
    int64_t m_lastRttPs{0};
    uint64_t m_roundEnd{0};  //!< the round trip ends when more than this is acknowledged
    uint32_t m_increases{0}; //!< increases in a row
};

} // namespace cosim

#endif // COSIM_TIMELY_H
