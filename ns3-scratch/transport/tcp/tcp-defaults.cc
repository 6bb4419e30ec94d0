/*
 * SPDX-License-Identifier: GPL-2.0-only
 */

#include "transport/tcp/tcp-defaults.h"

#include "network/transport-facts.h"
#include "stream/stream.h"
#include "support/quoted-name.h"

#include "ns3/boolean.h"
#include "ns3/config.h"
#include "ns3/enum.h"
#include "ns3/nstime.h"
#include "ns3/tcp-congestion-ops.h"
#include "ns3/tcp-socket-state.h"
#include "ns3/uinteger.h"

#include <algorithm>
#include <stdexcept>

namespace cosim
{

using namespace ns3;

namespace
{

/**
 * Size of the send buffer. Messages stay in the memory of the application; the send buffer only
 * holds the part that TCP can look at. This is the largest power of two for which the 32-bit
 * arithmetic of the send buffer does not overflow.
 */
constexpr uint32_t SEND_BUFFER_BYTES = 1U << 30;

TimeValue
PicoSecondsValue(uint64_t ps)
{
    return TimeValue(PicoSeconds(ps));
}

} // namespace

void
SetTcpDefaults(const TcpSettings& settings)
{
    CongestionControlType(settings); // throws for an unknown name before any default is set
    if (settings.unlimitedWindow)
    {
        throw std::invalid_argument("tcp.unlimited_window is true, but TCP has a window");
    }
    Config::SetDefault("ns3::TcpSocket::SegmentSize", UintegerValue(settings.segmentBytes));
    Config::SetDefault("ns3::TcpSocket::SndBufSize", UintegerValue(SEND_BUFFER_BYTES));
    Config::SetDefault("ns3::TcpSocket::RcvBufSize", UintegerValue(GetWindow(settings)));
    Config::SetDefault("ns3::TcpSocket::InitialCwnd", UintegerValue(settings.initialCwndSegments));
    Config::SetDefault("ns3::TcpSocket::TcpNoDelay", BooleanValue(true));
    Config::SetDefault("ns3::TcpSocket::ConnTimeout", PicoSecondsValue(settings.initialRtoPs));
    Config::SetDefault("ns3::TcpSocket::DataRetries", UintegerValue(TCP_DATA_RETRIES));
    Config::SetDefault("ns3::TcpSocket::DelAckCount", UintegerValue(settings.delayedAckSegments));
    Config::SetDefault("ns3::TcpSocket::DelAckTimeout",
                       PicoSecondsValue(settings.delayedAckTimeoutPs));
    Config::SetDefault("ns3::TcpSocketBase::MinRto", PicoSecondsValue(settings.minRtoPs));
    Config::SetDefault("ns3::TcpSocketBase::ClockGranularity",
                       PicoSecondsValue(settings.clockGranularityPs));
    Config::SetDefault("ns3::TcpSocketBase::Sack", BooleanValue(settings.sack));
    Config::SetDefault("ns3::TcpSocketBase::Timestamp", BooleanValue(settings.timestamps));
    Config::SetDefault("ns3::TcpSocketBase::WindowScaling", BooleanValue(settings.windowScaling));
    Config::SetDefault("ns3::TcpSocketBase::UseEcn",
                       EnumValue<TcpSocketState::UseEcn_t>(settings.ecn ? TcpSocketState::On
                                                                        : TcpSocketState::Off));
    Config::SetDefault("ns3::RttEstimator::InitialEstimation",
                       PicoSecondsValue(settings.initialRtoPs));
}

uint32_t
GetWindow(const TcpSettings& settings)
{
    return std::min(settings.sendBufferBytes, settings.receiveBufferBytes);
}

TypeId
CongestionControlType(const TcpSettings& settings)
{
    TypeId type;
    if (!TypeId::LookupByNameFailSafe("ns3::Tcp" + settings.congestionControl, &type) ||
        !type.IsChildOf(TcpCongestionOps::GetTypeId()) || !type.HasConstructor())
    {
        std::string names;
        for (const std::string& name : CongestionControlNames())
        {
            names += (names.empty() ? "" : ", ") + name;
        }
        throw std::invalid_argument("congestion control " + Quote(settings.congestionControl) +
                                    " is not one of " + names);
    }
    return type;
}

std::vector<std::string>
CongestionControlNames()
{
    const std::string prefix = "ns3::Tcp";
    std::vector<std::string> names;
    for (uint16_t i = 0; i < TypeId::GetRegisteredN(); ++i)
    {
        const TypeId type = TypeId::GetRegistered(i);
        if (type.IsChildOf(TcpCongestionOps::GetTypeId()) && type.HasConstructor() &&
            type.GetName().starts_with(prefix))
        {
            names.push_back(type.GetName().substr(prefix.size()));
        }
    }
    std::sort(names.begin(), names.end());
    return names;
}

} // namespace cosim
