/*
 * SPDX-License-Identifier: GPL-2.0-only
 */

#ifndef COSIM_FATAL_ERRORS_H
#define COSIM_FATAL_ERRORS_H

#include <functional>
#include <string>

namespace cosim
{

/**
 * Call a function, and survive if ns-3 ends the process in it.
 *
 * ns-3 reports errors of its own, such as a failed NS_ASSERT or a negative delay, with
 * NS_FATAL_ERROR: it writes a text to std::cerr and calls std::terminate, from which no function
 * may return. The function therefore runs on a stack of its own, and after a fatal error it stays
 * suspended where it is, for good: nothing is unwound. Objects that it was changing can be read,
 * but must not be changed or destroyed any more.
 *
 * @param function the function to call; its exceptions pass through
 * @return an empty string, or in one line what ns-3 wrote about its fatal error
 */
std::string CatchFatalErrors(const std::function<void()>& function);

} // namespace cosim

#endif // COSIM_FATAL_ERRORS_H
