/*
 * SPDX-License-Identifier: GPL-2.0-only
 */

#ifndef COSIM_TRANSPORTS_H
#define COSIM_TRANSPORTS_H

#include "clock/causal-simulator.h"
#include "stream/stream.h"
#include "transport/endpoint.h"

#include <cstdint>
#include <memory>
#include <span>

namespace cosim
{

/**
 * Makes the transport that the settings name; if they name TCP and RoCE, one that has both.
 *
 * @param settings the settings
 * @param kinds per flow: its settings (see Settings::GetTransport); empty: all flows have the first
 * ones; must outlive the transport
 * @param clock the clock of its endpoints; must outlive the transport
 * @return the transport
 */
std::unique_ptr<Transport> MakeTransport(const Settings& settings,
                                         std::span<const uint32_t> kinds,
                                         CausalSimulator& clock);

/// @return true if flows with these settings can be taken along trails
bool CanReplay(const Settings& settings);

/// @return true if switch ports write into the packets of a transport
bool UsesTelemetry(const Settings& settings);

/// @return true if a transport hands over packets when a port asks for them
bool IsPulled(const Settings& settings);

} // namespace cosim

#endif // COSIM_TRANSPORTS_H
