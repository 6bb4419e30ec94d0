/*
 * SPDX-License-Identifier: GPL-2.0-only
 */

#include "fabrics/transports.h"

#include "transport/roce/roce-transport.h"
#include "transport/tcp/tcp-transport.h"

#include <vector>

namespace cosim
{

namespace
{

/// @return the settings of a protocol, of all transports
template <typename T>
std::vector<T>
Collect(const Settings& settings, T TransportSettings::* protocol)
{
    std::vector<T> found;
    for (uint32_t number = 0; number < settings.CountTransports(); ++number)
    {
        found.push_back(settings.GetTransport(number).*protocol);
    }
    return found;
}

} // namespace

std::unique_ptr<Transport>
MakeTransport(const Settings& settings, std::span<const uint32_t> kinds, CausalSimulator& clock)
{
    if (settings.UsesRoce())
    {
        return std::make_unique<RoceTransport>(Collect(settings, &TransportSettings::roce),
                                               kinds,
                                               clock);
    }
    return std::make_unique<TcpTransport>(Collect(settings, &TransportSettings::tcp), kinds, clock);
}

bool
CanReplay(const Settings& settings)
{
    return !settings.UsesRoce() && settings.transports.empty() &&
           TcpTransport::CanReplay(settings.tcp);
}

bool
UsesTelemetry(const TransportSettings& settings)
{
    return settings.UsesRoce() && settings.roce.telemetry;
}

bool
IsPulled(const TransportSettings& settings)
{
    return settings.UsesRoce();
}

} // namespace cosim
