/*
 * SPDX-License-Identifier: GPL-2.0-only
 */

#ifndef COSIM_HUGE_ALLOCATOR_H
#define COSIM_HUGE_ALLOCATOR_H

#include <cstddef>
#include <new>
#include <sys/mman.h>
#include <vector>

namespace cosim
{

/**
 * Allocates large arrays in huge pages, if the system gives them to those who ask.
 *
 * A simulation touches its flows and messages in an order that no cache foresees. In pages of 4
 * KiB, the processor then also looks up most addresses in memory, in a virtual machine twice.
 */
template <typename T>
class HugeAllocator
{
  public:
    using value_type = T;

    HugeAllocator() = default;

    /// Make the allocator of other items.
    template <typename U>
    HugeAllocator(const HugeAllocator<U>& /* other */)
    {
    }

    /// @return memory for a number of items
    T* allocate(std::size_t items)
    {
        const std::size_t bytes = items * sizeof(T);
        void* const memory = ::operator new(bytes, GetAlignment(items));
        // Only whole pages, so that the rest of an array takes no more than before. Without huge
        // pages, the call has no effect.
        madvise(memory, bytes / HUGE_BYTES * HUGE_BYTES, MADV_HUGEPAGE);
        return static_cast<T*>(memory);
    }

    /// @param memory memory of allocate, for the same number of items
    void deallocate(T* memory, std::size_t items)
    {
        ::operator delete(memory, GetAlignment(items));
    }

    /// @return true: memory of one allocator can go back to another
    template <typename U>
    bool operator==(const HugeAllocator<U>& /* other */) const
    {
        return true;
    }

  private:
    static constexpr std::size_t HUGE_BYTES = std::size_t{1} << 21; //!< of a huge page on x86-64

    static std::align_val_t GetAlignment(std::size_t items)
    {
        return std::align_val_t{items * sizeof(T) < HUGE_BYTES ? alignof(T) : HUGE_BYTES};
    }
};

/// A vector that takes huge pages when it is large.
template <typename T>
using HugeVector = std::vector<T, HugeAllocator<T>>;

} // namespace cosim

#endif // COSIM_HUGE_ALLOCATOR_H
