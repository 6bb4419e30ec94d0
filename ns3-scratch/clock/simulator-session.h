/*
 * SPDX-License-Identifier: GPL-2.0-only
 */

#ifndef COSIM_SIMULATOR_SESSION_H
#define COSIM_SIMULATOR_SESSION_H

#include <cstdint>
#include <memory>
#include <stdexcept>

namespace cosim
{

/// A simulation that cannot run or has failed. The message is one sentence.
class CoreError : public std::runtime_error
{
    using std::runtime_error::runtime_error;
};

/**
 * The use of ns-3's simulator by one run. ns-3 has only one simulator per process.
 *
 * The constructor brings the simulator into a clean state and sets the time resolution to
 * picoseconds. The destructor calls Simulator::Destroy. The same run therefore gives the same
 * result each time in a process.
 */
class SimulatorSession
{
  public:
    /**
     * @param seed any number; it selects the sequence of random numbers
     * @throws CoreError if another session is open or was abandoned
     */
    explicit SimulatorSession(uint64_t seed);
    ~SimulatorSession();

    SimulatorSession(const SimulatorSession&) = delete;
    SimulatorSession& operator=(const SimulatorSession&) = delete;

    /**
     * Leave the session open for good, because ns-3 has failed in the middle of an event. Nothing
     * of it is destroyed, and this process can have no other session.
     */
    static void Abandon(std::unique_ptr<SimulatorSession> session);

    /// Keep an object for good, because ns-3 was using it when it failed. It is never destroyed,
    /// and is no leak.
    static void Keep(std::shared_ptr<void> object);

    /// @return true if a session of this process was abandoned
    static bool IsAbandoned();
};

} // namespace cosim

#endif // COSIM_SIMULATOR_SESSION_H
