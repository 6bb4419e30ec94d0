/*
 * SPDX-License-Identifier: GPL-2.0-only
 */

#ifndef COSIM_REPEAT_WRITER_H
#define COSIM_REPEAT_WRITER_H

#include "results/repeat-record.h"
#include "support/json-writer.h"

namespace cosim
{

/**
 * Write the key "repeat" of a result.
 *
 * @param json receives it, in an open object
 * @param record what was skipped
 */
void WriteRepeat(JsonWriter& json, const RepeatRecord& record);

} // namespace cosim

#endif // COSIM_REPEAT_WRITER_H
