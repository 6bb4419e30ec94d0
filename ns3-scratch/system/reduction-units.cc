/*
 * SPDX-License-Identifier: GPL-2.0-only
 */

#include "system/reduction-units.h"

#include "stream/stream-validator.h"
#include "support/wide-arithmetic.h"

#include "ns3/simulator.h"

#include <algorithm>
#include <utility>

namespace cosim
{

ReductionUnits::ReductionUnits(uint32_t ranks,
                               const SystemSettings& settings,
                               std::function<void(const Step&)> done)
    : m_bytesPerS(settings.reductionBytesPerS),
      m_inTraceOrder(settings.admission == AdmissionKind::LOCAL),
      m_done(std::move(done)),
      m_units(ranks),
      m_choose(LastEvent::Turn::CHOOSE, [this] { Choose(); })
{
}

void
ReductionUnits::Reduce(const TracePlace& place, uint64_t bytes, const Step& step)
{
    constexpr uint64_t psPerS = 1'000'000'000'000;
    const uint64_t duration = MultiplyDivideUp(bytes, psPerS, m_bytesPerS, MAX_TIME_PS);
    ++m_active;
    Unit& unit = m_units[place.rank];
    const auto now = static_cast<uint64_t>(ns3::Simulator::Now().GetTimeStep());
    if (m_inTraceOrder && (duration != 0 || unit.freePs > now))
    {
        unit.waiting.push({place, duration, step});
        LetChoose(place.rank);
        return;
    }
    unit.freePs = std::min(std::max(unit.freePs, now) + duration, now + MAX_TIME_PS);
    Finish(place.rank, unit.freePs - now, step);
}

void
ReductionUnits::LetChoose(Rank rank)
{
    m_choosing.push_back(rank);
    m_choose.Request();
}

/// Let each unit that is free take the first of its waiting reductions.
void
ReductionUnits::Choose()
{
    const auto now = static_cast<uint64_t>(ns3::Simulator::Now().GetTimeStep());
    for (const Rank rank : std::exchange(m_choosing, {}))
    {
        Unit& unit = m_units[rank];
        if (unit.freePs <= now && !unit.waiting.empty())
        {
            const Waiting next = unit.waiting.top();
            unit.waiting.pop();
            unit.freePs = now + next.durationPs;
            Finish(rank, next.durationPs, next.step);
        }
    }
}

/// Report a reduction after some time.
void
ReductionUnits::Finish(Rank rank, uint64_t durationPs, const Step& step)
{
    ns3::Simulator::Schedule(ns3::Time(static_cast<int64_t>(durationPs)), [this, rank, step] {
        --m_active;
        if (!m_units[rank].waiting.empty())
        {
            LetChoose(rank);
        }
        m_done(step);
    });
}

} // namespace cosim
