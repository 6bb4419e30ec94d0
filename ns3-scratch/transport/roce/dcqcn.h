/*
 * SPDX-License-Identifier: GPL-2.0-only
 */

#ifndef COSIM_DCQCN_H
#define COSIM_DCQCN_H

#include "transport/roce/rate-control.h"

#include <cstdint>

namespace cosim
{

/**
 * DCQCN: a notification cuts the rate by a part that follows how often notifications come, and the
 * rate then rises in steps, first back to where it was, then beyond.
 *
 * Nothing happens before the first notification. From then on three things happen at fixed times:
 * α is updated, the rate is cut if a notification has come since the last time, and from the first
 * cut on the rate rises.
 *
 * Source: Y. Zhu et al., "Congestion control for large-scale RDMA deployments", SIGCOMM 2015,
 * section 3. The paper has no fixed times for cuts; those are of the network interfaces that the
 * parameters of HPCC's evaluation describe. The byte counter is the paper's.
 */
class Dcqcn final : public RateControl
{
  public:
    /**
     * @param settings the parameters; must outlive this object
     * @param path the path of the queue pair
     */
    Dcqcn(const RoceSettings& settings, const PathFacts& path);

    // RateControl
    void Advance(int64_t nowPs) override;
    int64_t GetNextRisePs() const override;
    void OnFeedback(const Feedback& feedback) override;
    void OnNotification(int64_t nowPs) override;
    void OnSent(int64_t nowPs, uint32_t bytes) override;

    /// @return the estimate of how many packets are marked
    double GetAlpha() const
    {
        return m_alpha;
    }

    /// @return the rate that fast recovery returns to [bit/s]
    double GetTargetBps() const
    {
        return m_targetBps;
    }

  private:
    void UpdateAlpha(int64_t untilPs);
    void Cut();
    void Rise();
    bool IsRisen() const;

    const RoceSettings& m_settings;
    const double m_lineBps;
    const double m_gain;
    double m_targetBps;
    double m_alpha{1};
    int64_t m_alphaPs{NEVER};   //!< next update of alpha; NEVER: no notification has come yet
    int64_t m_cutPs{NEVER};     //!< next time at which the rate may be cut
    int64_t m_risePs{NEVER};    //!< next time at which the rate rises
    uint64_t m_sentBytes{0};    //!< since the byte counter last let the rate rise
    uint32_t m_timeSteps{0};    //!< rises since the last cut that the time caused
    uint32_t m_byteSteps{0};    //!< rises since the last cut that the byte counter caused
    bool m_isAlphaNoted{false}; //!< true if a notification came since the last update of alpha
    bool m_isCutNoted{false};   //!< true if one came since the last time of a cut
};

} // namespace cosim

#endif // COSIM_DCQCN_H
