/*
 * SPDX-License-Identifier: GPL-2.0-only
 */

#ifndef COSIM_TCP_DEFAULTS_H
#define COSIM_TCP_DEFAULTS_H

#include "ns3/type-id.h"

#include <string>
#include <vector>

namespace cosim
{

struct TcpSettings;

/**
 * Set every attribute default of ns-3's TCP that the settings name.
 *
 * The defaults hold for the process, so each run sets them all.
 *
 * @param settings the values
 * @throws std::invalid_argument if the congestion control is not one of ns-3's
 */
void SetTcpDefaults(const TcpSettings& settings);

/**
 * @param settings the two buffers
 * @return what may be in flight: the smaller of them [bytes]
 */
uint32_t GetWindow(const TcpSettings& settings);

/**
 * @param settings names the congestion control
 * @return its TypeId
 * @throws std::invalid_argument if it is not one of ns-3's
 */
ns3::TypeId CongestionControlType(const TcpSettings& settings);

/// @return the names of ns-3's congestion controls, without "ns3::Tcp", sorted
std::vector<std::string> CongestionControlNames();

} // namespace cosim

#endif // COSIM_TCP_DEFAULTS_H
