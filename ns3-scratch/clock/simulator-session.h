/*
 * SPDX-License-Identifier: GPL-2.0-only
 */

#ifndef COSIM_SIMULATOR_SESSION_H
#define COSIM_SIMULATOR_SESSION_H

#include <cstdint>
#include <stdexcept>

namespace cosim
{

/// A simulation that cannot be run or has failed; the text is one sentence.
class CoreError : public std::runtime_error
{
    using std::runtime_error::runtime_error;
};

/**
 * The use of ns-3's one simulator by one run: from a clean state, so that the same run twice in a
 * process gives the same result, to Simulator::Destroy. Time is in picoseconds.
 */
class SimulatorSession
{
  public:
    /**
     * @param seed any number; different ones give different random variables
     * @throws CoreError if another session is open, or if the resolution cannot be set any more
     */
    explicit SimulatorSession(uint64_t seed);
    ~SimulatorSession();

    SimulatorSession(const SimulatorSession&) = delete;
    SimulatorSession& operator=(const SimulatorSession&) = delete;
};

} // namespace cosim

#endif // COSIM_SIMULATOR_SESSION_H
