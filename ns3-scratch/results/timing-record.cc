/*
 * SPDX-License-Identifier: GPL-2.0-only
 */

#include "results/timing-record.h"

namespace cosim
{

TimingRecord::TimingRecord(uint32_t iterations, uint32_t layers, uint32_t ranks)
    : m_layers(layers),
      m_ranks(ranks),
      m_sums(std::size_t{iterations} * layers),
      m_iterations(iterations)
{
}

void
TimingRecord::AddCompute(uint32_t iteration, uint32_t layer, uint64_t ps)
{
    m_sums[std::size_t{iteration} * m_layers + layer].compute += ps;
}

void
TimingRecord::AddExposed(uint32_t iteration, uint32_t layer, uint64_t ps)
{
    m_sums[std::size_t{iteration} * m_layers + layer].exposed += ps;
}

void
TimingRecord::ExpectNode(uint32_t iteration)
{
    ++m_iterations[iteration].nodesLeft;
}

void
TimingRecord::FinishNode(uint32_t iteration, uint64_t now)
{
    m_iterations[iteration].end = now;
    --m_iterations[iteration].nodesLeft;
}

uint32_t
TimingRecord::GetIterations() const
{
    return static_cast<uint32_t>(m_iterations.size());
}

uint32_t
TimingRecord::GetLayers() const
{
    return m_layers;
}

bool
TimingRecord::IsComplete(uint32_t iteration) const
{
    return m_iterations[iteration].nodesLeft == 0;
}

uint64_t
TimingRecord::GetEnd(uint32_t iteration) const
{
    return m_iterations[iteration].end;
}

uint64_t
TimingRecord::GetCompute(uint32_t iteration, uint32_t layer) const
{
    return Mean(At(iteration, layer).compute);
}

uint64_t
TimingRecord::GetExposed(uint32_t iteration, uint32_t layer) const
{
    return Mean(At(iteration, layer).exposed);
}

uint64_t
TimingRecord::Mean(uint64_t sum) const
{
    return m_ranks == 0 ? 0 : (sum + m_ranks / 2) / m_ranks;
}

const TimingRecord::Sums&
TimingRecord::At(uint32_t iteration, uint32_t layer) const
{
    return m_sums[std::size_t{iteration} * m_layers + layer];
}

} // namespace cosim
