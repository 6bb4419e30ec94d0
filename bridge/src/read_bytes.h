/*
 * SPDX-License-Identifier: GPL-2.0-only
 */

#ifndef COSIM_READ_BYTES_H
#define COSIM_READ_BYTES_H

#include "stream/stream-reader.h"

#include <pybind11/pybind11.h>
#include <string_view>

/**
 * Read and validate a stream.
 *
 * @param bytes the stream as Python bytes
 * @return the records of the stream
 */
inline cosim::Stream
read_bytes(const pybind11::bytes& bytes)
{
    const std::string_view view = bytes;
    return cosim::ReadStream(view.data(), view.size());
}

#endif // COSIM_READ_BYTES_H
