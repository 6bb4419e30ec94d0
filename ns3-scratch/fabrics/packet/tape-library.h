/*
 * SPDX-License-Identifier: GPL-2.0-only
 */

#ifndef COSIM_TAPE_LIBRARY_H
#define COSIM_TAPE_LIBRARY_H

#include "fabrics/packet/episode-tape.h"

#include <cstddef>
#include <cstdint>
#include <memory>
#include <span>
#include <unordered_map>
#include <unordered_set>
#include <vector>

namespace cosim
{

/**
 * The tapes of a run. They form a tree: tapes with the same inputs up to a time have these in
 * common, and each beginning finds the tapes that continue it. If the tapes take too much memory,
 * those that were not used for the longest time are forgotten.
 */
class TapeLibrary
{
  public:
    using Tape = std::shared_ptr<EpisodeTape>;

    /**
     * @param beginning digest of all that has entered so far
     * @return the tapes with this beginning, the one used last at the end; valid until the next
     * call of another function
     */
    std::span<const Tape> Find(uint64_t beginning) const;

    /// @return true if there are no tapes
    bool IsEmpty() const
    {
        return m_tapes.empty();
    }

    /// @param tape a tape that something has entered; its beginning is the last of its digests
    void Keep(const Tape& tape);

    /// @param tape a tape that has ended, and was kept
    void NoteEnd(const EpisodeTape& tape);

    /// @param tape a tape that has become too long, and was kept
    void NoteLong(const EpisodeTape& tape);

    /// @return true if a tape with this first input was too long
    bool IsLong(uint64_t first) const
    {
        return m_long.contains(first);
    }

    /// @param tape a tape that has not ended; it need not have been kept
    void Forget(const Tape& tape);

    /**
     * @param tape a tape that was kept, and is used now
     * @param beginning one of its beginnings
     */
    void Use(const Tape& tape, uint64_t beginning);

    /// @return the round trips on all tapes that were made, also on those that are forgotten
    uint64_t GetRoundTrips() const
    {
        return m_roundTrips;
    }

  private:
    void ForgetOldest();

    std::unordered_map<uint64_t, std::vector<Tape>> m_tapes; //!< per beginning
    std::unordered_set<uint64_t> m_long; //!< first inputs of tapes that were too long
    std::size_t m_bytes{0};              //!< memory of the tapes that have ended
    uint64_t m_roundTrips{0};
    uint64_t m_uses{0};
};

} // namespace cosim

#endif // COSIM_TAPE_LIBRARY_H
