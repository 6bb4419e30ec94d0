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
 * common, and each beginning finds the tapes that continue it. If the tapes take too much memory
 * for what they were used for, those that were not used for the longest time are forgotten.
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

    /// @param tape a tape that has ended, and was kept; it still has its followers
    void NoteEnd(EpisodeTape& tape);

    /**
     * @param beginning all that has entered a tape that is becoming long
     * @return true if it was not known that such a tape becomes long
     */
    bool NoteLong(uint64_t beginning)
    {
        return m_long.insert(beginning).second;
    }

    /// @param tape a tape; it need not have been kept
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
    std::unordered_set<uint64_t> m_long;                     //!< beginnings of long tapes
    std::size_t m_bytes{0};     //!< memory of the tapes that have ended
    std::size_t m_usedBytes{0}; //!< likewise of those that were used, each time
    uint64_t m_roundTrips{0};
    uint64_t m_uses{0};
};

} // namespace cosim

#endif // COSIM_TAPE_LIBRARY_H
