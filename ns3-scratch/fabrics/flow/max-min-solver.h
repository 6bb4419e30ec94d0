/*
 * SPDX-License-Identifier: GPL-2.0-only
 */

#ifndef COSIM_MAX_MIN_SOLVER_H
#define COSIM_MAX_MIN_SOLVER_H

#include "support/packed-lists.h"
#include "support/radix-queue.h"
#include "support/state-digest.h"

#include <array>
#include <cstddef>
#include <cstdint>
#include <span>
#include <vector>

namespace cosim
{

/**
 * Computes max–min fair rates of flows over links, by progressive filling: the rates of all flows
 * rise together; when a link is full, its flows keep their rates, and the other flows rise further.
 *
 * The solver is incremental and exact. Every flow has a *bottleneck*: a full link on which no flow
 * is faster. To find a new solution, the solver fills again only the *members*. At first these are
 * the flows that start, and those whose bottleneck has lost a flow. All other flows keep their
 * rates, until one of these events occurs at a level below their rate:
 *
 * - A link is full on which they are the fastest flows, so they must become slower.
 * - A member becomes slower on their bottleneck, so they can become faster.
 *
 * Then they become members, too, and rise from that level. A flow that no such chain reaches keeps
 * its bottleneck, so the solver does not look at it at all.
 *
 * The caller chooses the unit of rates. Rates that differ only by rounding, by less than a share of
 * 10⁻⁹, are made equal, so that symmetric flows stay symmetric.
 */
class MaxMinSolver
{
  public:
    /// @param flows number of flows, which have no links at first
    explicit MaxMinSolver(std::size_t flows);

    /**
     * @param capacity its capacity, more than 0
     * @return the number of a new link; links are numbered from 0
     */
    uint32_t AddLink(double capacity)
    {
        m_link.emplace_back();
        SetCapacity(static_cast<uint32_t>(m_link.size() - 1), capacity);
        return static_cast<uint32_t>(m_link.size() - 1);
    }

    /**
     * @param link a link that no active flow uses
     * @param capacity its capacity, more than 0
     */
    void SetCapacity(uint32_t link, double capacity)
    {
        m_link[link].capacity = m_link[link].free = capacity;
    }

    /**
     * @param flow an inactive flow
     * @param links its links, each once
     */
    void SetLinks(uint32_t flow, std::span<const uint32_t> links);

    /// Fill the links of all flows, also where a flow is alone: slower, for comparison.
    void FillEverything()
    {
        m_looksForAlone = false;
    }

    /// @param flow an inactive flow, which wants as high a rate as possible from now on
    void Start(uint32_t flow);

    /// @param flow an active flow, which stops
    void Stop(uint32_t flow);

    /**
     * Compute the rates after any number of calls of Start and Stop.
     *
     * @return the active flows whose rate has changed; valid until the next call
     */
    const std::vector<uint32_t>& Solve();

    /// @return true if the flow was started and not stopped
    bool IsActive(uint32_t flow) const;

    /// @return the rate of the flow after the last Solve
    double GetRate(uint32_t flow) const;

    /// @param digest receives the state after a Solve without active flows
    void AddState(StateDigest& digest) const;

    /// @return how many times Solve has looked for the fastest flows of a link: a measure of work
    uint64_t GetLooks() const
    {
        return m_looks;
    }

  private:
    /// Position of an active flow in the list of a link.
    struct Use
    {
        uint32_t flow;
        uint32_t hop; //!< place in m_links
    };

    struct Link
    {
        double capacity{0};
        std::vector<Use> uses;    //!< one entry per active flow
        bool isBottleneck{false}; //!< true if it is the bottleneck of a flow
        bool isTouched{false};    //!< while solving: true if it is in m_touched
        bool isFilled{false};     //!< while solving: true if it is the bottleneck of a member
        bool isGrown{false};      //!< while solving: true if it is in m_grown
        bool isYielded{false}; //!< while solving: true if a slower member added its fastest flows
        uint32_t members{0};   //!< while solving: number of members
        uint32_t rising{0};    //!< number of members that still rise
        double free{0};        //!< capacity without the rates of flows that do not rise
        double fastest{0};    //!< no flow that does not rise has a higher rate, except for rounding
        double level{0};      //!< rate at which it was last full
        uint64_t queuedAt{0}; //!< while solving: its key in m_order, or NEVER
    };

    struct Flow
    {
        double rate{0};
        double before{0}; //!< while solving: the rate after the previous Solve
        bool isActive{false};
        bool isMember{false}; //!< while solving
    };

    /// While solving: the flows that share no link and will have the same rate.
    struct Alone
    {
        double rate{0};
        std::vector<uint32_t> flows;
    };

    bool AddAlone(uint32_t flow);
    void FillAlone(Alone& alone);
    void AddFlow(uint32_t flow);
    void AddFastest(const Link& link, double rate);
    void Touch(uint32_t link);
    void Queue(uint32_t link);
    void QueueGrown();
    void Fill(uint32_t link, double key);
    void Freeze(const Link& link);
    double GetFastest(const Link& link) const;
    static double GetLevel(const Link& link);
    void Commit();

    bool m_looksForAlone{true};
    PackedLists<uint32_t> m_links;    //!< per flow: its links
    std::vector<uint32_t> m_position; //!< per hop: position in the list of its link
    std::vector<Link> m_link;
    std::vector<Flow> m_flow;
    std::vector<uint32_t> m_started; //!< flows started since the last Solve
    std::vector<uint32_t> m_freed;   //!< bottlenecks that lost a flow since the last Solve
    // Used only while solving:
    double m_level{0};               //!< current level of the filling
    double m_filled{0};              //!< highest level at which a link was full
    std::vector<uint32_t> m_members; //!< flows
    std::vector<uint32_t> m_joining; //!< buffer of AddFastest
    std::vector<uint32_t> m_touched; //!< links of the members
    std::vector<uint32_t> m_grown;   //!< links with new members, which are not queued yet
    std::array<Alone, 4> m_alone;    //!< the first m_alones are in use
    uint32_t m_alones{0};
    /// links by the level at which they are full; from the number of links on, index in m_alone
    RadixQueue<uint32_t> m_order;
    std::vector<uint32_t> m_changed;
    uint64_t m_looks{0}; //!< number of calls of AddFastest
};

} // namespace cosim

#endif // COSIM_MAX_MIN_SOLVER_H
