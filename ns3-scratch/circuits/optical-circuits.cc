/*
 * SPDX-License-Identifier: GPL-2.0-only
 */

#include "circuits/optical-circuits.h"

#include "circuits/two-edge-replacement.h"

#include <algorithm>
#include <cmath>
#include <queue>
#include <utility>

namespace cosim
{

namespace
{

double
GetFactorial(uint32_t x)
{
    double product = 1;
    for (uint32_t i = 2; i <= x; ++i)
    {
        product *= i;
    }
    return product;
}

/// @return the value of the x-th circuit of a pair, relative to its first circuit
double
GetGain(Discount discount, uint32_t x)
{
    switch (discount)
    {
    case Discount::EXPONENTIAL:
        return std::ldexp(1.0, 1 - static_cast<int>(x));
    case Discount::LINEAR:
        return 1.0 / x;
    case Discount::FACTORIAL:
        return 1 / GetFactorial(x);
    case Discount::NONE:
        break;
    }
    return 1;
}

/// A pair that competes for a further circuit.
struct Bid
{
    double weight;
    uint32_t demand; //!< index in the list of demands; among equal weights, the smaller index wins

    bool operator<(const Bid& other) const
    {
        return weight != other.weight ? weight < other.weight : demand > other.demand;
    }
};

/// Counts the free transmitters and receivers of the ranks.
class FreePorts
{
  public:
    FreePorts(uint32_t ranks, uint32_t degree)
        : m_transmitters(ranks, degree),
          m_receivers(ranks, degree)
    {
    }

    /// @return true if the pair had a free port at both ends; the call takes these ports
    bool Take(const Circuit& pair)
    {
        if (m_transmitters[pair.source] == 0 || m_receivers[pair.target] == 0)
        {
            return false;
        }
        --m_transmitters[pair.source];
        --m_receivers[pair.target];
        return true;
    }

    /// @return one entry per free transmitter, in the order of the ranks
    std::vector<uint32_t> ListTransmitters() const
    {
        std::vector<uint32_t> free;
        for (uint32_t rank = 0; rank < m_transmitters.size(); ++rank)
        {
            free.insert(free.end(), m_transmitters[rank], rank);
        }
        return free;
    }

    /// @return one entry per free receiver: the first of each rank in descending order, and so on
    std::vector<uint32_t> ListReceivers() const
    {
        std::vector<uint32_t> free;
        const auto most = std::max_element(m_receivers.begin(), m_receivers.end());
        for (uint32_t layer = 0; most != m_receivers.end() && layer < *most; ++layer)
        {
            for (uint32_t rank = static_cast<uint32_t>(m_receivers.size()); rank-- > 0;)
            {
                if (m_receivers[rank] > layer)
                {
                    free.push_back(rank);
                }
            }
        }
        return free;
    }

  private:
    std::vector<uint32_t> m_transmitters;
    std::vector<uint32_t> m_receivers;
};

/**
 * Add circuits between the free ports, spread evenly over the ranks. Ports that only one rank has
 * left stay free.
 */
void
Spread(const FreePorts& ports, std::vector<Circuit>& circuits)
{
    const std::vector<uint32_t> sources = ports.ListTransmitters();
    std::vector<uint32_t> targets = ports.ListReceivers();
    const std::size_t count = sources.size();
    for (std::size_t i = 0; i < count; ++i)
    {
        // no circuit leads to its own rank: exchange its target with that of another circuit
        for (std::size_t step = 1; step < count && targets[i] == sources[i]; ++step)
        {
            const std::size_t other = (i + step) % count;
            if (sources[other] != sources[i] && targets[other] != sources[i])
            {
                std::swap(targets[i], targets[other]);
            }
        }
    }
    for (std::size_t i = 0; i < count; ++i)
    {
        if (sources[i] != targets[i])
        {
            circuits.push_back({sources[i], targets[i]});
        }
    }
}

} // namespace

std::vector<Circuit>
ChooseCircuits(uint32_t ranks,
               uint32_t degree,
               Discount discount,
               bool forwarding,
               const std::vector<Demand>& demand)
{
    std::vector<Circuit> circuits;
    std::vector<uint32_t> given(demand.size());
    FreePorts ports(ranks, degree);
    std::vector<Bid> bids; // of the pairs without a circuit, the greatest one last
    bids.reserve(demand.size());
    for (uint32_t i = 0; i < demand.size(); ++i)
    {
        bids.push_back({demand[i].bytes, i});
    }
    std::sort(bids.begin(), bids.end());
    std::priority_queue<Bid> further; // of the pairs with a circuit
    while (!bids.empty() || !further.empty())
    {
        const bool isFirst = further.empty() || (!bids.empty() && further.top() < bids.back());
        const uint32_t index = isFirst ? bids.back().demand : further.top().demand;
        isFirst ? bids.pop_back() : further.pop();
        if (ports.Take(demand[index].pair))
        {
            circuits.push_back(demand[index].pair);
            const uint32_t next = ++given[index] + 1;
            further.push({demand[index].bytes * GetGain(discount, next), index});
        }
    }
    Spread(ports, circuits);
    if (forwarding)
    {
        ReplaceTwoEdges(ranks, demand, circuits);
    }
    return circuits;
}

} // namespace cosim
