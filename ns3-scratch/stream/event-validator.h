/*
 * SPDX-License-Identifier: GPL-2.0-only
 */

#ifndef COSIM_EVENT_VALIDATOR_H
#define COSIM_EVENT_VALIDATOR_H

#include "stream/stream.h"

namespace cosim
{

/**
 * Check the events, the losses and the background traffic of a topology.
 *
 * @param topology a topology with valid links and paths
 * @throws std::invalid_argument with one sentence that describes the first error
 */
void ValidateEvents(const Topology& topology);

} // namespace cosim

#endif // COSIM_EVENT_VALIDATOR_H
