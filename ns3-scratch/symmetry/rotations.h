/*
 * SPDX-License-Identifier: GPL-2.0-only
 */

#ifndef COSIM_ROTATIONS_H
#define COSIM_ROTATIONS_H

#include "network/network-api.h"

#include <array>
#include <cstdint>
#include <utility>
#include <vector>

namespace cosim
{

/**
 * Moves each rank by some ranks inside its block of ranks, around its end. Switches that reduce are
 * divided into as many blocks as the ranks, and moved in the same way.
 */
class Rotation
{
  public:
    /// A digit of a number, which a rotation increases.
    struct Digit
    {
        uint32_t block; //!< the digit begins anew after so many numbers
        uint32_t step;  //!< numbers with the same digit that follow each other; divides `block`
    };

    /**
     * @param ranks number of ranks
     * @param ofRanks divides the ranks into blocks
     * @param ofSwitches divides the switches into as many blocks
     */
    Rotation(uint32_t ranks, Digit ofRanks, Digit ofSwitches)
        : m_ranks(ranks),
          m_digits{ofRanks, ofSwitches}
    {
    }

    /// @return how the ranks are divided
    const Digit& GetDigit() const
    {
        return m_digits[0];
    }

    /// @return how often it can be applied until all ranks are where they were
    uint32_t GetOrder() const
    {
        return m_digits[0].block / m_digits[0].step;
    }

    /// @return how often it has been applied to the first one of an endpoint's block to bring it
    /// there
    uint32_t GetTurn(Rank endpoint) const
    {
        const Digit& digit = DigitOf(endpoint);
        return NumberOf(endpoint) % digit.block / digit.step;
    }

    /// @return where it brings an endpoint if it is applied a number of times
    Rank Move(Rank endpoint, uint32_t times = 1) const
    {
        const Digit& digit = DigitOf(endpoint);
        const uint32_t offset = NumberOf(endpoint) % digit.block;
        const uint64_t moved = (offset + uint64_t{digit.step} * times) % digit.block;
        return endpoint - offset + static_cast<uint32_t>(moved);
    }

    /// @return the one of the first turn that is brought to an endpoint
    Rank GetFirst(Rank endpoint) const
    {
        return endpoint - GetTurn(endpoint) * DigitOf(endpoint).step;
    }

  private:
    const Digit& DigitOf(Rank endpoint) const
    {
        return m_digits[endpoint < m_ranks ? 0 : 1];
    }

    uint32_t NumberOf(Rank endpoint) const
    {
        return endpoint < m_ranks ? endpoint : endpoint - m_ranks;
    }

    uint32_t m_ranks;
    std::array<Digit, 2> m_digits; //!< of ranks, of switches
};

/**
 * The group that some rotations generate. The block of each divides the step of the next, so they
 * move different digits of a rank, in any order.
 */
class Rotations
{
  public:
    /// Add a rotation. The block of the one before must divide its step.
    void Add(const Rotation& rotation)
    {
        m_rotations.push_back(rotation);
        m_copies *= rotation.GetOrder();
    }

    /// @return what the step of the next rotation must be a multiple of
    uint32_t GetBlock() const
    {
        return m_rotations.empty() ? 1 : m_rotations.back().GetDigit().block;
    }

    /// @return the number of endpoints to which an endpoint can be brought, with itself
    uint32_t GetCopies() const
    {
        return m_copies;
    }

    /// @return the first of the endpoints to which an endpoint can be brought
    Rank GetFirst(Rank endpoint) const
    {
        for (const Rotation& rotation : m_rotations)
        {
            endpoint = rotation.GetFirst(endpoint);
        }
        return endpoint;
    }

    /// @return where a pair of endpoints is brought by what brings its first one to GetFirst
    std::pair<Rank, Rank> Bring(Rank source, Rank target) const
    {
        for (const Rotation& rotation : m_rotations)
        {
            const uint32_t turn = rotation.GetTurn(source);
            const uint32_t times = turn == 0 ? 0 : rotation.GetOrder() - turn;
            source = rotation.Move(source, times);
            target = rotation.Move(target, times);
        }
        return {source, target};
    }

  private:
    std::vector<Rotation> m_rotations; //!< the smallest block first
    uint32_t m_copies{1};
};

} // namespace cosim

#endif // COSIM_ROTATIONS_H
