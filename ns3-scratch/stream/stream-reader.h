/*
 * SPDX-License-Identifier: GPL-2.0-only
 */

#ifndef COSIM_STREAM_READER_H
#define COSIM_STREAM_READER_H

#include "stream/stream.h"

#include <cstddef>

namespace cosim
{

/// The version of frontend/network_api.proto that this reader supports.
constexpr uint32_t STREAM_VERSION = 2;

/**
 * Read a stream of length-delimited records and validate it (see ValidateStream).
 *
 * @param data the first byte of the stream
 * @param size size of the stream [bytes]
 * @return the stream
 * @throws std::invalid_argument with one sentence if the bytes are not a stream of this version, or
 * if the stream cannot be run
 */
Stream ReadStream(const void* data, std::size_t size);

} // namespace cosim

#endif // COSIM_STREAM_READER_H
