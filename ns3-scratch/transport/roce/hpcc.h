/*
 * SPDX-License-Identifier: GPL-2.0-only
 */

#ifndef COSIM_HPCC_H
#define COSIM_HPCC_H

#include "transport/roce/rate-control.h"

#include <cstdint>

namespace cosim
{

/**
 * HPCC: each acknowledgment brings what the ports on the path have sent and hold, from which the
 * sender computes the utilization of the busiest link, and the rate that would make it η.
 *
 * Source: Y. Li et al., "HPCC: high precision congestion control", SIGCOMM 2019, algorithm 1; with
 * a rate instead of a window as the first variable, as in the authors' simulator.
 */
class Hpcc final : public RateControl
{
  public:
    /**
     * @param settings the parameters; must outlive this object
     * @param path the path of the queue pair
     */
    Hpcc(const RoceSettings& settings, const PathFacts& path);

    // RateControl
    void OnFeedback(const Feedback& feedback) override;

    /// @return the smoothed utilization U of the busiest link
    double GetUtilization() const
    {
        return m_utilization;
    }

  private:
    bool Measure(const Telemetry& now);

    const RoceSettings& m_settings;
    const PathFacts m_path;
    Telemetry m_last;        //!< what the last acknowledgment brought
    double m_utilization{1}; //!< U of the paper
    double m_referenceBps;   //!< R_c: the rate at the last full update
    uint64_t m_updateEnd{0}; //!< the next full update is when more than this is acknowledged
    uint32_t m_stage{0};     //!< additive increases since the last multiplicative one
};

} // namespace cosim

#endif // COSIM_HPCC_H
