/*
 * SPDX-License-Identifier: GPL-2.0-only
 */

#ifndef COSIM_CIRCUIT_EXPRESS_FABRIC_H
#define COSIM_CIRCUIT_EXPRESS_FABRIC_H

#include "circuits/circuit-switch.h"
#include "fabrics/express/express-fabric.h"

#include <deque>
#include <memory>
#include <vector>

namespace cosim
{

/**
 * The express datapath over links that change during the run.
 *
 * A segment is sent from rank to rank: each one decides by the circuits of the moment where it goes
 * on. While flows pause, what is being sent or is under way arrives, and what arrives at its target
 * is delivered; all other segments are held at the rank where they are, whatever its buffers hold,
 * and go on from there in the same order. A sender takes no notice of anything: its timers stand
 * still (see ExpressTcpSocket::Pause), and what it is to send or is acknowledged waits.
 *
 * Without forwarding, a flow without a circuit remains paused. Its acknowledgements, should there
 * be no circuit for the way back, take a control network beside the circuits: with the latency and
 * the rate of a circuit, and no queue.
 */
class CircuitExpressFabric : public CircuitSwitch, public ExpressFabric
{
  public:
    /**
     * @param topology links and paths of the start, with reconfiguration
     * @param settings the settings; outlive the fabric
     */
    CircuitExpressFabric(const Topology& topology, const Settings& settings);

    // Fabric
    void SetObservers(const RunObservers& observers) override;
    const std::vector<ReconfigurationRecord>* GetReconfigurations() const override;

  protected:
    void Build() override;
    void Submit(FlowId flow, uint64_t bytes) override;
    void Carry(Segment* segment) override;
    void OnLinkArrival(Segment* segment) override;

  private:
    /// What a flow's sender does not know yet, as it is paused.
    struct Sender
    {
        bool isPaused{false};
        uint64_t submitted{0};          //!< [bytes]
        std::vector<Segment*> received; //!< ACKs
    };

    // CircuitSwitch
    bool Measure(std::vector<uint64_t>& bytes) const override;
    void Pause() override;
    void Resume() override;

    FlowId GetPathOf(const Segment& segment) const;
    void MakeLinkIds();
    void SendOn(Segment* segment, Rank node);
    uint32_t FindLink(Segment* segment, Rank node);
    void Deliver(Segment* segment);
    void ResumeFlow(FlowId flow);

    std::deque<uint32_t> m_linkIds;            //!< each its own index: a path of one link
    std::vector<std::vector<Segment*>> m_held; //!< per rank
    std::vector<Sender> m_senders;             //!< per flow
};

/// @return a CircuitExpressFabric
std::unique_ptr<Fabric> MakeCircuitExpressFabric(const Topology& topology,
                                                 const Settings& settings);

} // namespace cosim

#endif // COSIM_CIRCUIT_EXPRESS_FABRIC_H
