/*
 * SPDX-License-Identifier: GPL-2.0-only
 */

#ifndef COSIM_MEMBER_STEPS_H
#define COSIM_MEMBER_STEPS_H

#include "stream/stream.h"

#include <cstdint>
#include <optional>
#include <span>
#include <vector>

namespace cosim
{

/**
 * The steps of each member of a program, whatever its form. Steps are counted from the first one
 * of their member.
 */
class MemberSteps
{
  public:
    /// A step of a member.
    struct Step
    {
        StepOp op{StepOp::SEND};
        uint32_t phase{0};
        uint32_t peer{0}; //!< the other member of a SEND, RECV or RECV_REDUCE
        uint32_t count{0};
        uint32_t route{0};
        uint32_t target{0}; //!< SEND: the step of the peer that receives the message
        std::vector<uint32_t> deps{};

        /// @return whether it has a peer
        bool HasPeer() const
        {
            return op != StepOp::COPY && op != StepOp::REDUCE;
        }
    };

    /// The largest number of steps that are listed.
    static constexpr uint64_t MOST = uint64_t{1} << 22;

    /**
     * @param programs the programs of a stream
     * @param program index of a program
     * @return its steps; nothing if they are too many, or if their parts would not be those of the
     * table that has these steps
     */
    static std::optional<MemberSteps> List(const std::vector<Program>& programs, uint32_t program);

    /// @return the number of members
    uint32_t GetMembers() const
    {
        return static_cast<uint32_t>(m_steps.size());
    }

    /// @return the steps of a member, by phase
    const std::vector<Step>& Of(uint32_t member) const
    {
        return m_steps[member];
    }

    /**
     * @param image per member: another one
     * @return whether each member does what its image does, with the images of its peers
     */
    bool IsSameFor(std::span<const uint32_t> image) const;

  private:
    void AddOwn(const Program& program);
    bool AddPieces(const std::vector<Program>& programs, const Program& program);
    bool AddPiece(const MemberSteps& own, const Piece& piece);

    std::vector<std::vector<Step>> m_steps; //!< per member
};

} // namespace cosim

#endif // COSIM_MEMBER_STEPS_H
