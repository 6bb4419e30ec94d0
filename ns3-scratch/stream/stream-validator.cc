/*
 * SPDX-License-Identifier: GPL-2.0-only
 */

#include "stream/stream-validator.h"

#include "stream/validators.h"

namespace cosim
{

void
ValidateStream(const Stream& stream)
{
    const PathTable paths = ValidateTopology(stream);
    ValidatePrograms(stream);
    ValidateTraces(stream, paths);
}

} // namespace cosim
