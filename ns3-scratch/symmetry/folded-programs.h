/*
 * SPDX-License-Identifier: GPL-2.0-only
 */

#ifndef COSIM_FOLDED_PROGRAMS_H
#define COSIM_FOLDED_PROGRAMS_H

#include "stream/stream.h"
#include "symmetry/member-steps.h"
#include "symmetry/rotations.h"

#include <cstdint>
#include <functional>
#include <map>
#include <optional>
#include <tuple>
#include <utility>
#include <vector>

namespace cosim
{

/// What a collective had before it was folded.
struct CollectiveMembers
{
    uint32_t program;
    std::vector<uint32_t> ranks;
};

/**
 * The programs of a stream at the groups of ranks that run them, and what is left of them when only
 * the first of equal ranks run.
 */
class FoldedPrograms
{
  public:
    /// @param stream its collectives must not change before Fold
    explicit FoldedPrograms(const Stream& stream);

    /// @return whether each group does what it did after its ranks are rotated
    bool AreKeptBy(const Rotation& rotation);

    /**
     * Replace the programs and the ranks of all collectives.
     *
     * @param stream the stream that the constructor got
     * @param rotations rotations for all of which AreKeptBy holds
     * @return what each collective had
     */
    std::vector<CollectiveMembers> Fold(Stream& stream, const Rotations& rotations);

  private:
    /// Orders collectives by their program and their group.
    struct ByPlacement
    {
        bool operator()(const Collective* a, const Collective* b) const
        {
            return std::tie(a->program, a->ranks) < std::tie(b->program, b->ranks);
        }
    };

    /// A program, and for each of its members another one.
    using Mapping = std::pair<uint32_t, std::vector<uint32_t>>;

    /// A program of the members that are left of a group.
    struct Folded
    {
        uint32_t program;
        std::vector<uint32_t> members; //!< per member of it: the member of the group
    };

    bool IsKept(const Mapping& images);
    std::vector<uint32_t> FindMembers(const std::vector<Rank>& endpoints,
                                      const std::function<Rank(Rank)>& image);
    Folded MakeProgram(std::vector<Program>& programs, const Mapping& firsts);

    const Stream& m_stream;
    /// collectives whose program and group no earlier one has, with their number
    std::map<const Collective*, uint32_t, ByPlacement> m_placements;
    std::vector<uint32_t> m_placementOf; //!< per collective
    /// per program that was needed: its steps, if they can be listed
    std::map<uint32_t, std::optional<MemberSteps>> m_steps;
    std::map<Mapping, bool> m_kept; //!< results of IsKept
    /// buffer of FindMembers, per endpoint: the members that it is; a switch can be several
    std::vector<std::vector<uint32_t>> m_members;
};

} // namespace cosim

#endif // COSIM_FOLDED_PROGRAMS_H
