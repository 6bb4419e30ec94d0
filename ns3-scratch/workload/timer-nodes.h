/*
 * SPDX-License-Identifier: GPL-2.0-only
 */

#ifndef COSIM_TIMER_NODES_H
#define COSIM_TIMER_NODES_H

#include "workload/trace-workers.h"

#include <cstdint>
#include <functional>
#include <map>
#include <vector>

namespace cosim
{

/**
 * The TIMER nodes of all traces. A node lasts for its duration. Nodes with the same tag, unless it
 * is 0, begin to count together, when the last one of them begins.
 */
class TimerNodes
{
  public:
    /// Is called with the worker and the node when a node is done.
    using Done = std::function<void(uint32_t worker, uint32_t node)>;

    /**
     * @param workers the traces; must outlive this object
     * @param done called inside an event of its own
     */
    TimerNodes(const TraceWorkers& workers, Done done);

    TimerNodes(const TimerNodes&) = delete;
    TimerNodes& operator=(const TimerNodes&) = delete;

    /// Begin a node.
    void Begin(uint32_t worker, uint32_t node);

    /// @return the number of nodes that count
    uint64_t GetRunning() const
    {
        return m_running;
    }

  private:
    /// A node of a worker.
    struct Place
    {
        uint32_t worker;
        uint32_t node;
    };

    /// Nodes with the same tag.
    struct Group
    {
        uint64_t missing{0};        //!< number of nodes that have not begun
        std::vector<Place> waiting; //!< nodes that have begun and wait for the others
    };

    void Run(Place place);
    void OnTime(uint32_t worker, uint32_t node);

    const TraceWorkers& m_workers;
    Done m_done;
    std::map<uint64_t, Group> m_groups; //!< keyed by tag
    uint64_t m_running{0};
};

} // namespace cosim

#endif // COSIM_TIMER_NODES_H
