/*
 * SPDX-License-Identifier: GPL-2.0-only
 */

#ifndef COSIM_SETTABLE_RTT_H
#define COSIM_SETTABLE_RTT_H

#include "transport/tcp/sender-state.h"

#include "ns3/rtt-estimator.h"

namespace cosim
{

/// ns-3's RTT estimator, which can also continue from an estimate that was made elsewhere.
class SettableRtt : public ns3::RttMeanDeviation
{
  public:
    /// @param state the estimate from which the next measurement continues
    void Set(const RttState& state)
    {
        m_estimatedRtt = ns3::Time(state.estimatePs);
        m_estimatedVariation = ns3::Time(state.variationPs);
        m_nSamples = state.samples;
    }

    /// @param state receives the estimate
    void Get(RttState& state) const
    {
        state.estimatePs = m_estimatedRtt.GetTimeStep();
        state.variationPs = m_estimatedVariation.GetTimeStep();
        state.samples = m_nSamples;
    }

    // RttEstimator
    ns3::Ptr<ns3::RttEstimator> Copy() const override
    {
        return ns3::CopyObject<SettableRtt>(this);
    }
};

} // namespace cosim

#endif // COSIM_SETTABLE_RTT_H
