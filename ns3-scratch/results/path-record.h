/*
 * SPDX-License-Identifier: GPL-2.0-only
 */

#ifndef COSIM_PATH_RECORD_H
#define COSIM_PATH_RECORD_H

#include "network/run-observer.h"
#include "results/cause.h"
#include "stream/stream.h"

#include <array>
#include <cstdint>
#include <vector>

namespace cosim
{

/// The time of a critical path, or of a part of it, by PathKind [ps].
using PathTimes = std::array<uint64_t, PATH_KINDS.size()>;

/// A part of a critical path that belongs to one node or collective.
struct PathStep
{
    CauseLabel label;
    uint64_t startPs;
    uint64_t endPs;
    Rank firstRank; //!< the rank at which it starts
    Rank lastRank;  //!< the rank at which it ends
    PathTimes times{};
};

/// The critical path of an iteration.
struct IterationPath
{
    uint64_t startPs;
    uint64_t endPs;
    PathTimes times{};           //!< of the whole path; they add up to endPs - startPs
    std::vector<PathStep> steps; //!< by time; the longest ones, if there are too many
    uint64_t othersLeftOut{0};   //!< number of further steps
};

/// Collects the critical paths of iterations from the causes of their last nodes.
class PathRecord
{
  public:
    /// The largest number of steps of a path that are kept.
    static constexpr std::size_t MAX_STEPS = 1000;

    /// @param stream the workload. If jobs share a cluster, the whole run counts as one iteration.
    explicit PathRecord(const Stream& stream);

    /**
     * @param event a node that has ended
     * @param end the cause of its end
     */
    void OnNodeEnded(const NodeEvent& event, const CauseRef& end);

    /// @return the paths of the iterations that have ended, from the first one on
    const std::vector<IterationPath>& GetPaths() const
    {
        return m_paths;
    }

  private:
    /// An iteration that has not ended.
    struct Iteration
    {
        uint64_t nodesLeft{0};
        CauseRef end; //!< of the node that ended last so far
    };

    void Collect(Iteration& iteration);

    bool m_isShared{false}; //!< true if jobs share a cluster
    std::vector<Iteration> m_iterations;
    std::vector<IterationPath> m_paths;
};

} // namespace cosim

#endif // COSIM_PATH_RECORD_H
