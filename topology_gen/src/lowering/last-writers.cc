/*
 * SPDX-License-Identifier: GPL-2.0-only
 */

#include "lowering/last-writers.h"

#include <algorithm>
#include <cstddef>
#include <stdexcept>

namespace cosim
{

namespace
{

/// The memory of all ranks, as one array of places.
class Memory
{
  public:
    Memory(const Accesses& accesses, int64_t width)
        : m_width(width)
    {
        for (std::size_t i = 0; i < accesses.rank.size(); ++i)
        {
            for (const int64_t place : {accesses.read[i], accesses.write[i]})
            {
                Extend(accesses.rank[i], place, accesses.count[i]);
            }
        }
        std::size_t total = 0;
        for (auto& end : m_begin)
        {
            const std::size_t size = end;
            end = total;
            total += size;
        }
        m_writer.assign(total, -1);
    }

    /// @return the last writers of `count` places of a rank
    std::span<int64_t> Get(int64_t rank, int64_t place, int64_t count)
    {
        const std::size_t first = m_begin[GetBuffer(rank, place)];
        return {&m_writer[first + static_cast<std::size_t>(place % m_width)],
                static_cast<std::size_t>(count)};
    }

  private:
    static constexpr int64_t BUFFERS = 3;

    std::size_t GetBuffer(int64_t rank, int64_t place) const
    {
        return static_cast<std::size_t>(rank * BUFFERS + place / m_width);
    }

    void Extend(int64_t rank, int64_t place, int64_t count)
    {
        if (place < 0)
        {
            return;
        }
        if (rank < 0 || count < 1 || place / m_width >= BUFFERS)
        {
            throw std::invalid_argument("expected ranks, places and numbers of places");
        }
        const std::size_t buffer = GetBuffer(rank, place);
        if (buffer >= m_begin.size())
        {
            m_begin.resize(buffer + 1);
        }
        m_begin[buffer] =
            std::max(m_begin[buffer], static_cast<std::size_t>(place % m_width + count));
    }

    int64_t m_width;
    std::vector<std::size_t> m_begin; //!< by rank and buffer, its first place
    std::vector<int64_t> m_writer;    //!< for each place, the instruction that wrote last, or -1
};

} // namespace

Orders
LastWriters(const Accesses& accesses, int64_t width)
{
    const std::size_t instructions = accesses.rank.size();
    if (accesses.read.size() != instructions || accesses.write.size() != instructions ||
        accesses.count.size() != instructions || width < 1)
    {
        throw std::invalid_argument("expected arrays of the same length");
    }
    Memory memory(accesses, width);
    Orders orders;
    std::vector<int64_t> found;
    for (std::size_t i = 0; i < instructions; ++i)
    {
        const int64_t rank = accesses.rank[i];
        if (accesses.read[i] >= 0)
        {
            found.clear();
            for (const int64_t writer : memory.Get(rank, accesses.read[i], accesses.count[i]))
            {
                if (writer >= 0 && (found.empty() || found.back() != writer))
                {
                    found.push_back(writer);
                }
            }
            std::ranges::sort(found);
            const auto repeated = std::ranges::unique(found);
            found.erase(repeated.begin(), repeated.end());
            orders.writer.insert(orders.writer.end(), found.begin(), found.end());
            orders.reader.resize(orders.writer.size(), static_cast<int64_t>(i));
        }
        if (accesses.write[i] >= 0)
        {
            std::ranges::fill(memory.Get(rank, accesses.write[i], accesses.count[i]),
                              static_cast<int64_t>(i));
        }
    }
    return orders;
}

} // namespace cosim
