/*
 * SPDX-License-Identifier: GPL-2.0-only
 */

#ifndef COSIM_TAPE_LIBRARY_H
#define COSIM_TAPE_LIBRARY_H

#include "fabrics/packet/episode-tape.h"

#include <bit>
#include <cstddef>
#include <cstdint>
#include <memory>
#include <span>
#include <unordered_map>
#include <unordered_set>
#include <vector>

namespace cosim
{

/// All that has entered an episode up to a time.
class Beginning
{
  public:
    /// @param digest digest of all that has entered, with what enters at the next time
    void Extend(uint64_t digest)
    {
        m_digest = digest;
        if (std::has_single_bit(++m_times))
        {
            m_landmark = digest;
        }
    }

    /// @return the digest of what had entered when the number of times was a power of two last
    uint64_t GetLandmark() const
    {
        return m_landmark;
    }

    /// @return true if the same has entered a tape up to a time
    bool IsOf(const EpisodeTape& tape) const
    {
        return m_times <= tape.beginnings.size() && tape.beginnings[m_times - 1] == m_digest;
    }

  private:
    std::size_t m_times{0};
    uint64_t m_digest{0};
    uint64_t m_landmark{0};
};

/**
 * The tapes of a run. They form a tree: tapes with the same inputs up to a time have these in
 * common. A tape is found by its landmarks: what had entered it at the first, second, fourth, …
 * time. If the tapes take too much memory for what they were used for, those that were not used for
 * the longest time are forgotten.
 */
class TapeLibrary
{
  public:
    using Tape = std::shared_ptr<EpisodeTape>;

    /**
     * @param beginning all that has entered so far
     * @return the tapes with its landmark, which may continue in another way, the one used last at
     * the end; valid until the next call of another function
     */
    std::span<const Tape> Find(const Beginning& beginning) const;

    /// @return true if there are no tapes
    bool IsEmpty() const
    {
        return m_tapes.empty();
    }

    /// @param tape a tape that something has entered; the last of its beginnings is new
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
     * @param beginning what has entered so far
     */
    void Use(const Tape& tape, const Beginning& beginning);

    /// @return the round trips on all tapes that were made, also on those that are forgotten
    uint64_t GetRoundTrips() const
    {
        return m_roundTrips;
    }

  private:
    void ForgetOldest();

    std::unordered_map<uint64_t, std::vector<Tape>> m_tapes; //!< per landmark
    std::unordered_set<uint64_t> m_long;                     //!< beginnings of long tapes
    std::size_t m_bytes{0};     //!< memory of the tapes that have ended
    std::size_t m_usedBytes{0}; //!< likewise of those that were used, each time
    uint64_t m_roundTrips{0};
    uint64_t m_uses{0};
};

} // namespace cosim

#endif // COSIM_TAPE_LIBRARY_H
