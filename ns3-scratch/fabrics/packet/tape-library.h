/*
 * SPDX-License-Identifier: GPL-2.0-only
 */

#ifndef COSIM_TAPE_LIBRARY_H
#define COSIM_TAPE_LIBRARY_H

#include "fabrics/packet/datapath.h"
#include "fabrics/packet/episode-tape.h"

#include <array>
#include <cstddef>
#include <cstdint>
#include <map>
#include <memory>
#include <span>
#include <vector>

namespace cosim
{

/// The tapes of a run, by the message with which they begin. If they take too much memory, those
/// that were not used for the longest time are forgotten.
class TapeLibrary
{
  public:
    using Tape = std::shared_ptr<EpisodeTape>;

    /**
     * @param first the message with which an episode begins
     * @param shape the shape of the path of its flow
     * @return the tapes that begin with such a message, the one used last at the end; valid until
     * the next call of another function
     */
    std::span<const Tape> Find(const Submission& first, uint32_t shape) const;

    /// @param tape a tape that has begun
    void Keep(const Tape& tape);

    /// @param tape a tape that has ended, and was kept
    void NoteEnd(const EpisodeTape& tape);

    /// @param tape a tape that has not ended; it need not have been kept
    void Forget(const Tape& tape);

    /// @param tape a tape that was kept, and is used now
    void Use(const Tape& tape);

    /// @return the round trips on all tapes that have ended, also on those that are forgotten
    uint64_t GetRoundTrips() const
    {
        return m_roundTrips;
    }

  private:
    /// What tapes are found by.
    using Key = std::array<uint64_t, 3>;

    static Key GetKey(const EpisodeTape& tape);
    void ForgetOldest();

    std::map<Key, std::vector<Tape>> m_tapes;
    std::size_t m_bytes{0}; //!< memory of the tapes that have ended
    uint64_t m_roundTrips{0};
    uint64_t m_uses{0};
};

} // namespace cosim

#endif // COSIM_TAPE_LIBRARY_H
