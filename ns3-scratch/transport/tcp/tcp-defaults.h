/*
 * SPDX-License-Identifier: GPL-2.0-only
 */

#ifndef COSIM_TCP_DEFAULTS_H
#define COSIM_TCP_DEFAULTS_H

#include "ns3/type-id.h"

#include <cstdint>
#include <string>
#include <vector>

namespace cosim
{

struct TcpSettings;

/**
 * Set all attribute defaults of ns-3's TCP that the settings name.
 *
 * The defaults apply to the whole process, so each run sets all of them.
 *
 * @param settings the values
 * @throws std::invalid_argument if ns-3 has no such congestion control
 */
void SetTcpDefaults(const TcpSettings& settings);

/**
 * @param settings TCP settings with the sizes of both buffers
 * @return the largest amount of data in flight: the size of the smaller buffer [bytes]
 */
uint32_t GetWindow(const TcpSettings& settings);

/**
 * @param settings TCP settings with the name of the congestion control
 * @return the TypeId of the congestion control
 * @throws std::invalid_argument if ns-3 has no such congestion control
 */
ns3::TypeId CongestionControlType(const TcpSettings& settings);

/// @return the names of ns-3's congestion controls, without the prefix "ns3::Tcp", sorted
std::vector<std::string> CongestionControlNames();

} // namespace cosim

#endif // COSIM_TCP_DEFAULTS_H
