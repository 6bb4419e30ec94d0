/*
 * SPDX-License-Identifier: GPL-2.0-only
 */

#ifndef COSIM_TRANSPORTS_H
#define COSIM_TRANSPORTS_H

#include "clock/causal-simulator.h"
#include "stream/stream.h"
#include "transport/endpoint.h"

#include <memory>

namespace cosim
{

/**
 * Makes the transport that the settings name.
 *
 * @param settings the settings; must outlive the transport
 * @param clock the clock of its endpoints; must outlive the transport
 * @return the transport
 */
std::unique_ptr<Transport> MakeTransport(const Settings& settings, CausalSimulator& clock);

/// @return true if flows with these settings can be taken along trails
bool CanReplay(const Settings& settings);

/// @return true if switch ports write into the packets of the transport
bool UsesTelemetry(const Settings& settings);

/// @return true if the transport hands over packets when a port asks for them
bool IsPulled(const Settings& settings);

} // namespace cosim

#endif // COSIM_TRANSPORTS_H
