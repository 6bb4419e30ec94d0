/*
 * SPDX-License-Identifier: GPL-2.0-only
 */

#ifndef COSIM_PATH_WRITER_H
#define COSIM_PATH_WRITER_H

#include "results/path-record.h"
#include "stream/stream.h"
#include "support/json-writer.h"

namespace cosim
{

/**
 * Write the "critical_path" of a result.
 *
 * @param json receives the key and its value
 * @param stream the workload, for the names
 * @param record the paths
 */
void WritePaths(JsonWriter& json, const Stream& stream, const PathRecord& record);

} // namespace cosim

#endif // COSIM_PATH_WRITER_H
