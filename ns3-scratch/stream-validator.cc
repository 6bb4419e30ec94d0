/*
 * SPDX-License-Identifier: GPL-2.0-only
 */

#include "stream-validator.h"

#include "collective-validator.h"
#include "program-validator.h"
#include "topology-validator.h"
#include "trace-validator.h"

namespace cosim
{

void
ValidateStream(const Stream& stream)
{
    const PathTable paths = ValidateTopology(stream.topology);
    ValidateSettings(stream.settings, stream.topology);
    for (const Program& program : stream.programs)
    {
        ValidateProgram(program, stream.topology);
    }
    ValidateCollectives(stream, paths);
    ValidateTraces(stream, paths);
}

} // namespace cosim
