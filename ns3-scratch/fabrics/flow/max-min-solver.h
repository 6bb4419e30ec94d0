/*
 * SPDX-License-Identifier: GPL-2.0-only
 */

#ifndef COSIM_MAX_MIN_SOLVER_H
#define COSIM_MAX_MIN_SOLVER_H

#include "support/huge-allocator.h"
#include "support/packed-lists.h"
#include "support/radix-queue.h"

#include <algorithm>
#include <array>
#include <bit>
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
 * the flows that start, those whose bottleneck has lost a flow or has a higher capacity, and those
 * of links with a capacity below the sum of their rates. All other flows keep their
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
        m_users.emplace_back();
        m_users.back().capacity = m_link.back().free = capacity;
        return static_cast<uint32_t>(m_link.size() - 1);
    }

    /**
     * Change the capacity of a link. If flows use it, Solve changes their rates.
     *
     * @param link the link
     * @param capacity its capacity; 0 only for a link that had more before
     */
    void SetCapacity(uint32_t link, double capacity);

    /// @return the capacity of a link
    double GetCapacity(uint32_t link) const
    {
        return m_users[link].capacity;
    }

    /// @return what the flows of a link leave of its capacity, after a Solve; except for rounding
    double GetFree(uint32_t link) const
    {
        return m_link[link].free;
    }

    /**
     * @param flow an inactive flow
     * @param links its links, each once
     */
    void SetLinks(uint32_t flow, std::span<const uint32_t> links);

    /// @return the links of a flow; valid until SetLinks
    std::span<const uint32_t> GetLinks(uint32_t flow) const
    {
        return m_links.Get(flow);
    }

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
     * Compute the rates after any number of calls of Start, Stop and SetCapacity.
     *
     * @return the active flows whose rate has changed; valid until the next call
     */
    const std::vector<uint32_t>& Solve();

    /// @return true if the flow was started and not stopped
    bool IsActive(uint32_t flow) const;

    /// @return the rate of the flow after the last Solve
    double GetRate(uint32_t flow) const
    {
        return m_rate[flow];
    }

    /**
     * Call a function for the fastest flows of a full link: those that would be slower if the link
     * were.
     *
     * @param link the link, after a Solve
     * @param f called with each flow
     */
    template <typename Function>
    void ForEachLimited(uint32_t link, const Function& f) const
    {
        const std::vector<uint32_t>& flows = m_users[link].flows;
        if (m_link[link].free > SAME * m_users[link].capacity)
        {
            return;
        }
        double fastest = 0;
        for (const uint32_t flow : flows)
        {
            fastest = std::max(fastest, m_rate[flow]);
        }
        for (const uint32_t flow : flows)
        {
            if (m_rate[flow] >= fastest * (1 - SAME))
            {
                f(flow);
            }
        }
    }

    /// @return how many times Solve has looked for flows of a link that join: a measure of work
    uint64_t GetLooks() const
    {
        return m_looks;
    }

  private:
    static constexpr uint32_t NONE = UINT32_MAX;
    static constexpr uint64_t NEVER = RadixQueue<uint32_t>::NEVER;

    /// Rates that differ by less than this share count as the same rate.
    static constexpr double SAME = 1e-9;

    /// A rate that moves by less than this share counts as unchanged.
    static constexpr double UNCHANGED = 1e-13;

    /// Stands in for the rate of a flow that still rises while solving.
    static constexpr double RISING = -1;

    /// The state of a link that each of its flows changes.
    struct Link
    {
        double free{0};      //!< capacity without the rates of flows that do not rise
        double fastest{0};   //!< no flow that does not rise has a higher rate, except for rounding
        uint32_t rising{0};  //!< number of members that still rise
        uint32_t members{0}; //!< while solving: number of members
        uint32_t owned{0};   //!< number of flows that do not rise and whose bottleneck it is
        bool isTouched{false}; //!< while solving: true if it is in m_touched
        bool isGrown{false};   //!< while solving: true if it is in m_grown
        bool isFilled{false};  //!< while solving: true if it is the bottleneck of a member
    };

    /// The flows of a link, and what changes only when the link is full.
    struct Users
    {
        double capacity{0};
        uint64_t queuedAt{0};        //!< while solving: its key in m_order, or NEVER
        std::vector<uint32_t> flows; //!< one entry per active flow
        std::vector<uint32_t> hops;  //!< per entry: place in m_links
        std::vector<uint32_t> owned; //!< the flows whose bottleneck it is, and some others
    };

    struct Flow
    {
        double before{0};          //!< while solving: the rate after the previous Solve
        uint32_t bottleneck{NONE}; //!< link, or NONE if it is inactive or rises
        uint32_t begin{0};         //!< first of its links in m_links
        uint32_t end{0};           //!< end of its links
        bool isActive{false};
        bool isMember{false}; //!< while solving
    };

    /// While solving: the flows that share no link and will have the same rate.
    struct Alone
    {
        double rate{0};
        std::vector<uint32_t> flows;
    };

    /// @return a key that orders non-negative rates like the rates themselves
    static uint64_t KeyOf(double rate)
    {
        return std::bit_cast<uint64_t>(rate);
    }

    bool AddAlone(uint32_t flow);
    void FillAlone(Alone& alone);

    std::span<const uint32_t> GetLinks(const Flow& flow) const
    {
        return {m_links.GetItem(flow.begin), m_links.GetItem(flow.end)};
    }

    void AddFlow(uint32_t flow);
    void AddOwned(uint32_t link);
    bool AddFaster(uint32_t link, double level);
    void FindFaster(uint32_t link, double rate);
    void Touch(uint32_t link);
    void Queue(uint32_t link);
    void QueueGrown();
    void Fill(uint32_t link, double key);
    void Freeze(uint32_t link);
    void Leave(uint32_t flow);
    static double GetLevel(const Link& link);
    void Commit();

    bool m_looksForAlone{true};
    PackedLists<uint32_t> m_links;    //!< per flow: its links
    std::vector<uint32_t> m_position; //!< per hop: position in the list of its link
    std::vector<Link> m_link;
    std::vector<Users> m_users; //!< per link
    HugeVector<Flow> m_flow;
    HugeVector<double> m_rate;       //!< per flow; RISING while it rises
    std::vector<uint32_t> m_started; //!< flows started since the last Solve
    std::vector<uint32_t> m_freed;   //!< bottlenecks that lost a flow since the last Solve
    std::vector<uint32_t> m_lowered; //!< links whose flows have rates beyond the capacity
    // Used only while solving:
    double m_level{0};               //!< current level of the filling
    double m_filled{0};              //!< highest level at which a link was full
    std::vector<uint32_t> m_members; //!< flows
    std::vector<uint32_t> m_faster;  //!< buffer of AddFaster: flows
    std::vector<uint32_t> m_full;    //!< buffer of Freeze: flows
    std::vector<uint32_t> m_touched; //!< links of the members
    std::vector<uint32_t> m_grown;   //!< links with new members, which are not queued yet
    std::array<Alone, 4> m_alone;    //!< the first m_alones are in use
    uint32_t m_alones{0};
    /// links by the level at which they are full; from the number of links on, index in m_alone
    RadixQueue<uint32_t> m_order;
    std::vector<uint32_t> m_changed;
    uint64_t m_looks{0}; //!< see GetLooks
};

} // namespace cosim

#endif // COSIM_MAX_MIN_SOLVER_H
