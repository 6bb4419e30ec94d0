/*
 * SPDX-License-Identifier: GPL-2.0-only
 */

#include "transport/roce/rate-control.h"

#include "support/quoted-name.h"
#include "transport/roce/dcqcn.h"
#include "transport/roce/fixed-rate.h"
#include "transport/roce/hpcc.h"
#include "transport/roce/rate-dctcp.h"
#include "transport/roce/timely.h"

#include <map>
#include <stdexcept>
#include <string>

namespace cosim
{

namespace
{

using Maker = std::unique_ptr<RateControl> (*)(const RoceSettings&, const PathFacts&);

template <typename T>
std::unique_ptr<RateControl>
Make(const RoceSettings& settings, const PathFacts& path)
{
    return std::make_unique<T>(settings, path);
}

/// All congestion controls by name. To add one, add one line here.
const std::map<std::string, Maker> CONTROLS{
    {"dcqcn", Make<Dcqcn>},
    {"dctcp", Make<RateDctcp>},
    {"hpcc", Make<Hpcc>},
    {"none", Make<FixedRate>},
    {"timely", Make<Timely>},
};

} // namespace

std::unique_ptr<RateControl>
MakeRateControl(const RoceSettings& settings, const PathFacts& path)
{
    const auto found = CONTROLS.find(settings.congestionControl);
    if (found == CONTROLS.end())
    {
        std::string names;
        for (const auto& [name, make] : CONTROLS)
        {
            names += (names.empty() ? "" : ", ") + name;
        }
        throw std::invalid_argument("settings: roce.congestion_control is " +
                                    Quote(settings.congestionControl) + ", but " + names +
                                    " are accepted");
    }
    return found->second(settings, path);
}

} // namespace cosim
