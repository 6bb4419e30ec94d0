/*
 * SPDX-License-Identifier: GPL-2.0-only
 */

#ifndef COSIM_JOB_FAILURES_H
#define COSIM_JOB_FAILURES_H

#include "network/fabric.h"
#include "network/run-observers.h"
#include "stream/stream.h"
#include "workload/trace-executor.h"

#include <cstdint>

namespace cosim
{

/// Lets jobs fail when the topology says so: what they run is dropped, and so are their
/// connections.
class JobFailures
{
  public:
    /**
     * @param topology supplies the events; must outlive this object
     * @param fabric has the connections; must outlive this object
     * @param executor runs the jobs; must outlive this object
     * @param observers notified of each failure
     */
    JobFailures(const Topology& topology,
                Fabric& fabric,
                TraceExecutor& executor,
                const RunObservers& observers);

    /// Plan all failures. Call it at the start of the run.
    void Start();

  private:
    void Happen(uint32_t event);

    const Topology& m_topology;
    Fabric& m_fabric;
    TraceExecutor& m_executor;
    RunObservers m_observers;
};

} // namespace cosim

#endif // COSIM_JOB_FAILURES_H
