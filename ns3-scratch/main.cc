/*
 * SPDX-License-Identifier: GPL-2.0-only
 */

/**
 * @file
 * Runs a stream file without Python and prints the raw result, like `cosim replay`. It is meant for
 * gdb, for perf, and for users of ns-3.
 */

#include "results/event-writer.h"
#include "simulation/simulation.h"
#include "stream/stream-reader.h"

#include <algorithm>
#include <cerrno>
#include <chrono>
#include <cstdio>
#include <cstring>
#include <exception>
#include <fcntl.h>
#include <fstream>
#include <iostream>
#include <memory>
#include <stdexcept>
#include <string>
#include <sys/stat.h>
#include <utility>
#include <vector>

namespace
{

constexpr int FAILED = 1;    //!< the simulation failed
constexpr int BAD_INPUT = 2; //!< bad arguments, bad file or bad stream

constexpr std::size_t MOST_BYTES = std::size_t{1} << 32; //!< greatest size of a stream

constexpr const char* USAGE =
    "usage: replay [--json FILE] [--events FILE] STREAM\n"
    "\n"
    "Run STREAM (written by `cosim compile`) and print the result as JSON.\n"
    "  --json FILE    write the result to FILE instead\n"
    "  --events FILE  write each event of the run to FILE, one JSON object per line: events of\n"
    "                 nodes, collectives, chunks, messages, lost packets and changes of the links\n"
    "exit status: 0 complete, 1 the simulation failed, 2 bad input\n";

/// The arguments of the command line.
struct Arguments
{
    std::string stream;
    std::string json;   //!< empty: standard output
    std::string events; //!< empty: none
    bool help{false};
};

Arguments
ParseArguments(const std::vector<std::string>& words)
{
    Arguments arguments;
    for (std::size_t i = 0; i < words.size(); ++i)
    {
        if (words[i] == "--help" || words[i] == "-h")
        {
            arguments.help = true;
            return arguments;
        }
        if (words[i] == "--json" || words[i] == "--events")
        {
            const std::string& option = words[i];
            if (++i == words.size())
            {
                throw std::invalid_argument(option + " needs a file");
            }
            (option == "--json" ? arguments.json : arguments.events) = words[i];
        }
        else if (words[i].size() > 1 && words[i].front() == '-')
        {
            throw std::invalid_argument("unknown option " + words[i] + "; see --help");
        }
        else if (!arguments.stream.empty())
        {
            throw std::invalid_argument("only one stream file is accepted; the second one is " +
                                        words[i]);
        }
        else
        {
            arguments.stream = words[i];
        }
    }
    if (arguments.stream.empty())
    {
        throw std::invalid_argument("a stream file is expected; see --help");
    }
    if (!arguments.json.empty() && arguments.json == arguments.events)
    {
        throw std::invalid_argument("--json and --events need different files");
    }
    return arguments;
}

/// @return whether a path names a descriptor of this process, such as the shell's `<(command)`
bool
IsInherited(const std::string& path)
{
    return path == "/dev/stdin" || path.starts_with("/dev/fd/") ||
           path.starts_with("/proc/self/fd/");
}

/// @return the bytes of a regular file, or of a pipe that this process inherited; the open file is
/// checked, as in topology_gen/files.py
std::string
ReadFile(const std::string& path)
{
    // Without O_NONBLOCK, opening a named pipe would wait for its other end.
    const int descriptor = ::open(path.c_str(), O_RDONLY | O_NONBLOCK | O_NOCTTY | O_CLOEXEC);
    const std::unique_ptr<std::FILE, int (*)(std::FILE*)> file(
        descriptor < 0 ? nullptr : ::fdopen(descriptor, "rb"),
        &std::fclose);
    struct stat found = {};
    std::string bytes;
    std::size_t size = 0;
    if (file && ::fstat(descriptor, &found) == 0)
    {
        const bool isPipe = S_ISFIFO(found.st_mode) && IsInherited(path);
        if (!S_ISREG(found.st_mode) && !S_ISDIR(found.st_mode) && !isPipe)
        {
            throw std::invalid_argument("cannot read " + path + ": not a regular file");
        }
        ::fcntl(descriptor, F_SETFL, O_RDONLY); // reading may wait
        do
        {
            if (std::max<std::size_t>(size, found.st_size) > MOST_BYTES)
            {
                throw std::invalid_argument("cannot read " + path + ": larger than " +
                                            std::to_string(MOST_BYTES >> 20) + " MiB");
            }
            bytes.resize(2 * size + 65536);
            size += std::fread(bytes.data() + size, 1, bytes.size() - size, file.get());
        } while (size == bytes.size());
        bytes.resize(size);
    }
    if (!file || std::ferror(file.get()) != 0)
    {
        throw std::invalid_argument("cannot read " + path + ": " + std::strerror(errno));
    }
    return bytes;
}

/// @return the file at a path, opened for writing; not open if the path is empty
std::ofstream
OpenFile(const std::string& path)
{
    std::ofstream file;
    if (!path.empty())
    {
        file.open(path);
        if (!file)
        {
            throw std::invalid_argument("cannot write " + path + ": " + std::strerror(errno));
        }
    }
    return file;
}

int
Replay(const Arguments& arguments)
{
    cosim::Stream stream;
    {
        const std::string bytes = ReadFile(arguments.stream);
        stream = cosim::ReadStream(bytes.data(), bytes.size());
    }
    std::ofstream file = OpenFile(arguments.json);
    std::ofstream events = OpenFile(arguments.events);
    const auto eventWriter = cosim::MakeEventWriter(events);
    cosim::Simulation simulation(std::move(stream));
    if (!arguments.events.empty())
    {
        simulation.Observe(*eventWriter);
    }
    simulation.Build();
    const std::string status = simulation.Run({}, std::chrono::seconds(1));
    std::ostream& out = arguments.json.empty() ? std::cout : file;
    const std::string result = simulation.GetResult();
    out << result << std::endl;
    if (!out && &out == &file)
    {
        std::cout << result << std::endl;
        throw std::runtime_error(arguments.json + " could not be written; the result is printed");
    }
    if (!out)
    {
        throw std::runtime_error("the result could not be written");
    }
    if (!events.flush())
    {
        throw std::runtime_error("the events could not be written");
    }
    if (status != "complete")
    {
        std::cerr << "replay: the run ended with status " << status
                  << "; see \"error\" in its result\n";
        return FAILED;
    }
    return 0;
}

} // namespace

int
main(int argc, char* argv[])
{
    try
    {
        const Arguments arguments = ParseArguments({argv + 1, argv + argc});
        if (arguments.help)
        {
            std::cout << USAGE;
            return 0;
        }
        return Replay(arguments);
    }
    catch (const std::invalid_argument& error)
    {
        std::cerr << "replay: " << error.what() << "\n";
        return BAD_INPUT;
    }
    catch (const std::exception& error)
    {
        std::cerr << "replay: " << error.what() << "\n";
        return FAILED;
    }
}
