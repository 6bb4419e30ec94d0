/*
 * SPDX-License-Identifier: GPL-2.0-only
 */

#include "stream/stream-validator.h"

#include "stream/collective-validator.h"
#include "stream/program-validator.h"
#include "stream/topology-validator.h"
#include "stream/trace-validator.h"

namespace cosim
{

void
ValidateStream(const Stream& stream)
{
    const PathTable paths = ValidateTopology(stream.topology, stream.settings.system.flowsPerPair);
    ValidateSettings(stream.settings, stream.topology);
    ValidatePrograms(stream.programs, stream.topology);
    ValidateCollectives(stream, paths);
    ValidateTraces(stream, paths);
}

} // namespace cosim
