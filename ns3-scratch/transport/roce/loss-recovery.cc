/*
 * SPDX-License-Identifier: GPL-2.0-only
 */

#include "transport/roce/loss-recovery.h"

#include "transport/roce/go-back-n.h"
#include "transport/roce/selective-repeat.h"

namespace cosim
{

std::unique_ptr<SendOrder>
MakeSendOrder(const RoceSettings& settings)
{
    if (settings.recovery == RoceRecovery::SELECTIVE_REPEAT)
    {
        return std::make_unique<SelectiveSender>();
    }
    return std::make_unique<GoBackNSender>();
}

std::unique_ptr<ReceiveOrder>
MakeReceiveOrder(const RoceSettings& settings)
{
    if (settings.recovery == RoceRecovery::SELECTIVE_REPEAT)
    {
        return std::make_unique<SelectiveReceiver>();
    }
    return std::make_unique<GoBackNReceiver>();
}

} // namespace cosim
