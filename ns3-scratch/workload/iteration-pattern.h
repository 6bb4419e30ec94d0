/*
 * SPDX-License-Identifier: GPL-2.0-only
 */

#ifndef COSIM_ITERATION_PATTERN_H
#define COSIM_ITERATION_PATTERN_H

#include "stream/stream.h"

#include <cstdint>
#include <string>
#include <vector>

namespace cosim
{

/**
 * The regularity of a workload: from some iteration on, all iterations have the same nodes.
 *
 * Two iterations are the same if their nodes have the same properties in the same order, and their
 * dependencies reach equally far back. The ids of their collectives and the tags of their messages
 * differ by a constant.
 */
class IterationPattern
{
  public:
    /// The place of the iterations in a trace.
    struct Places
    {
        uint32_t nodesBegin{0};    //!< first node of the first regular iteration
        uint32_t nodes{0};         //!< nodes of a regular iteration
        uint32_t computesBegin{0}; //!< COMPUTE nodes outside of lanes before nodesBegin
        uint32_t computes{0};      //!< the same in a regular iteration
    };

    /// @param stream the workload; its traces must outlive the pattern
    explicit IterationPattern(const Stream& stream);

    /// @return why the workload has no regular iterations, or an empty string
    const std::string& GetProblem() const
    {
        return m_problem;
    }

    /// @return the number of iterations
    uint32_t GetIterations() const
    {
        return m_iterations;
    }

    /// @return the first iteration that equals all later ones
    uint32_t GetFirst() const
    {
        return m_first;
    }

    /// @return by how much the ids of the collectives differ from one iteration to the next
    uint32_t GetCollectives() const
    {
        return m_collectives;
    }

    /// @return the places of the iterations in a trace of the stream
    const Places& GetPlaces(const Trace& trace) const
    {
        return m_places[static_cast<std::size_t>(&trace - m_stream.traces.data())];
    }

  private:
    std::vector<uint32_t> FindBegins(const Trace& trace);
    static Places FindPlaces(const Trace& trace, uint32_t begin, uint32_t end);
    bool IsSame(const Trace& trace, uint32_t node, uint32_t before);
    bool HasSameDependencies(const Trace& trace, uint32_t node, uint32_t before) const;
    bool HasSameCollective(const Trace& trace, uint32_t node, uint32_t before);

    const Stream& m_stream;
    std::string m_problem;
    uint32_t m_iterations{0};
    uint32_t m_first{0};
    uint32_t m_collectives{0};
    uint64_t m_tags{0};
    bool m_knowsCollectives{false}; //!< true if m_collectives is known
    bool m_knowsTags{false};        //!< true if m_tags is known: difference of the tags
    std::vector<Places> m_places;   //!< per trace
};

} // namespace cosim

#endif // COSIM_ITERATION_PATTERN_H
