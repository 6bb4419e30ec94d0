/*
 * SPDX-License-Identifier: GPL-2.0-only
 */

#ifndef COSIM_FOLDING_H
#define COSIM_FOLDING_H

#include "stream/stream.h"
#include "symmetry/folded-programs.h"

#include <cstddef>
#include <cstdint>
#include <vector>

namespace cosim
{

/**
 * A stream that keeps one rank of all that do the same at the same time, if it can be folded.
 *
 * Ranks do the same if a rotation of the ranks inside blocks (see Rotations) changes nothing: they
 * run the same trace, every collective does the same with its members rotated, and the network
 * looks the same (see LinkOrbits). In the folded stream only the first rank of each orbit runs its
 * trace. Its messages keep their paths, but cross the first links of the orbits of those links, so
 * a link carries what each link of its orbit carries. A message to a rank that does not run is
 * received where the first rank of that orbit awaits the same message.
 *
 * Folded are the streams of estimators in which nothing is random and no host, switch or event
 * tells ranks apart, as far as they have what is needed: chunks of whole units, so that messages
 * of all members have the same size, and the traces of equal ranks in one record.
 *
 * The order in which messages of different causes take a link in the same picosecond can differ
 * from rank to rank. A run that meets such messages ends (see Fabric::IsAmbiguous), and the stream
 * has to be restored.
 */
class FoldedStream
{
  public:
    /**
     * Fold a stream, if it can be; then its topology has a Folding.
     *
     * @param stream a validated stream; folded in place; must outlive this object
     */
    explicit FoldedStream(Stream& stream);

    /// Undo what the constructor has done.
    void Restore();

  private:
    Stream& m_stream;
    std::size_t m_programs; //!< their number before
    std::vector<CollectiveMembers> m_collectives;
    std::vector<std::vector<uint32_t>> m_traces; //!< their ranks
};

} // namespace cosim

#endif // COSIM_FOLDING_H
