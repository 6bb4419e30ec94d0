/*
 * SPDX-License-Identifier: GPL-2.0-only
 */

#include "fabrics/express/express-links.h"

#include "stream/node-name.h"

#include <algorithm>
#include <iterator>
#include <utility>

namespace cosim
{

ExpressLinks::ExpressLinks(const DatapathSetup& setup,
                           DatapathClient& client,
                           Transport& transport,
                           SwitchBuffers buffers,
                           PortMaker makePort)
    : m_clock(setup.clock),
      m_states(setup.links),
      m_largestBytes(std::max(setup.formats.GetLargestBytes(), setup.topology.pauseFrameBytes)),
      m_timeUnitPs(setup.formats.All().front().timeUnitPs),
      m_client(client),
      m_transport(transport),
      m_buffers(std::move(buffers)),
      m_makePort(std::move(makePort)),
      m_topology(setup.topology),
      m_look(setup.clock, *this)
{
}

void
ExpressLinks::Build(Port::Receiver& receiver)
{
    m_receiver = &receiver;
    for (uint32_t link = 0; link < m_states.GetCount(); ++link)
    {
        Set(link);
    }
    if (m_topology.pauseFrameBytes > 0)
    {
        PreparePauses();
    }
}

/// Find out by which link the frames for each link go.
void
ExpressLinks::PreparePauses()
{
    std::map<std::pair<uint32_t, uint32_t>, std::vector<uint32_t>> between;
    m_ports.resize(m_topology.nodes);
    for (uint32_t link = 0; link < m_states.GetCount(); ++link)
    {
        const LinkState& state = m_states.Get(link);
        between[{state.source, state.target}].push_back(link);
        const std::size_t places = m_topology.HasClasses() ? PulledPort::CLASSES : 1;
        m_ports[state.source].insert(m_ports[state.source].end(), places, link);
    }
    m_back.assign(m_states.GetCount(), NONE);
    for (const auto& [ends, links] : between)
    {
        const auto back = between.find({ends.second, ends.first});
        for (std::size_t i = 0; back != between.end() && i < links.size(); ++i)
        { // parallel links have the same order both ways
            m_back[links[i]] = back->second[std::min(i, back->second.size() - 1)];
        }
    }
    for (const auto& buffer : m_buffers)
    {
        buffer->SetPauseChannel(*this);
    }
    for (uint32_t link = 0; link < m_links.size(); ++link)
    {
        GetPulled(link).SetPauseHook([this, link](uint32_t one, uint32_t hops, bool isPaused) {
            OnPortPause({link, static_cast<uint8_t>(one)}, hops, isPaused);
        });
    }
}

/// Count a port that has stopped, or that goes on, and report it.
void
ExpressLinks::OnPortPause(const Held& held, uint32_t hops, bool isPaused)
{
    if (isPaused)
    {
        m_stops[held] = {hops, m_clock.GetNowPs()};
        m_spread.resize(std::max<std::size_t>(m_spread.size(), hops));
        m_spreadLinks.resize(m_spread.size());
        ++m_spread[hops - 1].count;
        m_spreadLinks[hops - 1].insert(held.link);
    }
    else
    {
        const Stop stop = m_stops.extract(held).mapped();
        hops = stop.hops;
        m_spread[hops - 1].timePs += static_cast<uint64_t>(m_clock.GetNowPs() - stop.startPs);
    }
    m_client.OnPortPause(held.link, held.trafficClass, hops, isPaused);
}

/// @return the pauses by the number of pauses that have led to them, up to now
std::vector<PauseHop>
ExpressLinks::GetSpread() const
{
    std::vector<PauseHop> spread = m_spread;
    for (const auto& [held, stop] : m_stops)
    {
        spread[stop.hops - 1].timePs += static_cast<uint64_t>(m_clock.GetNowPs() - stop.startPs);
    }
    for (std::size_t hop = 0; hop < spread.size(); ++hop)
    {
        spread[hop].links = m_spreadLinks[hop].size();
    }
    return spread;
}

/// @return the port of a link, which is a PulledPort where switches pause
PulledPort&
ExpressLinks::GetPulled(uint32_t link) const
{
    return static_cast<PulledPort&>(*m_links[link]);
}

void
ExpressLinks::SetPaused(uint32_t link, uint8_t trafficClass, bool isPaused)
{
    const uint32_t back = m_back[link];
    if (back == NONE)
    { // nothing leads back, so nobody can be told
        return;
    }
    const Held held{link, trafficClass};
    uint32_t chain = 0;
    if (isPaused)
    {
        for (const uint32_t port : m_ports[m_states.Get(link).target])
        {
            if (const auto cause = m_held.find({port, trafficClass}); cause != m_held.end())
            {
                chain = std::max(chain, cause->second);
            }
        }
        m_held[held] = ++chain;
        m_longestChain = std::max(m_longestChain, chain);
        if (!m_look.IsArmed())
        {
            m_look.Arm(ns3::TimeStep(LOOK_PS));
        }
    }
    else
    {
        m_held.erase(held);
    }
    GetPulled(back).Send(
        {&GetPulled(link), m_topology.pauseFrameBytes, trafficClass, isPaused, chain});
}

/// Fail the run if paused ports wait for each other, and none of them can go on.
void
ExpressLinks::LookForCycle()
{
    std::set<Held> stuck;
    for (const auto& [held, chain] : m_held)
    {
        stuck.insert(held);
    }
    for (bool isChanged = true; isChanged;)
    {
        isChanged = false;
        for (auto held = stuck.begin(); held != stuck.end();)
        {
            const uint32_t node = m_states.Get(held->link).target;
            const bool isStuck =
                m_buffers[node]->IsStuck(held->link, held->trafficClass, [&](uint32_t port) {
                    const uint32_t link = m_ports[node][port];
                    return stuck.contains({link, held->trafficClass}) &&
                           GetPulled(link).IsPaused(held->trafficClass);
                });
            isChanged = isChanged || !isStuck;
            held = isStuck ? std::next(held) : stuck.erase(held);
        }
    }
    if (!stuck.empty())
    {
        m_client.OnFailure(DescribeCycle(stuck));
    }
    else if (!m_held.empty())
    {
        m_look.Arm(ns3::TimeStep(LOOK_PS));
    }
}

/// @return one of the stuck ports for which packets of a stuck port wait
ExpressLinks::Held
ExpressLinks::FindCause(const Held& held, const std::set<Held>& stuck) const
{
    const uint32_t node = m_states.Get(held.link).target;
    for (const uint32_t link : m_ports[node])
    {
        const Held other{link, held.trafficClass};
        const auto isElsewhere = [&](uint32_t port) { return m_ports[node][port] != link; };
        if (stuck.contains(other) &&
            !m_buffers[node]->IsStuck(held.link, held.trafficClass, isElsewhere))
        {
            return other;
        }
    }
    return held;
}

/// @return a sentence that names the links of a cycle
std::string
ExpressLinks::DescribeCycle(const std::set<Held>& stuck) const
{
    std::vector<Held> way;
    Held next = *stuck.begin();
    while (std::ranges::find(way, next) == way.end())
    {
        way.push_back(next);
        next = FindCause(next, stuck);
    }
    way.erase(way.begin(), std::ranges::find(way, next));
    std::string text = "deadlock: ports that are paused wait for each other in a cycle: ";
    for (const Held& held : way)
    {
        text += NameLink(held.link) + ", ";
    }
    return text + "and again";
}

std::string
ExpressLinks::NameLink(uint32_t link) const
{
    const LinkState& state = m_states.Get(link);
    return NameNode(m_topology, state.source) + " → " + NameNode(m_topology, state.target);
}

void
ExpressLinks::AddStatistics(NetworkStatistics& statistics) const
{
    if (m_topology.pauseFrameBytes == 0)
    {
        return;
    }
    Pauses& sum = statistics.pauses.emplace();
    sum.hops = m_longestChain;
    sum.spread = GetSpread();
    for (uint32_t link = 0; link < m_links.size(); ++link)
    {
        const LinkCounters counters = GetPulled(link).GetCounters();
        const auto pausedPs = static_cast<uint64_t>(counters.pausedPs);
        sum.count += counters.pauses;
        sum.timePs += pausedPs;
        sum.hosts += counters.pauses > 0 && m_states.Get(link).source < m_topology.ranks ? 1 : 0;
        if (pausedPs > sum.worstPs)
        {
            sum.worstPs = pausedPs;
            sum.worstLink = NameLink(link);
        }
    }
    for (const auto& buffer : m_buffers)
    {
        const HeadroomUse use = buffer->GetHeadroomUse();
        sum.headroomDrops += use.drops;
        sum.headroomLackBytes = std::max(sum.headroomLackBytes, use.lackBytes);
        if (use.peakBytes > sum.headroomPeakBytes)
        {
            sum.headroomPeakBytes = use.peakBytes;
            sum.headroomBytes = use.limitBytes;
        }
    }
}

void
ExpressLinks::Set(uint32_t link)
{
    const LinkState& state = m_states.Get(link);
    if (link == m_links.size())
    {
        const auto markings = GetMarkings(link);
        m_links.push_back(m_makePort({m_clock,
                                      state,
                                      *m_buffers[state.source],
                                      *m_receiver,
                                      m_topology.HasClasses(),
                                      markings}));
    }
    TransmissionTimes& times =
        m_times.try_emplace(state.rateBps, state.rateBps, m_largestBytes, m_timeUnitPs)
            .first->second;
    m_links[link]->Set(times, state);
    if (!state.isUp && m_topology.pauseFrameBytes > 0)
    {
        m_buffers[state.target]->OnLinkDown(link);
        std::erase_if(m_held, [link](const auto& held) { return held.first.link == link; });
    }
}

/// @return how traffic classes are marked at a link, as far as that is not what the link says
std::vector<std::pair<uint32_t, EcnMarking>>
ExpressLinks::GetMarkings(uint32_t link) const
{
    std::vector<std::pair<uint32_t, EcnMarking>> found;
    if (!m_topology.HasClasses())
    {
        return found;
    }
    for (const ClassMarking& marking : m_topology.markings)
    {
        for (const uint32_t trafficClass : marking.classes)
        {
            found.push_back({trafficClass,
                             {marking.linkEcnThresholdBytes[link],
                              marking.linkEcnFullBytes.empty() ? 0 : marking.linkEcnFullBytes[link],
                              marking.ecnChancePpb,
                              marking.marksAtDequeue}});
        }
    }
    return found;
}

void
ExpressLinks::Refuse(uint32_t link, Packet* packet)
{
    m_refusals += m_states.Get(link).isUp ? 0 : 1;
    Lose(link, packet);
}

void
ExpressLinks::Lose(uint32_t link, Packet* packet)
{
    m_client.OnDropped(link, packet->wireBytes);
    m_transport.Release(packet);
}

} // namespace cosim
