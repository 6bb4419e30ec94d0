/*
 * SPDX-License-Identifier: GPL-2.0-only
 */

#ifndef COSIM_CIRCUIT_SWITCH_H
#define COSIM_CIRCUIT_SWITCH_H

#include "circuits/circuit-links.h"
#include "network/fabric.h"
#include "network/link-control.h"
#include "network/reconfiguration-record.h"
#include "network/run-observers.h"
#include "stream/stream.h"

#include <cstdint>
#include <memory>
#include <vector>

namespace cosim
{

/**
 * An optical circuit switch between the ranks: it measures what waits to be carried, and changes
 * the fabric's links to the circuits that this demand gets.
 *
 * It measures the demand at every whole number of intervals while there is demand. Without demand,
 * nothing is scheduled, so idle time costs nothing. If the demand gets other circuits, all flows
 * pause for the latency, the links change, and the flows resume.
 *
 * Source: W. Wang et al., "TopoOpt", NSDI 2023, Appendix E.4.
 */
class CircuitSwitch : private DemandListener
{
  public:
    /**
     * @param topology links and paths of the start, with reconfiguration; outlives the switch
     * @param control of the fabric's links; outlives the switch
     */
    CircuitSwitch(const Topology& topology, LinkControl& control);
    ~CircuitSwitch() override;

    CircuitSwitch(const CircuitSwitch&) = delete;
    CircuitSwitch& operator=(const CircuitSwitch&) = delete;

    /// @param observers hear of the changes, from now on
    void SetObservers(const RunObservers& observers)
    {
        m_observers = observers;
    }

    /// @return the changes so far
    const std::vector<ReconfigurationRecord>& GetRecords() const;

  private:
    // DemandListener
    void OnDemand() override;

    void ScheduleMeasurement();
    void OnMeasurement();
    std::vector<Demand> GetDemand(const std::vector<uint64_t>& bytes) const;
    void Record(const std::vector<Demand>& demand, uint32_t newCircuits);
    void OnPauseEnd();

    const Topology& m_topology;
    LinkControl& m_control;
    CircuitLinks m_links;
    std::vector<Circuit> m_next;   //!< while flows pause
    std::vector<uint64_t> m_bytes; //!< of the last measurement, per path
    std::vector<ReconfigurationRecord> m_records;
    RunObservers m_observers;
    bool m_isMeasuring{false}; //!< a measurement is scheduled, or flows pause
};

/**
 * @param topology links and paths of the start; outlives the switch
 * @param fabric the fabric; outlives the switch
 * @return a switch for the fabric's links, or null if the topology's links are not circuits that
 * change
 */
std::unique_ptr<CircuitSwitch> MakeCircuitSwitch(const Topology& topology, Fabric& fabric);

} // namespace cosim

#endif // COSIM_CIRCUIT_SWITCH_H
