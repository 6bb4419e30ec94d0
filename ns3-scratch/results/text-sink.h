/*
 * SPDX-License-Identifier: GPL-2.0-only
 */

#ifndef COSIM_TEXT_SINK_H
#define COSIM_TEXT_SINK_H

#include <cstdint>
#include <functional>
#include <string_view>

namespace cosim
{

/**
 * Receives the text of a file as it is written.
 *
 * @return the size of the file so far [bytes]
 */
using TextSink = std::function<uint64_t(std::string_view)>;

} // namespace cosim

#endif // COSIM_TEXT_SINK_H
