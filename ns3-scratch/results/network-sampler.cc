/*
 * SPDX-License-Identifier: GPL-2.0-only
 */

#include "results/network-sampler.h"

#include "clock/causal-simulator.h"

#include <algorithm>
#include <numeric>
#include <utility>

namespace cosim
{

NetworkSampler::NetworkSampler(std::vector<uint32_t> links,
                               std::vector<uint32_t> flows,
                               uint64_t intervalPs,
                               Sink sink)
    : m_links(std::move(links)),
      m_flows(std::move(flows)),
      m_intervalPs(intervalPs),
      m_sink(std::move(sink)),
      m_sample{0, 0, false, {}, {}},
      m_linksBefore(m_links.size()),
      m_flowsBefore(m_flows.size())
{
    for (const uint32_t link : m_links)
    {
        m_sample.links.push_back({link, 0, 0, 0, 0, 0, 0});
    }
    for (const uint32_t path : m_flows)
    {
        m_sample.flows.push_back({path, 0, 0, 0, 0});
    }
}

void
NetworkSampler::OnMessageSent(const MessageEvent& /* event */)
{
    ++m_messages;
    if (!m_isRunning)
    {
        m_isRunning = true;
        ScheduleNext();
    }
}

void
NetworkSampler::OnMessageDelivered(const MessageEvent& /* event */)
{
    --m_messages;
}

/// Take a sample at the next multiple of the interval, if anything happens until then.
void
NetworkSampler::ScheduleNext()
{
    const auto now = static_cast<uint64_t>(m_fabric->SimGetTime().GetTimeStep());
    const uint64_t delay = m_intervalPs - now % m_intervalPs;
    CausalSimulator& simulator = CausalSimulator::Get();
    simulator.Watch(simulator.GetNowPs() + static_cast<int64_t>(delay), [this] { Sample(); });
}

void
NetworkSampler::Sample()
{
    m_sample.sincePs = m_sample.nowPs;
    m_sample.nowPs = static_cast<uint64_t>(m_fabric->SimGetTime().GetTimeStep());
    m_sample.isIdle = m_messages == 0;
    const double elapsedNs = static_cast<double>(m_sample.nowPs - m_sample.sincePs) / 1000;
    SampleLinks(elapsedNs);
    SampleFlows(elapsedNs);
    m_intervalPs = m_sink(m_sample);
    if (m_intervalPs == 0)
    {
        return; // m_isRunning stays true, so that no message starts it again
    }
    m_isRunning = !m_sample.isIdle; // otherwise the next message starts it again
    if (m_isRunning)
    {
        ScheduleNext();
    }
}

void
NetworkSampler::SampleLinks(double elapsedNs)
{
    for (std::size_t i = 0; i < m_sample.links.size(); ++i)
    {
        LinkSample& sample = m_sample.links[i];
        LinkCounters& before = m_linksBefore[i];
        const LinkCounters now = m_fabric->GetLink(sample.link);
        sample.throughputBps =
            8e9 * static_cast<double>(now.wireBytes - before.wireBytes) / elapsedNs;
        sample.rateBps = m_fabric->GetLiveLinks().Get(sample.link).rateBps;
        sample.queuedBytes = now.queuedBytes;
        sample.drops = now.drops - before.drops;
        sample.marks = now.marks - before.marks;
        sample.pausedPs = static_cast<uint64_t>(now.pausedPs - before.pausedPs);
        before = now;
    }
}

void
NetworkSampler::SampleFlows(double elapsedNs)
{
    for (std::size_t i = 0; i < m_sample.flows.size(); ++i)
    {
        FlowSample& sample = m_sample.flows[i];
        const FlowState state = m_fabric->GetFlowState(sample.path);
        sample.goodputBps =
            8e9 * static_cast<double>(state.deliveredBytes - m_flowsBefore[i]) / elapsedNs;
        sample.windowBytes = state.windowBytes;
        sample.rttNs = state.rttNs;
        sample.rateBps = state.rateBps;
        m_flowsBefore[i] = state.deliveredBytes;
    }
}

std::vector<uint32_t>
FindCommonLinks(const Topology& topology, uint32_t count)
{
    std::vector<uint32_t> paths(topology.linkSource.size());
    for (const uint32_t link : topology.pathLinks)
    {
        ++paths[link];
    }
    std::vector<uint32_t> links(paths.size());
    std::iota(links.begin(), links.end(), 0);
    std::stable_sort(links.begin(), links.end(), [&paths](uint32_t a, uint32_t b) {
        return paths[a] > paths[b];
    });
    links.resize(std::min<std::size_t>(links.size(), count));
    std::sort(links.begin(), links.end());
    return links;
}

std::vector<uint32_t>
SpreadFlows(const std::vector<uint32_t>& flows, uint32_t count)
{
    const std::size_t size = std::min<std::size_t>(flows.size(), count);
    std::vector<uint32_t> chosen;
    for (std::size_t i = 0; i < size; ++i)
    {
        chosen.push_back(flows[i * flows.size() / size]);
    }
    return chosen;
}

} // namespace cosim
