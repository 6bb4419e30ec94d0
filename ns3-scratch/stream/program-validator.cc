/*
 * SPDX-License-Identifier: GPL-2.0-only
 */

#include "stream/program-validator.h"

#include "stream/validation.h"

#include <string>
#include <vector>

namespace cosim
{

namespace
{

/// Checks one program. Its error messages start with the id of the program.
class ProgramValidator
{
  public:
    ProgramValidator(const Program& program, const Topology& topology)
        : m_program(program),
          m_where("program " + std::to_string(program.id) + ": "),
          m_member(program.op.size())
    {
        ValidateArrays(topology);
        for (uint32_t member = 0; member < program.groupSize; ++member)
        {
            for (uint32_t i = program.stepBegin[member]; i < program.stepBegin[member + 1]; ++i)
            {
                m_member[i] = member;
                Require(i == program.stepBegin[member] || program.phase[i - 1] <= program.phase[i],
                        m_where,
                        "the steps of member ",
                        member,
                        " are not sorted by phase");
            }
        }
        for (uint32_t i = 0; i < program.op.size(); ++i)
        {
            ValidateStep(i);
        }
    }

  private:
    void ValidateArrays(const Topology& topology)
    {
        const Program& p = m_program;
        const std::size_t steps = p.op.size();
        Require(p.groupSize >= 1, m_where, "group_size is 0, but at least 1 is needed");
        Require(p.units >= 1 && p.space >= p.units,
                m_where,
                "units is ",
                p.units,
                " and space ",
                p.space,
                ", but 1 ≤ units ≤ space is expected");
        RequireSlices(p.stepBegin, p.groupSize, steps, m_where + "step_begin");
        RequireLength(p.phase.size(), steps, m_where + "phase");
        RequireLength(p.peer.size(), steps, m_where + "peer");
        RequireLength(p.offset.size(), steps, m_where + "offset");
        RequireLength(p.count.size(), steps, m_where + "count");
        RequireLength(p.target.size(), steps, m_where + "target");
        RequireLength(p.route.size(), p.route.empty() ? 0 : steps, m_where + "route");
        RequireSlices(p.depBegin, steps, p.dep.size(), m_where + "dep_begin");
        for (const uint32_t dimension : p.phaseDimension)
        {
            Require(dimension < topology.dimensions.size(),
                    m_where,
                    "phase_dimension holds ",
                    dimension,
                    ", but the topology has ",
                    topology.dimensions.size(),
                    " dimensions");
        }
    }

    void ValidateStep(uint32_t i) const
    {
        const Program& p = m_program;
        const auto where = [this, i] { return m_where + "step " + std::to_string(i); };
        if (p.phase[i] >= p.phaseDimension.size())
        {
            Refuse(where(),
                   " has phase ",
                   p.phase[i],
                   ", but the program has ",
                   p.phaseDimension.size(),
                   " phases");
        }
        if (uint64_t{p.offset[i]} + p.count[i] > p.space)
        {
            Refuse(where(), " reaches past the ", p.space, " units of its space");
        }
        switch (p.op[i])
        {
        case StepOp::SEND:
        case StepOp::RECV:
        case StepOp::RECV_REDUCE:
            ValidateMessage(i, where);
            break;
        case StepOp::COPY:
        case StepOp::REDUCE:
            if (uint64_t{p.target[i]} + p.count[i] > p.space)
            {
                Refuse(where(), " reaches past the ", p.space, " units of its space");
            }
        }
        for (uint32_t d = p.depBegin[i]; d < p.depBegin[i + 1]; ++d)
        {
            const uint32_t dep = p.dep[d];
            if (dep >= p.op.size() || m_member[dep] != m_member[i] || p.phase[dep] > p.phase[i])
            {
                Refuse(where(),
                       " depends on step ",
                       dep,
                       ", but a dependency must be a step of the same member in the same or an "
                       "earlier phase");
            }
        }
    }

    template <typename Where>
    void ValidateMessage(uint32_t i, const Where& where) const
    {
        const Program& p = m_program;
        const uint32_t matching = p.target[i];
        if (p.peer[i] >= p.groupSize || p.peer[i] == m_member[i])
        {
            Refuse(where(),
                   " has peer ",
                   p.peer[i],
                   ", but another member of a group of ",
                   p.groupSize,
                   " is expected");
        }
        const bool isSend = p.op[i] == StepOp::SEND;
        const auto isMatch = [&] {
            const bool opposite =
                isSend ? p.op[matching] == StepOp::RECV || p.op[matching] == StepOp::RECV_REDUCE
                       : p.op[matching] == StepOp::SEND;
            return opposite && p.target[matching] == i && m_member[matching] == p.peer[i] &&
                   p.peer[matching] == m_member[i];
        };
        if (matching >= p.op.size() || !isMatch())
        {
            Refuse(where(),
                   isSend ? " sends to step " : " receives from step ",
                   matching,
                   ", which does not match it");
        }
        if (p.phase[matching] != p.phase[i])
        {
            Refuse(where(), " and the matching step ", matching, " are in different phases");
        }
        if (p.count[matching] != p.count[i])
        {
            Refuse(where(), " and the matching step ", matching, " have different counts of units");
        }
    }

    const Program& m_program;
    const std::string m_where;
    std::vector<uint32_t> m_member; //!< per step: the member that it belongs to
};

} // namespace

void
ValidateProgram(const Program& program, const Topology& topology)
{
    const ProgramValidator check(program, topology);
}

} // namespace cosim
