/*
 * SPDX-License-Identifier: GPL-2.0-only
 */

#ifndef COSIM_CHUNK_QUEUE_H
#define COSIM_CHUNK_QUEUE_H

#include "stream/stream.h"

#include <array>
#include <compare>
#include <cstdint>
#include <map>
#include <optional>
#include <set>
#include <vector>

namespace cosim
{

/**
 * The chunks of one rank in one pool (see SlotPools), and the slots that they take there.
 *
 * Waiting chunks take free slots by priority class, then chunks that have data from a
 * peer first, then the collective that the rank issued later first (LIFO) or earlier first (FIFO),
 * then the lower chunk, then the later phase. Chunks with data come first because a peer already
 * holds a slot for them: ranks whose slots become free at different times stay together.
 *
 * The *oldest* chunk is the lowest unfinished chunk of the collective that the rank issued first,
 * among the chunks that have not passed the dimension for the last time. The last free slot is kept
 * for it: the other chunks never take all slots. This rule prevents deadlocks, although a rank
 * takes a slot without knowing whether its peers have one. Suppose that all ranks issue the
 * collectives that they share in the same order, and that nothing moves. Take the oldest unfinished
 * chunk of all, and its earliest unfinished phase. Every member of the phase has reached it, and
 * the chunk is the oldest of each of them, so each has a slot for it. Hence the phase moves.
 */
class ChunkQueue
{
  public:
    /// A chunk that takes a slot.
    struct Admitted
    {
        uint32_t collective;
        uint32_t chunk;
        uint32_t place; //!< as given to Wait
    };

    /**
     * @param slots number of slots
     * @param scheduling the order of collectives in a priority class
     */
    ChunkQueue(uint32_t slots, Scheduling scheduling);

    /**
     * Add a collective whose chunks pass this dimension.
     *
     * @param collective id of the collective
     * @param chunks number of its chunks
     * @param priorityClass priority; smaller values start first
     * @param issue number of the collective in the order of issue of this rank
     */
    void Add(uint32_t collective, uint32_t chunks, uint32_t priorityClass, uint32_t issue);

    /**
     * Let several consecutive chunks wait for slots.
     *
     * @param collective an added collective
     * @param chunk the first chunk
     * @param count number of chunks
     * @param phase phase in which the chunks pass the dimension
     * @param place returned when the chunk is admitted
     */
    void Wait(uint32_t collective, uint32_t chunk, uint32_t count, uint32_t phase, uint32_t place);

    /**
     * Data of a chunk has arrived at the rank, but the chunk has no slot in the phase.
     *
     * @param collective the collective, which need not be added yet
     * @param chunk the chunk
     * @param place as given to Wait, before or after this call
     */
    void NoteData(uint32_t collective, uint32_t chunk, uint32_t place);

    /// @return the next chunk that can take a slot, which it takes; nothing if there is none
    std::optional<Admitted> TakeNext();

    /**
     * Give back the slot of a chunk.
     *
     * @param collective the collective
     * @param chunk the chunk
     * @param returns true if the chunk passes the dimension again in a later phase
     */
    void Leave(uint32_t collective, uint32_t chunk, bool returns);

    /// @return the number of slots in use
    uint32_t GetTaken() const
    {
        return m_limit - m_free;
    }

    /// @return true if some chunk waits for a slot
    bool IsWaiting() const
    {
        return !m_waiting.empty();
    }

    /// @return the collectives whose chunks wait for a slot or have one, in the order of their ids
    std::set<uint32_t> GetCollectives() const;

  private:
    /// Where a chunk is.
    enum class State : uint8_t
    {
        ELSEWHERE, //!< in another dimension, before this one or between two phases of this one
        HERE,      //!< has a slot
        PASSED     //!< does not come back
    };

    /// An added collective of which some chunk has not passed.
    struct Course
    {
        uint32_t priorityClass;
        uint32_t issue;
        uint32_t lowest; //!< lowest chunk that has not passed
        std::vector<State> chunks;
    };

    /// Chunks that wait. The comparison operator orders them: the smallest starts first.
    struct Waiting
    {
        uint32_t priorityClass;
        bool lacksData; //!< true while no data has arrived from a peer
        uint32_t order;
        uint32_t chunk;
        uint32_t laterPhase; //!< decreases as the phase increases
        uint32_t collective;
        uint32_t place;
        uint32_t count; //!< number of chunks, from `chunk` on

        auto operator<=>(const Waiting&) const = default;
    };

    uint32_t GetOrder(uint32_t issue) const;
    void Prefer(uint32_t collective, uint32_t chunk, uint32_t place);
    Admitted Take(std::set<Waiting>::iterator first);

    uint32_t m_limit;
    uint32_t m_free;
    bool m_lifo;
    std::set<Waiting> m_waiting;
    /// collective, place and chunk of the data that has arrived for chunks without a slot
    std::set<std::array<uint32_t, 3>> m_data;
    std::map<uint32_t, Course> m_courses;       //!< by collective
    std::map<uint32_t, uint32_t> m_collectives; //!< by number in the order of issue
};

} // namespace cosim

#endif // COSIM_CHUNK_QUEUE_H
