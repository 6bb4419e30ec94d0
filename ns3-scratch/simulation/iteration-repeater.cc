/*
 * SPDX-License-Identifier: GPL-2.0-only
 */

#include "simulation/iteration-repeater.h"

#include "clock/causal-simulator.h"
#include "stream/stream-validator.h"

#include <algorithm>
#include <cstdlib>
#include <stdexcept>
#include <utility>

namespace cosim
{

namespace
{

/// The longest period that is looked for [iterations].
constexpr std::size_t MOST_PERIOD = 4;

/// Approximate: one of so many iterations is simulated, to check the skipped ones.
constexpr uint64_t CHECK_INTERVAL = 1000;

constexpr uint64_t PPM = 1'000'000;

/**
 * @param topology the topology of the stream
 * @param network the network
 * @return the network as one whose iterations can be skipped
 * @throws std::invalid_argument if they cannot
 */
Repeatable&
RequireRepeatable(const Topology& topology, Fabric& network)
{
    Repeatable* const repeatable = network.GetRepeatable();
    if (repeatable == nullptr || !topology.events.empty() || !topology.traffic.empty())
    {
        throw std::invalid_argument(
            "settings: repeat: iterations can be skipped only on the fabrics express, flow and "
            "analytical, without events, background traffic, links that lose packets or change, "
            "and packets of a flow on several paths");
    }
    return *repeatable;
}

} // namespace

IterationRepeater::IterationRepeater(const Stream& stream,
                                     Fabric& network,
                                     TraceExecutor& executor,
                                     RunRecord& record,
                                     std::function<void()> skipped)
    : m_stream(stream),
      m_fabric(network),
      m_network(RequireRepeatable(stream.topology, network)),
      m_executor(executor),
      m_records(record),
      m_skipped(std::move(skipped)),
      m_pattern(stream)
{
    m_record.isExact = stream.settings.repeat.mode == RepeatMode::EXACT;
    m_record.iterations = m_pattern.GetIterations();
    if (!m_pattern.GetProblem().empty())
    {
        return;
    }
    executor.SetRestListener(*this);
}

RepeatRecord
IterationRepeater::GetRecord() const
{
    RepeatRecord record = m_record;
    if (!record.skips.empty())
    {
        return record;
    }
    if (!m_pattern.GetProblem().empty())
    {
        record.note = m_pattern.GetProblem();
    }
    else if (!m_obstacle.empty())
    {
        record.note = m_obstacle;
    }
    else if (!m_hasRested)
    {
        record.note = "at no time of an iteration did every rank compute while the network carried "
                      "nothing, so iterations cannot be compared";
    }
    else
    {
        record.note = record.isExact ? "no iteration began in the same state as an earlier one"
                                     : "no two iterations in a row took the same time within the "
                                       "tolerance before the last ones";
    }
    return record;
}

bool
IterationRepeater::OnRest(uint32_t iteration)
{
    if (m_isDone)
    {
        return true;
    }
    if (!m_fabric.IsAtRest() || m_executor.GetFirstIteration() < m_pattern.GetFirst())
    {
        return false;
    }
    m_hasRested = true;
    if (!m_record.isExact)
    {
        Estimate(MakeRest(iteration));
        return true;
    }
    m_obstacle = m_network.GetObstacle();
    m_isDone = !m_obstacle.empty();
    if (!m_isDone)
    {
        m_network.LogRoundTrips();
        Compare(MakeRest(iteration));
    }
    return true;
}

IterationRepeater::Rest
IterationRepeater::MakeRest(uint32_t iteration) const
{
    Rest rest;
    rest.iteration = iteration;
    rest.timePs = CausalSimulator::Get().GetNowPs();
    if (m_record.isExact)
    {
        m_executor.AddState(rest.digest, m_pattern, iteration);
        rest.historyPs = m_network.AddState(rest.digest);
    }
    rest.network = m_network.GetCounters();
    rest.record = m_records.GetState();
    return rest;
}

/// Skip the rest of the iterations if an earlier one began in the same state.
void
IterationRepeater::Compare(Rest now)
{
    for (auto from = m_rests.rbegin(); from != m_rests.rend(); ++from)
    {
        if (from->digest != now.digest || now.historyPs >= from->timePs)
        {
            continue;
        }
        const uint32_t period = now.iteration - from->iteration;
        const uint32_t left = m_record.iterations - 1 - m_executor.GetLastIteration();
        const auto periodPs = static_cast<uint64_t>(now.timePs - from->timePs);
        const uint64_t times =
            m_network.LimitRepeats(from->network, LimitTimes(left / period, periodPs));
        if (times > 0)
        {
            Repeat(*from, now, times);
        }
        m_isDone = true; // at most a period is left
        m_rests.clear();
        return;
    }
    m_rests.push_back(std::move(now));
    if (m_rests.size() > MOST_PERIOD)
    {
        m_rests.pop_front();
    }
    m_network.ForgetRoundTrips(m_rests.front().network);
}

/// Skip some iterations if the last two have taken nearly the same time.
void
IterationRepeater::Estimate(const Rest& now)
{
    if (m_rests.empty() || m_rests.back().iteration + 1 != now.iteration)
    {
        m_rests.assign(1, now);
        m_lastPs = 0;
        m_isCheck = false;
        return;
    }
    const Rest from = m_rests.back();
    const int64_t time = now.timePs - from.timePs;
    const int64_t last = std::exchange(m_lastPs, time);
    m_rests.assign(1, now);
    if (std::exchange(m_isCheck, false))
    {
        m_record.checks.push_back(
            {from.iteration, static_cast<uint64_t>(time), static_cast<uint64_t>(last)});
    }
    const RepeatSettings& settings = m_stream.settings.repeat;
    const auto difference = static_cast<double>(std::abs(time - last));
    const double tolerance = static_cast<double>(settings.tolerancePpm) / PPM;
    const uint32_t following = m_record.iterations - 1 - m_executor.GetLastIteration();
    if (last == 0 || difference > tolerance * static_cast<double>(last) || following < 2)
    {
        return;
    }
    // the last iteration is simulated, so that it checks those before it
    const uint64_t times = LimitTimes(std::min<uint64_t>(following - 1, CHECK_INTERVAL - 1), time);
    if (times > 0)
    {
        Repeat(from, now, times);
        Rest& here = m_rests.back();
        here.iteration += static_cast<uint32_t>(times);
        here.network = m_network.GetCounters();
        here.record = m_records.GetState();
        m_isCheck = true;
    }
}

/// @return how many periods fit into the time limit, at most a number
uint64_t
IterationRepeater::LimitTimes(uint64_t times, uint64_t periodPs) const
{
    const uint64_t limit =
        m_stream.settings.timeLimitPs == 0 ? MAX_TIME_PS : m_stream.settings.timeLimitPs;
    const auto now = static_cast<uint64_t>(m_fabric.SimGetTime().GetTimeStep());
    return now >= limit ? 0 : std::min(times, (limit - now - 1) / std::max<uint64_t>(periodPs, 1));
}

void
IterationRepeater::Repeat(const Rest& from, const Rest& now, uint64_t times)
{
    Repetition repetition;
    repetition.period = now.iteration - from.iteration;
    repetition.times = static_cast<uint32_t>(times);
    repetition.periodPs = static_cast<uint64_t>(now.timePs - from.timePs);
    repetition.collectives = m_pattern.GetCollectives();
    repetition.nodes.resize(m_stream.topology.ranks);
    for (const Trace& trace : m_stream.traces)
    {
        for (const Rank rank : trace.ranks)
        {
            repetition.nodes[rank] = m_pattern.GetPlaces(trace).nodes;
        }
    }
    const uint32_t iterations = repetition.period * repetition.times;
    m_records.Repeat(from.record, repetition);
    m_network.Repeat(from.network, times, repetition.periodPs);
    m_executor.Skip(m_pattern, iterations);
    m_record.skips.push_back({now.iteration, iterations, repetition.period});
    m_skipped();
}

} // namespace cosim
