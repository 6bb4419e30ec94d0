/*
 * SPDX-License-Identifier: GPL-2.0-only
 */

#ifndef COSIM_FLAT_MAP_H
#define COSIM_FLAT_MAP_H

#include <cstddef>
#include <cstdint>
#include <optional>
#include <utility>
#include <vector>

namespace cosim
{

/// @return a number whose bits all depend on all bits of two numbers
inline uint64_t
MixHash(uint64_t a, uint64_t b)
{
    uint64_t hash = a * 0x9e37'79b9'7f4a'7c15 ^ b;
    hash = (hash ^ hash >> 32) * 0xd6e8'feb8'6659'fd93;
    hash = (hash ^ hash >> 32) * 0xd6e8'feb8'6659'fd93;
    return hash ^ hash >> 32;
}

/**
 * A hash map whose entries are in one array. Unlike std::unordered_map, it takes no memory for each
 * entry, and a look-up usually reads one cache line.
 *
 * Adding or removing an entry invalidates pointers to values.
 *
 * @tparam Key the keys; `uint64_t Hash() const` and == are needed
 * @tparam Value the values; can be made without arguments
 */
template <typename Key, typename Value>
class FlatMap
{
  public:
    /// @return the value of a key, or null
    Value* Find(const Key& key)
    {
        const std::size_t place = m_slots.empty() ? 0 : Probe(key);
        return m_slots.empty() || !m_slots[place].isUsed ? nullptr : &m_slots[place].value;
    }

    /// @return the value of a key; a new one if the map does not have the key
    Value& operator[](const Key& key)
    {
        if (m_size >= m_slots.size() / 2)
        {
            Grow();
        }
        Slot& slot = m_slots[Probe(key)];
        if (!slot.isUsed)
        {
            slot.isUsed = true;
            slot.key = key;
            ++m_size;
        }
        return slot.value;
    }

    /// @return the value of a key, which the map has no longer; nothing if it did not have the key
    std::optional<Value> Extract(const Key& key)
    {
        const std::size_t place = m_slots.empty() ? 0 : Probe(key);
        if (m_slots.empty() || !m_slots[place].isUsed)
        {
            return std::nullopt;
        }
        std::optional<Value> value(std::move(m_slots[place].value));
        Remove(place);
        --m_size;
        return value;
    }

    /// @return the number of entries
    std::size_t GetSize() const
    {
        return m_size;
    }

    /**
     * @param visit is called with the key and the value of each entry, in an order that depends on
     * the keys and the history of the map alone
     */
    template <typename Visit>
    void ForEach(Visit visit)
    {
        for (Slot& slot : m_slots)
        {
            if (slot.isUsed)
            {
                visit(slot.key, slot.value);
            }
        }
    }

  private:
    struct Slot
    {
        Key key{};
        Value value{};
        bool isUsed{false};
    };

    /// @return the slot of a key, or the free slot in which it belongs
    std::size_t Probe(const Key& key) const
    {
        const std::size_t mask = m_slots.size() - 1;
        std::size_t place = key.Hash() & mask;
        while (m_slots[place].isUsed && !(m_slots[place].key == key))
        {
            place = (place + 1) & mask;
        }
        return place;
    }

    void Grow()
    {
        std::vector<Slot> old(m_slots.empty() ? 16 : 2 * m_slots.size());
        old.swap(m_slots);
        for (Slot& slot : old)
        {
            if (slot.isUsed)
            {
                m_slots[Probe(slot.key)] = std::move(slot);
            }
        }
    }

    /// Free a slot, and move up the entries behind it that could not have their own place.
    void Remove(std::size_t hole)
    {
        const std::size_t mask = m_slots.size() - 1;
        for (std::size_t next = (hole + 1) & mask; m_slots[next].isUsed; next = (next + 1) & mask)
        {
            const std::size_t wanted = m_slots[next].key.Hash() & mask;
            if (((next - wanted) & mask) >= ((next - hole) & mask))
            {
                m_slots[hole] = std::move(m_slots[next]);
                hole = next;
            }
        }
        m_slots[hole] = Slot{};
    }

    std::vector<Slot> m_slots; //!< the size is 0 or a power of two
    std::size_t m_size{0};
};

} // namespace cosim

#endif // COSIM_FLAT_MAP_H
