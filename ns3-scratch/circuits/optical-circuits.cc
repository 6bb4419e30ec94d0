/*
 * SPDX-License-Identifier: GPL-2.0-only
 */

#include "circuits/optical-circuits.h"

#include "circuits/two-edge-replacement.h"

#include <algorithm>
#include <cmath>
#include <queue>

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

    /// @return true if a rank has a free transmitter
    bool CanSend(uint32_t rank) const
    {
        return m_transmitters[rank] > 0;
    }

  private:
    std::vector<uint32_t> m_transmitters;
    std::vector<uint32_t> m_receivers;
};

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
    std::vector<Bid> bids;
    bids.reserve(demand.size());
    for (uint32_t i = 0; i < demand.size(); ++i)
    {
        bids.push_back({demand[i].bytes, i});
    }
    std::priority_queue<Bid> queue({}, std::move(bids));
    while (!queue.empty())
    {
        const uint32_t index = queue.top().demand;
        queue.pop();
        if (ports.Take(demand[index].pair))
        {
            circuits.push_back(demand[index].pair);
            const uint32_t next = ++given[index] + 1;
            queue.push({demand[index].bytes * GetGain(discount, next), index});
        }
    }
    for (uint32_t source = 0; source < ranks; ++source)
    { // assign the free ports to pairs without demand
        for (uint32_t target = 0; target < ranks && ports.CanSend(source); ++target)
        {
            while (source != target && ports.Take({source, target}))
            {
                circuits.push_back({source, target});
            }
        }
    }
    if (forwarding)
    {
        ReplaceTwoEdges(ranks, demand, circuits);
    }
    return circuits;
}

} // namespace cosim
