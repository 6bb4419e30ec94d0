/*
 * SPDX-License-Identifier: GPL-2.0-only
 */

#ifndef COSIM_COLLECTIVE_PROGRESS_H
#define COSIM_COLLECTIVE_PROGRESS_H

#include "system/collective-plans.h"

#include <cstdint>
#include <memory>
#include <string>
#include <vector>

namespace cosim
{

/// Tracks which members have issued a collective, and how many of its chunks they have finished.
class CollectiveProgress
{
  public:
    /**
     * @param collectives number of collectives
     * @param plans the prepared collectives; must outlive this object
     */
    CollectiveProgress(std::size_t collectives, const CollectivePlans& plans);

    /**
     * Record that a member has issued a collective.
     *
     * @param collective id of the collective
     * @param member index of the member in the group
     * @param node the node of the member's trace that issues it
     * @return false if the member has no steps in this collective. The caller then calls
     * FinishChunk once for it, as if it had one chunk.
     */
    bool Issue(uint32_t collective, uint32_t member, uint32_t node);

    /// @return true if a member has issued a collective and some member has not finished it
    bool IsRunning(uint32_t collective) const
    {
        return m_running[collective] != nullptr;
    }

    /**
     * @param collective id of a collective that runs
     * @param member index of a member that has issued it
     * @return the node of the member's trace that has issued it
     */
    uint32_t GetNode(uint32_t collective, uint32_t member) const
    {
        return m_running[collective]->node[member];
    }

    /**
     * Record that a member has finished the last part of a chunk.
     *
     * @param collective id of the collective
     * @param member index of the member in the group
     * @return true if this was the last chunk of the member
     */
    bool FinishChunk(uint32_t collective, uint32_t member);

    /**
     * Describe the progress of a collective.
     *
     * @param collective id of the collective
     * @param member index of a member in its group
     * @return part of a sentence; empty if the collective does not run
     */
    std::string Describe(uint32_t collective, uint32_t member) const;

  private:
    /// A collective that at least one rank has issued and at least one rank has not finished.
    struct Running
    {
        uint32_t membersDone{0};
        std::vector<bool> issued;         //!< per member
        std::vector<uint32_t> node;       //!< per member: the node that has issued it
        std::vector<uint32_t> chunksLeft; //!< per member
    };

    const CollectivePlans& m_plans;
    std::vector<std::unique_ptr<Running>> m_running; //!< per collective
};

} // namespace cosim

#endif // COSIM_COLLECTIVE_PROGRESS_H
