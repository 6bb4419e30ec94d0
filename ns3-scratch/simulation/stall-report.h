/*
 * SPDX-License-Identifier: GPL-2.0-only
 */

#ifndef COSIM_STALL_REPORT_H
#define COSIM_STALL_REPORT_H

#include "network/fabric.h"
#include "stream/stream.h"

#include <string>

namespace cosim
{

/**
 * @param stream the topology and the TCP settings
 * @param fabric the network in which no event is left
 * @return half a sentence that names a flow that waits for ever, because TCP has reduced its window
 * to less than a segment; empty if there is none
 */
std::string DescribeSmallWindow(const Stream& stream, const Fabric& fabric);

} // namespace cosim

#endif // COSIM_STALL_REPORT_H
