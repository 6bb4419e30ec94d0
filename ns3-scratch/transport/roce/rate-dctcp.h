/*
 * SPDX-License-Identifier: GPL-2.0-only
 */

#ifndef COSIM_RATE_DCTCP_H
#define COSIM_RATE_DCTCP_H

#include "transport/roce/rate-control.h"

#include <cstdint>

namespace cosim
{

/**
 * DCTCP on rates: once per round trip the rate is cut by half of the part of packets that were
 * marked, or rises by a step.
 *
 * Sources: M. Alizadeh et al., "Data center TCP", SIGCOMM 2010, section 3.1; on rates as in the
 * evaluation of Y. Li et al., "HPCC", SIGCOMM 2019.
 */
class RateDctcp final : public RateControl
{
  public:
    /**
     * @param settings the parameters; must outlive this object
     * @param path the path of the queue pair
     */
    RateDctcp(const RoceSettings& settings, const PathFacts& path);

    // RateControl
    void OnFeedback(const Feedback& feedback) override;

    /// @return the estimate of how many packets are marked
    double GetAlpha() const
    {
        return m_alpha;
    }

  private:
    const RoceSettings& m_settings;
    const PathFacts m_path;
    double m_alpha{1};
    uint64_t m_roundEnd{0}; //!< the round trip ends when more than this is acknowledged
    uint64_t m_cutEnd{0};   //!< no further cut until more than this is acknowledged
    uint64_t m_packets{1};  //!< of the round trip
    uint64_t m_marks{0};    //!< marked acknowledgments of the round trip
    bool m_isCut{false};    //!< true until m_cutEnd is passed
};

} // namespace cosim

#endif // COSIM_RATE_DCTCP_H
