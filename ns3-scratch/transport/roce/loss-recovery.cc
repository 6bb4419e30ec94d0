/*
 * SPDX-License-Identifier: GPL-2.0-only
 */

#include "transport/roce/loss-recovery.h"

#include "transport/roce/go-back-n.h"

namespace cosim
{

std::unique_ptr<SendOrder>
MakeSendOrder(const RoceSettings& /* settings */)
{
    return std::make_unique<GoBackNSender>();
}

std::unique_ptr<ReceiveOrder>
MakeReceiveOrder(const RoceSettings& /* settings */)
{
    return std::make_unique<GoBackNReceiver>();
}

} // namespace cosim
