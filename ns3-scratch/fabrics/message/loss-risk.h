/*
 * SPDX-License-Identifier: GPL-2.0-only
 */

#ifndef COSIM_LOSS_RISK_H
#define COSIM_LOSS_RISK_H

#include "network/flow-record.h"
#include "network/live-links.h"
#include "network/network-statistics.h"
#include "stream/stream.h"

#include <optional>

namespace cosim
{

/**
 * Find out whether packets could be lost where an estimator carried messages, which loses none.
 *
 * Links that lose packets at random and links that fail come first. Then queues: a flow has at most
 * its window on its way, and at most all of its bytes. If all flows of a link send at once, their
 * windows meet at its egress queue, unless all of them come over links that together are no faster
 * than the link. ECN and congestion control keep queues shorter, so this is a necessary condition
 * for losses, not a sufficient one. Acknowledgments are not counted.
 *
 * @param topology the links at the start, and the events that change them
 * @param settings sizes of windows and packets
 * @param links the links and paths as they are now
 * @param flows what the flows have carried
 * @return the risk at the link whose buffer lacks most; empty if no packet can be lost
 */
std::optional<LossRisk> FindLossRisk(const Topology& topology,
                                     const Settings& settings,
                                     const LiveLinks& links,
                                     const FlowRecord& flows);

} // namespace cosim

#endif // COSIM_LOSS_RISK_H
