/*
 * SPDX-License-Identifier: GPL-2.0-only
 */

#ifndef COSIM_STATE_DIGEST_H
#define COSIM_STATE_DIGEST_H

#include <bit>
#include <compare>
#include <cstdint>

namespace cosim
{

/**
 * A digest of a sequence of numbers, in 128 bits. Two sequences with the same digest are taken for
 * equal: by chance, different ones agree in one of 2^128 cases.
 *
 * Each half is a chain of multiplications modulo 2^64, with the finalizer of SplitMix64.
 */
class StateDigest
{
  public:
    /// @param value the next number
    void Add(uint64_t value)
    {
        m_first = Mix(m_first ^ value);
        m_second = Mix(m_second + std::rotl(value, 32) + INCREMENT);
    }

    /// @param value the next number; -0.0 and 0.0 are different numbers
    void AddDouble(double value)
    {
        Add(std::bit_cast<uint64_t>(value));
    }

    auto operator<=>(const StateDigest&) const = default;

  private:
    static constexpr uint64_t INCREMENT = 0x9e3779b97f4a7c15;

    static uint64_t Mix(uint64_t value)
    {
        value = (value ^ value >> 30) * 0xbf58476d1ce4e5b9;
        value = (value ^ value >> 27) * 0x94d049bb133111eb;
        return (value ^ value >> 31) + INCREMENT;
    }

    uint64_t m_first{INCREMENT};
    uint64_t m_second{0};
};

} // namespace cosim

#endif // COSIM_STATE_DIGEST_H
