/*
 * SPDX-License-Identifier: GPL-2.0-only
 */

#include "fabrics/transports.h"

#include "transport/roce/roce-transport.h"
#include "transport/tcp/tcp-transport.h"

namespace cosim
{

std::unique_ptr<Transport>
MakeTransport(const Settings& settings, CausalSimulator& clock)
{
    if (settings.UsesRoce())
    {
        return std::make_unique<RoceTransport>(settings.roce, clock);
    }
    return std::make_unique<TcpTransport>(settings.tcp, clock);
}

bool
CanReplay(const Settings& settings)
{
    return !settings.UsesRoce() && TcpTransport::CanReplay(settings.tcp);
}

bool
UsesTelemetry(const Settings& settings)
{
    return settings.UsesRoce() && settings.roce.telemetry;
}

bool
IsPulled(const Settings& settings)
{
    return settings.UsesRoce();
}

} // namespace cosim
