/*
 * SPDX-License-Identifier: GPL-2.0-only
 */

#include "fabrics/transports.h"

#include "transport/joint-transport.h"
#include "transport/roce/roce-transport.h"
#include "transport/tcp/tcp-transport.h"

#include <utility>
#include <vector>

namespace cosim
{

namespace
{

/// The settings of one protocol.
template <typename T>
struct Selection
{
    std::vector<T> settings;
    std::vector<uint32_t> kinds; //!< per flow: its settings, if it has this protocol
};

/**
 * @param settings all settings
 * @param kinds per flow: its settings among all
 * @param protocol the settings of the protocol
 * @param isRoce whether that is RoCE
 * @return the settings of the protocol
 */
template <typename T>
Selection<T>
Select(const Settings& settings,
       std::span<const uint32_t> kinds,
       T TransportSettings::* protocol,
       bool isRoce)
{
    Selection<T> found;
    std::vector<uint32_t> numbers;
    for (uint32_t number = 0; number < settings.CountTransports(); ++number)
    {
        const TransportSettings& one = settings.GetTransport(number);
        numbers.push_back(static_cast<uint32_t>(found.settings.size()));
        if (one.UsesRoce() == isRoce)
        {
            found.settings.push_back(one.*protocol);
        }
    }
    for (const uint32_t kind : kinds)
    {
        found.kinds.push_back(numbers[kind]);
    }
    return found;
}

/// @return a transport of each flow's protocol
std::unique_ptr<Transport>
MakeJoint(const Settings& settings, std::span<const uint32_t> kinds, CausalSimulator& clock)
{
    auto tcp = Select(settings, kinds, &TransportSettings::tcp, false);
    auto roce = Select(settings, kinds, &TransportSettings::roce, true);
    std::vector<bool> isRoce;
    for (const uint32_t kind : kinds)
    {
        isRoce.push_back(settings.GetTransport(kind).UsesRoce());
    }
    JointTransport::Part first{std::move(tcp.kinds), nullptr};
    first.transport = std::make_unique<TcpTransport>(tcp.settings, first.kinds, clock);
    JointTransport::Part second{std::move(roce.kinds), nullptr};
    second.transport =
        std::make_unique<RoceTransport>(std::move(roce.settings), second.kinds, clock);
    return std::make_unique<JointTransport>(std::move(first), std::move(second), isRoce);
}

} // namespace

std::unique_ptr<Transport>
MakeTransport(const Settings& settings, std::span<const uint32_t> kinds, CausalSimulator& clock)
{
    if (settings.HasBothProtocols() && !kinds.empty())
    {
        return MakeJoint(settings, kinds, clock);
    }
    if (settings.UsesRoce())
    {
        return std::make_unique<RoceTransport>(
            Select(settings, {}, &TransportSettings::roce, true).settings,
            kinds,
            clock);
    }
    return std::make_unique<TcpTransport>(
        Select(settings, {}, &TransportSettings::tcp, false).settings,
        kinds,
        clock);
}

bool
CanReplay(const Settings& settings)
{
    return !settings.UsesRoce() && settings.transports.empty() &&
           TcpTransport::CanReplay(settings.tcp);
}

bool
UsesTelemetry(const Settings& settings)
{
    for (uint32_t number = 0; number < settings.CountTransports(); ++number)
    {
        const TransportSettings& one = settings.GetTransport(number);
        if (one.UsesRoce() && one.roce.telemetry)
        {
            return true;
        }
    }
    return false;
}

bool
IsPulled(const Settings& settings)
{
    return settings.HasRoce();
}

} // namespace cosim
