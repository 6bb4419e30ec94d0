/*
 * SPDX-License-Identifier: GPL-2.0-only
 */

#include "fabrics/express/network-interfaces.h"

#include <algorithm>
#include <bit>
#include <stdexcept>

namespace cosim
{

using namespace ns3;

NetworkInterface::NetworkInterface(CausalSimulator& clock,
                                   PulledPort& port,
                                   ExpressLinks& links,
                                   uint32_t link,
                                   Router& router,
                                   uint8_t trafficClass)
    : m_clock(clock),
      m_port(port),
      m_links(links),
      m_link(link),
      m_router(router),
      m_timer(clock, *this)
{
    m_port.Attach(*this, trafficClass);
}

uint32_t
NetworkInterface::Add(PulledSender& sender)
{
    const auto number = static_cast<uint32_t>(m_members.size());
    m_members.push_back({&sender, PulledSender::NEVER});
    if (number / WORD == m_ready.size())
    {
        m_ready.push_back(0);
    }
    return number;
}

void
NetworkInterface::Remove(uint32_t number)
{
    m_members[number] = {nullptr, PulledSender::NEVER};
    m_ready[number / WORD] &= ~(uint64_t{1} << number % WORD);
}

/// Put a member among those that may send or that wait for a time. @return true if it may send
bool
NetworkInterface::Place(uint32_t number)
{
    Member& member = m_members[number];
    const int64_t timePs = member.sender->GetSendPs();
    const bool isReady = timePs <= m_clock.GetNowPs();
    const uint64_t bit = uint64_t{1} << number % WORD;
    uint64_t& word = m_ready[number / WORD];
    word = isReady ? word | bit : word & ~bit;
    if (isReady)
    {
        member.waitPs = PulledSender::NEVER;
    }
    else if (member.waitPs != timePs)
    {
        member.waitPs = timePs;
        if (timePs != PulledSender::NEVER)
        {
            m_waits.push_back({timePs, number});
            std::push_heap(m_waits.begin(), m_waits.end());
        }
    }
    return isReady;
}

void
NetworkInterface::Wake(uint32_t number)
{
    if (IsReady(number))
    {
        return;
    }
    if (Place(number))
    {
        m_port.Wake();
    }
    else if (const int64_t waitPs = m_members[number].waitPs;
             waitPs != PulledSender::NEVER && !m_port.IsSending() &&
             (!m_timer.IsArmed() || m_timer.GetDelayLeft() > TimeStep(waitPs - m_clock.GetNowPs())))
    {
        m_timer.Arm(TimeStep(waitPs - m_clock.GetNowPs()));
    }
}

/// Let those that have waited until now send.
void
NetworkInterface::TakeDue()
{
    const int64_t now = m_clock.GetNowPs();
    while (!m_waits.empty() && m_waits.front().timePs <= now)
    {
        const Wait wait = m_waits.front();
        std::pop_heap(m_waits.begin(), m_waits.end());
        m_waits.pop_back();
        if (Member& member = m_members[wait.number];
            member.sender != nullptr && member.waitPs == wait.timePs)
        {
            member.waitPs = PulledSender::NEVER;
            Place(wait.number);
        }
    }
}

/// @return the next member that may send, after the last one; NONE if there is none
uint32_t
NetworkInterface::FindNext() const
{
    const auto words = static_cast<uint32_t>(m_ready.size());
    const uint32_t begin = m_last == NONE ? 0 : m_last + 1;
    for (uint32_t i = 0; i <= words; ++i)
    {
        const uint32_t index = (begin / WORD + i) % words;
        uint64_t word = m_ready[index];
        const uint64_t before = (uint64_t{1} << begin % WORD) - 1;
        if (i == 0 && begin / WORD < words)
        {
            word &= ~before;
        }
        if (word != 0)
        {
            return index * WORD + static_cast<uint32_t>(std::countr_zero(word));
        }
    }
    return NONE;
}

Packet*
NetworkInterface::Pull()
{
    TakeDue();
    for (uint32_t number = FindNext(); number != NONE; number = FindNext())
    {
        if (!Place(number))
        { // its rate or window has become smaller since
            continue;
        }
        m_last = number;
        Packet* const packet = m_members[number].sender->Pull();
        Place(number);
        m_router.Route(*packet);
        if (packet->path.front() == m_link)
        {
            return packet;
        }
        m_links.Enter(packet->path.front(), packet); // packets of a flow spread over ports
    }
    while (!m_waits.empty())
    {
        const Wait& first = m_waits.front();
        if (m_members[first.number].waitPs == first.timePs)
        {
            m_timer.Arm(TimeStep(first.timePs - m_clock.GetNowPs()));
            break;
        }
        std::pop_heap(m_waits.begin(), m_waits.end());
        m_waits.pop_back();
    }
    return nullptr;
}

void
NetworkInterface::OnDue()
{
    m_port.Wake();
}

NetworkInterfaces::NetworkInterfaces(const DatapathSetup& setup,
                                     ExpressLinks& links,
                                     Router& router,
                                     const ExpressFlows& flows)
    : m_clock(setup.clock),
      m_states(setup.links),
      m_links(links),
      m_router(router),
      m_flows(flows),
      m_places(setup.topology.pathSource.size())
{
}

void
NetworkInterfaces::Wake(FlowId flow, PulledSender& sender)
{
    if (m_places[flow].link == NONE)
    {
        Bind(flow, sender);
    }
    const Place& place = m_places[flow];
    place.interface->Wake(place.number);
}

/// Let a flow send by the port of the first link of its path.
void
NetworkInterfaces::Bind(FlowId flow, PulledSender& sender)
{
    const uint32_t link = m_states.GetPath(flow).front();
    const uint8_t trafficClass = m_flows.GetClass(flow);
    auto* const port = dynamic_cast<PulledPort*>(&m_links[link]);
    if (port == nullptr)
    {
        throw std::logic_error("a port of a rank does not pull");
    }
    NetworkInterface& interface = m_interfaces
                                      .try_emplace({link, trafficClass},
                                                   m_clock,
                                                   *port,
                                                   m_links,
                                                   link,
                                                   m_router,
                                                   trafficClass)
                                      .first->second;
    m_places[flow] = {link, interface.Add(sender), &interface, &sender};
}

void
NetworkInterfaces::OnReroute()
{
    for (FlowId flow = 0; flow < m_places.size(); ++flow)
    {
        const Place place = m_places[flow];
        if (place.link == NONE || m_states.GetPath(flow).empty())
        {
            continue;
        }
        if (m_states.GetPath(flow).front() != place.link)
        {
            place.interface->Remove(place.number);
            Bind(flow, *place.sender);
            Wake(flow, *place.sender);
        }
    }
}

} // namespace cosim
