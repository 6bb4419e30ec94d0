/*
 * SPDX-License-Identifier: GPL-2.0-only
 */

#ifndef COSIM_CIRCUIT_FLOW_FABRIC_H
#define COSIM_CIRCUIT_FLOW_FABRIC_H

#include "circuits/circuit-switch.h"
#include "fabrics/flow/flow-fabric.h"

#include <memory>
#include <vector>

namespace cosim
{

/**
 * Flows that share links fairly, over links that change during the run.
 *
 * While flows pause, their rates are 0, and windows of slow start wait as long; what has left its
 * source arrives. Then all go on over the paths of the moment, with the windows that they have. A
 * path that has none remains paused (without forwarding). So nothing is re-routed on its way: a
 * flow is where its source is.
 */
class CircuitFlowFabric : public CircuitSwitch, public FlowFabric
{
  public:
    /**
     * @param topology links and paths of the start, with reconfiguration
     * @param settings the settings; outlive the fabric
     */
    CircuitFlowFabric(const Topology& topology, const Settings& settings);

    // Fabric
    void SetObservers(const RunObservers& observers) override;
    const std::vector<ReconfigurationRecord>* GetReconfigurations() const override;

  protected:
    void Launch(std::span<const Cargo> cargo, uint64_t at, uint64_t now) override;
    std::vector<LinkCounters> GetLinkCounters() const override;

  private:
    /// What is kept of a path whose links change.
    struct Past
    {
        uint64_t counted{0};   //!< of what it carried, in m_linkCounters [bytes on the wire]
        uint64_t pausedAt{0};  //!< while paused [ps]
        bool isPaused{false};  //!< by a change of the links
        bool isWaiting{false}; //!< while paused: for a window, too
    };

    // CircuitSwitch
    bool Measure(std::vector<uint64_t>& bytes) const override;
    void Pause() override;
    void Resume() override;

    bool HasLinks(uint32_t id) const;
    void PausePath(uint32_t id, uint64_t now);
    void ResumePath(uint32_t id, uint64_t now);
    void CountLinks();
    void ChangeLinks();

    std::vector<Past> m_past;                 //!< per path
    std::vector<LinkCounters> m_linkCounters; //!< per link, up to the last change
};

/// @return a CircuitFlowFabric
std::unique_ptr<Fabric> MakeCircuitFlowFabric(const Topology& topology, const Settings& settings);

} // namespace cosim

#endif // COSIM_CIRCUIT_FLOW_FABRIC_H
