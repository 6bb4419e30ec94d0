/*
 * SPDX-License-Identifier: GPL-2.0-only
 */

#ifndef COSIM_FIXED_RATE_H
#define COSIM_FIXED_RATE_H

#include "transport/roce/rate-control.h"

namespace cosim
{

/// No congestion control: the queue pair always sends at line rate.
class FixedRate final : public RateControl
{
  public:
    /// @param path the path of the queue pair
    FixedRate(const RoceSettings& /* settings */, const PathFacts& path)
        : RateControl(path)
    {
    }
};

} // namespace cosim

#endif // COSIM_FIXED_RATE_H
