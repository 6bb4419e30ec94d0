/*
 * SPDX-License-Identifier: GPL-2.0-only
 */

#include "transport/tcp/submit-line.h"

#include "transport/tcp/tcp-sender.h"

namespace cosim
{

void
SubmitLine::Happen()
{
    const Waiting next = m_waiting.Front();
    m_waiting.Pop();
    next.sender->OnSubmitted(next.number);
}

} // namespace cosim
