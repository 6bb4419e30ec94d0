/*
 * SPDX-License-Identifier: GPL-2.0-only
 */

#ifndef COSIM_CLASS_SOLVER_H
#define COSIM_CLASS_SOLVER_H

#include "fabrics/flow/max-min-solver.h"

#include <cstddef>
#include <cstdint>
#include <span>
#include <vector>

namespace cosim
{

/**
 * Computes the rates of flows in traffic classes of strict priority. The flows of a class have
 * max–min fair rates on what higher classes leave of each link.
 *
 * In one MaxMinSolver, each link stands once for each class, with the capacity that the class has
 * there. A solution changes what is left for lower classes, so it is followed by another one, until
 * nothing changes: as many as there are classes at most.
 */
class ClassSolver
{
  public:
    /**
     * @param flows number of flows, which have no links at first
     * @param classes for each flow, its class, where 0 is the highest one; empty if all have the
     * same
     */
    ClassSolver(std::size_t flows, std::vector<uint8_t> classes);

    /// @return the number of classes
    uint32_t GetClasses() const
    {
        return m_classes;
    }

    /// @return the class of a flow; 0 is the highest one
    uint32_t GetClass(uint32_t flow) const
    {
        return m_classes == 1 ? 0 : m_classOf[flow];
    }

    /**
     * @param capacity its capacity, more than 0
     * @return the number of a new link; links are numbered from 0
     */
    uint32_t AddLink(double capacity);

    /**
     * @param link a link that no active flow uses
     * @param capacity its capacity, more than 0
     */
    void SetCapacity(uint32_t link, double capacity);

    /**
     * @param flow an inactive flow
     * @param links its links, each once
     */
    void SetLinks(uint32_t flow, std::span<const uint32_t> links);

    /// @param flow an inactive flow, which wants as high a rate as possible from now on
    void Start(uint32_t flow)
    {
        m_solver.Start(flow);
    }

    /// @param flow an active flow, which stops
    void Stop(uint32_t flow);

    /**
     * Compute the rates after any number of calls of Start and Stop.
     *
     * @return the active flows whose rate has changed; with classes, it can have a flow several
     * times, or one with the rate that it had; valid until the next call
     */
    const std::vector<uint32_t>& Solve();

    /// @return true if the flow was started and not stopped
    bool IsActive(uint32_t flow) const
    {
        return m_solver.IsActive(flow);
    }

    /// @return the rate of the flow after the last Solve; 0 if higher classes leave nothing
    double GetRate(uint32_t flow) const
    {
        return m_solver.GetRate(flow);
    }

    /// @return whether a flow of a higher class uses a link, after a Solve
    bool IsShared(uint32_t link, uint32_t trafficClass) const
    {
        return m_solver.GetCapacity(Of(link, trafficClass)) < m_solver.GetCapacity(Of(link, 0));
    }

    /**
     * Call a function for the fastest flows of each class, from one on downwards, that would be
     * slower if a link were.
     *
     * @param link the link, after a Solve
     * @param from the class
     * @param f called with each flow
     */
    template <typename Function>
    void ForEachLimited(uint32_t link, uint32_t from, const Function& f) const
    {
        for (uint32_t trafficClass = from; trafficClass < m_classes; ++trafficClass)
        {
            m_solver.ForEachLimited(Of(link, trafficClass), f);
        }
    }

  private:
    /// A class has at least this share of a link, or nothing: less is the result of rounding.
    static constexpr double LEAST_SHARE = 1e-9;

    /// @return the link of the solver that stands for a link in a class
    uint32_t Of(uint32_t link, uint32_t trafficClass) const
    {
        return link * m_classes + trafficClass;
    }

    void Touch(uint32_t flow);
    bool ShareLinks();

    uint32_t m_classes{1};
    std::vector<uint8_t> m_classOf; //!< per flow; empty if there is one class
    MaxMinSolver m_solver;
    std::vector<uint32_t> m_touched; //!< links on which a class may leave more or less to others
    std::vector<uint32_t> m_changed;
    std::vector<uint32_t> m_ofClass; //!< buffer of SetLinks
};

} // namespace cosim

#endif // COSIM_CLASS_SOLVER_H
