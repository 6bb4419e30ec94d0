/*
 * SPDX-License-Identifier: GPL-2.0-only
 */

#ifndef COSIM_CIRCUIT_SWITCH_H
#define COSIM_CIRCUIT_SWITCH_H

#include "circuits/circuit-network.h"
#include "network/reconfiguration-record.h"
#include "network/run-observers.h"
#include "stream/stream.h"

#include <cstdint>
#include <vector>

namespace cosim
{

/**
 * An optical circuit switch between the ranks: it measures what waits to be carried, and makes the
 * circuits for that. What carries messages over them inherits from it.
 *
 * At every whole number of intervals the demand is measured, as long as there is some: then nothing
 * is scheduled, and idle time costs nothing. If other circuits are due, all flows pause for the
 * latency, the links change, and the flows resume.
 *
 * Source: W. Wang et al., "TopoOpt", NSDI 2023, Appendix E.4.
 */
class CircuitSwitch
{
  public:
    /// @param topology links and paths of the start; with reconfiguration
    explicit CircuitSwitch(const Topology& topology);
    virtual ~CircuitSwitch() = default;

    CircuitSwitch(const CircuitSwitch&) = delete;
    CircuitSwitch& operator=(const CircuitSwitch&) = delete;

    /// @param observers hear of the changes, from now on
    void SetObservers(const RunObservers& observers)
    {
        m_observers = observers;
    }

    /// @return the changes so far
    const std::vector<ReconfigurationRecord>& GetRecords() const;

  protected:
    /// There is, or will be without further notice, something to carry.
    void NoteDemand()
    {
        if (!m_isMeasuring)
        {
            ScheduleMeasurement();
        }
    }

    /// @return whether flows pause now
    bool IsPaused() const
    {
        return m_isPaused;
    }

    /// @return the links and ways as they are now
    const CircuitNetwork& GetCircuits() const
    {
        return m_circuits;
    }

  private:
    /**
     * Measure the demand.
     *
     * @param bytes per path, 0: add what was handed to the network and is not yet delivered
     * @return whether there will be something to carry without further notice
     */
    virtual bool Measure(std::vector<uint64_t>& bytes) const = 0;

    /// Stop what is sent: the links are about to change.
    virtual void Pause() = 0;

    /// Go on over the links as they are now.
    virtual void Resume() = 0;

    void ScheduleMeasurement();
    void OnMeasurement();
    std::vector<Demand> GetDemand(const std::vector<uint64_t>& bytes) const;
    void OnPauseEnd();

    CircuitNetwork m_circuits;
    std::vector<Circuit> m_next;   //!< while flows pause
    std::vector<uint64_t> m_bytes; //!< of the last measurement, per path
    std::vector<ReconfigurationRecord> m_records;
    RunObservers m_observers;
    bool m_isMeasuring{false}; //!< a measurement is scheduled, or flows pause
    bool m_isPaused{false};
};

} // namespace cosim

#endif // COSIM_CIRCUIT_SWITCH_H
