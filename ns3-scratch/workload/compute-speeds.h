/*
 * SPDX-License-Identifier: GPL-2.0-only
 */

#ifndef COSIM_COMPUTE_SPEEDS_H
#define COSIM_COMPUTE_SPEEDS_H

#include "network/network-api.h"
#include "network/run-observers.h"
#include "stream/stream.h"

#include <cstdint>
#include <vector>

namespace cosim
{

/**
 * How much longer than usual the computations of each rank take, which events change.
 *
 * With a deviation s, a computation also takes a random factor: the exponential of s z - s^2 / 2,
 * where z is normal. Its mean is 1. The factor depends on the seed, the rank and the node alone.
 */
class ComputeSpeeds
{
  public:
    /**
     * @param topology supplies the events; must outlive this object
     * @param network supplies the time; must outlive this object
     * @param observers notified of each event
     */
    ComputeSpeeds(const Topology& topology,
                  const NetworkApi& network,
                  const RunObservers& observers);

    ComputeSpeeds(const ComputeSpeeds&) = delete;
    ComputeSpeeds& operator=(const ComputeSpeeds&) = delete;

    /// Schedule the events. Call it at the start of the run.
    void Start();

    /**
     * @param rank a rank
     * @param node the node of its trace that computes
     * @param durationPs usual time of a computation [ps]
     * @return the time that the computation takes if it begins now [ps]
     */
    uint64_t GetDuration(Rank rank, uint32_t node, uint64_t durationPs) const;

  private:
    void Happen(uint32_t event);

    const Topology& m_topology;
    const NetworkApi& m_network;
    RunObservers m_observers;
    std::vector<uint64_t> m_factorPpm; //!< per rank: parts of 10^6; empty without events
    std::vector<uint32_t> m_jitterPpm; //!< per rank: deviation; empty without events
};

} // namespace cosim

#endif // COSIM_COMPUTE_SPEEDS_H
