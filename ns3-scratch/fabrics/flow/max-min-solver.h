/*
 * SPDX-License-Identifier: GPL-2.0-only
 */

#ifndef COSIM_MAX_MIN_SOLVER_H
#define COSIM_MAX_MIN_SOLVER_H

#include "support/radix-queue.h"

#include <cstdint>
#include <span>
#include <vector>

namespace cosim
{

/**
 * Max–min fair rates of flows over links, by progressive filling: all rates rise together; where a
 * link is full, its flows keep what they have, and the others rise on.
 *
 * It is incremental, and exact. Every flow has a *bottleneck*: a full link on which no flow is
 * faster. A solution is found by filling again only the *members*: at first the flows that start,
 * and those whose bottleneck has lost a flow. All others keep their rates, until in the course of
 * the filling, at a level below their rate,
 *
 * - a link is full on which they are the fastest: they give way; or
 * - a member becomes slower on their bottleneck: they take what it leaves.
 *
 * Then they become members, too, and rise from that level. What no such chain reaches keeps its
 * bottleneck, so it is not even looked at.
 *
 * The unit of rates is the caller's. Rates that differ by less than 10⁻⁹ of themselves because of
 * rounding come out equal, so symmetric flows stay symmetric.
 */
class MaxMinSolver
{
  public:
    /**
     * @param capacities of the links, each more than 0
     * @param begin per flow, the first of its links in `links`; one entry more at the end
     * @param links the links of the flows, one behind the other
     */
    MaxMinSolver(std::vector<double> capacities,
                 std::vector<uint32_t> begin,
                 std::vector<uint32_t> links);

    /// @param flow wants as much as it can get from now on; it must not be active
    void Start(uint32_t flow);

    /// @param flow wants nothing from now on; it must be active
    void Stop(uint32_t flow);

    /**
     * Compute the rates after any number of starts and stops.
     *
     * @return the active flows whose rate is another than before; valid until the next call
     */
    const std::vector<uint32_t>& Solve();

    /// @return whether the flow was started and not stopped
    bool IsActive(uint32_t flow) const;

    /// @return the flow's rate after the last Solve
    double GetRate(uint32_t flow) const;

  private:
    /// Where an active flow stands in the list of a link.
    struct Use
    {
        uint32_t flow;
        uint32_t hop; //!< into m_links
    };

    struct Link
    {
        double capacity;
        std::vector<Use> uses;    //!< by active flows
        bool isBottleneck{false}; //!< of one of its flows
        bool isTouched{false};    //!< in m_touched, while solving
        bool isFilled{false};     //!< while solving: the bottleneck of a member
        bool isYielded{false};    //!< while solving: a slower member has added its fastest flows
        uint32_t members{0};      //!< while solving
        uint32_t rising{0};       //!< members that still rise
        double free{0};           //!< while solving: capacity not taken by those that do not rise
        double level{0};          //!< the rate at which it was full last
        uint64_t queuedAt{0};     //!< while solving: its key in m_order, or NEVER
    };

    struct Flow
    {
        double rate{0};
        double before{0}; //!< the rate after the last Solve, while solving
        bool isActive{false};
        bool isMember{false}; //!< while solving
    };

    std::span<const uint32_t> GetLinks(uint32_t flow) const;
    void AddFlow(uint32_t flow);
    void AddFastest(const Link& link, double rate);
    Link& Touch(uint32_t link);
    void Queue(uint32_t link);
    void Fill(uint32_t link, double key);
    void Freeze(const Link& link);
    double GetFastest(const Link& link) const;
    static double GetLevel(const Link& link);
    void Commit();

    std::vector<uint32_t> m_begin;
    std::vector<uint32_t> m_links;
    std::vector<uint32_t> m_position; //!< per hop: in the list of its link
    std::vector<Link> m_link;
    std::vector<Flow> m_flow;
    std::vector<uint32_t> m_started; //!< since the last Solve
    std::vector<uint32_t> m_freed;   //!< bottlenecks that lost a flow since
    // While solving:
    double m_level{0};               //!< how far the filling is
    double m_filled{0};              //!< the highest level of a full link
    std::vector<uint32_t> m_members; //!< flows
    std::vector<uint32_t> m_touched; //!< links of the members
    RadixQueue<uint32_t> m_order;    //!< links by the level at which they are full
    std::vector<uint32_t> m_changed;
};

} // namespace cosim

#endif // COSIM_MAX_MIN_SOLVER_H
