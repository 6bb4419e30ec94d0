/*
 * SPDX-License-Identifier: GPL-2.0-only
 */

#ifndef COSIM_QUOTED_NAME_H
#define COSIM_QUOTED_NAME_H

#include <cstddef>
#include <string>

namespace cosim
{

/**
 * @param name a name from a stream, which can be long and can contain control sequences of a
 * terminal
 * @return the name in quotes, with a question mark for each byte that is not printable ASCII, and
 * with three dots in place of what follows the first 64 bytes
 */
inline std::string
Quote(const std::string& name)
{
    constexpr std::size_t most = 64;
    std::string text = name.substr(0, most);
    for (char& byte : text)
    {
        if (byte < ' ' || byte > '~')
        {
            byte = '?';
        }
    }
    return "'" + text + (name.size() > most ? "..." : "") + "'";
}

} // namespace cosim

#endif // COSIM_QUOTED_NAME_H
