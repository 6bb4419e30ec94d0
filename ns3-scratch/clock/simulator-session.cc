/*
 * SPDX-License-Identifier: GPL-2.0-only
 */

#include "clock/simulator-session.h"

#include "clock/causal-simulator.h"

#include "ns3/ipv4-address-generator.h"
#include "ns3/mac48-address.h"
#include "ns3/nstime.h"
#include "ns3/rng-seed-manager.h"
#include "ns3/simulator.h"

#include <utility>
#include <vector>

namespace cosim
{

namespace
{

/// The largest seed of ns-3's generator (MRG32k3a). The smallest is 1.
constexpr uint64_t MAX_RNG_SEED = 4294944442;

bool g_isOpen = false;      // true if this process has a session
bool g_isAbandoned = false; // true if it was abandoned

} // namespace

SimulatorSession::SimulatorSession(uint64_t seed)
{
    if (g_isOpen)
    {
        throw CoreError(
            g_isAbandoned
                ? "ns-3 has failed in this process and cannot be used again; start "
                  "another process"
                : "another Simulation or Network is open in this process; close it first");
    }
    if (ns3::Time::GetResolution() != ns3::Time::PS)
    {
        // Set the resolution before the simulator is first used. ns-3 then converts existing times,
        // once.
        ns3::Time::SetResolution(ns3::Time::PS);
    }
    // All 64 bits of the seed count: the run number takes the part that does not fit into ns-3's
    // seed.
    ns3::RngSeedManager::SetSeed(static_cast<uint32_t>(1 + (seed - 1) % MAX_RNG_SEED));
    ns3::RngSeedManager::SetRun(1 + (seed - 1) / MAX_RNG_SEED);
    ns3::RngSeedManager::ResetNextStreamIndex();
    ns3::Ipv4AddressGenerator::Reset();
    ns3::Mac48Address::ResetAllocationIndex();
    ns3::Simulator::Destroy(); // in case somebody has used the simulator before
    ns3::Simulator::SetImplementation(ns3::CreateObject<CausalSimulator>());
    g_isOpen = true;
}

SimulatorSession::~SimulatorSession()
{
    ns3::Simulator::Destroy();
    g_isOpen = false;
}

void
SimulatorSession::Abandon(std::unique_ptr<SimulatorSession> session)
{
    Keep(std::move(session));
    g_isAbandoned = true;
}

void
SimulatorSession::Keep(std::shared_ptr<void> object)
{
    static auto* const kept = new std::vector<std::shared_ptr<void>>;
    kept->push_back(std::move(object));
}

bool
SimulatorSession::IsAbandoned()
{
    return g_isAbandoned;
}

} // namespace cosim
