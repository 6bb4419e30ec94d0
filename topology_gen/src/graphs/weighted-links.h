/*
 * SPDX-License-Identifier: GPL-2.0-only
 */

#ifndef COSIM_WEIGHTED_LINKS_H
#define COSIM_WEIGHTED_LINKS_H

#include <array>
#include <cstddef>
#include <cstdint>
#include <span>
#include <vector>

// A function that is compiled twice: a processor with wider registers takes the second version. The
// result is the same to the bit.
#if defined(__x86_64__) && defined(__GNUC__) && !defined(__clang__)
#define COSIM_FASTEST __attribute__((target_clones("avx2", "default")))
#else
#define COSIM_FASTEST
#endif

namespace cosim
{

constexpr std::size_t LANES = 8; //!< number of roots that are processed at the same time

using Lanes = std::array<double, LANES>; //!< a value for each root

/// The links of a digraph, and their classes.
struct LinkView
{
    uint32_t nodes;                      //!< number of nodes
    std::span<const uint32_t> source;    //!< for each link, the node that it leaves
    std::span<const uint32_t> target;    //!< for each link, the node that it enters
    std::span<const uint32_t> linkClass; //!< for each link, an index into the classes
};

/// The links by the node that they leave, with a value of their class: memory is read in order.
class WeightedLinks
{
  public:
    /// The data of a link, stored together.
    struct Step
    {
        uint32_t target;
        uint32_t linkClass;
        double weight;
    };

    /**
     * @param links the links
     * @param weight for each class, its value
     * @throws std::invalid_argument if a link names a node or a class that does not exist
     */
    WeightedLinks(const LinkView& links, std::span<const double> weight);

    /// @return number of nodes
    std::size_t GetNodes() const
    {
        return m_begin.size() - 1;
    }

    /**
     * @param node a node
     * @return the links that leave it
     */
    std::span<const Step> GetOutLinks(uint32_t node) const
    {
        return std::span(m_steps).subspan(m_begin[node], m_begin[node + 1] - m_begin[node]);
    }

    /**
     * @param root a node
     * @throws std::invalid_argument if it does not exist
     */
    void CheckRoot(uint32_t root) const;

  private:
    std::vector<std::size_t> m_begin; //!< for each node, its first link; and the end
    std::vector<Step> m_steps;        //!< the links
};

} // namespace cosim

#endif // COSIM_WEIGHTED_LINKS_H
