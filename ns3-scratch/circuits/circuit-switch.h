/*
 * SPDX-License-Identifier: GPL-2.0-only
 */

#ifndef COSIM_CIRCUIT_SWITCH_H
#define COSIM_CIRCUIT_SWITCH_H

#include "circuits/circuit-links.h"
#include "network/fabric.h"
#include "network/link-control.h"
#include "network/run-observers.h"
#include "stream/stream.h"

#include <cstdint>
#include <memory>
#include <vector>

namespace cosim
{

/**
 * An optical circuit switch between the ranks. It measures the demand, assigns circuits to it, and
 * changes the links of the fabric accordingly.
 *
 * While there is demand, it measures at every multiple of the interval. Without demand it schedules
 * no event, so idle time costs nothing. If the demand needs other circuits, all flows pause for the
 * latency of the switch, the links change, and the flows resume.
 *
 * Source: W. Wang et al., "TopoOpt", NSDI 2023, Appendix E.4.
 */
class CircuitSwitch : private DemandListener
{
  public:
    /**
     * @param topology links and paths at the start of the run, with reconfiguration; must outlive
     * the switch
     * @param control controls the links of the fabric; must outlive the switch
     * @param observers notified of each change
     */
    CircuitSwitch(const Topology& topology, LinkControl& control, const RunObservers& observers);
    ~CircuitSwitch() override;

    CircuitSwitch(const CircuitSwitch&) = delete;
    CircuitSwitch& operator=(const CircuitSwitch&) = delete;

  private:
    // DemandListener
    void OnDemand() override;

    void ScheduleMeasurement();
    void OnMeasurement();
    std::vector<Demand> GetDemand(const std::vector<uint64_t>& bytes) const;
    void Report(const std::vector<Demand>& demand, uint32_t newCircuits);
    void OnPauseEnd();

    const Topology& m_topology;
    LinkControl& m_control;
    CircuitLinks m_links;
    std::vector<uint64_t> m_bytes; //!< per path: demand of the last measurement
    RunObservers m_observers;
    bool m_isMeasuring{false}; //!< true while a measurement is scheduled or the flows are paused
};

/**
 * Create a circuit switch for the links of a fabric.
 *
 * @param topology links and paths at the start of the run; must outlive the switch
 * @param fabric the fabric; must outlive the switch
 * @param observers notified of each change
 * @return the switch, or null if the links of the topology do not change
 */
std::unique_ptr<CircuitSwitch> MakeCircuitSwitch(const Topology& topology,
                                                 Fabric& fabric,
                                                 const RunObservers& observers);

} // namespace cosim

#endif // COSIM_CIRCUIT_SWITCH_H
