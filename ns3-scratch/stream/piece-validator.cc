/*
 * SPDX-License-Identifier: GPL-2.0-only
 */

#include "stream/piece-validator.h"

#include "stream/validation.h"

#include <string>

namespace cosim
{

void
ValidatePieces(const std::vector<Program>& programs,
               const Program& whole,
               const std::vector<uint64_t>& reach)
{
    std::vector<uint32_t> busy(whole.groupSize); // per member: the first phase that it is free in
    uint64_t members = 0;
    uint64_t steps = 0;
    for (std::size_t i = 0; i < whole.pieces.size(); ++i)
    {
        const Piece& piece = whole.pieces[i];
        const std::string where =
            "program " + std::to_string(whole.id) + ": piece " + std::to_string(i);
        Require(piece.program < whole.id && programs[piece.program].pieces.empty(),
                where,
                " has program ",
                piece.program,
                ", but an earlier one with steps is expected");
        const Program& part = programs[piece.program];
        Require(part.units == whole.units && part.space == whole.space &&
                    part.equalUnits == whole.equalUnits,
                where,
                " has other units than the program");
        Require(uint64_t{piece.phase} + part.phaseDimension.size() <= whole.phaseDimension.size(),
                where,
                " ends after the ",
                whole.phaseDimension.size(),
                " phases of the program");
        Require(i == 0 || whole.pieces[i - 1].phase <= piece.phase,
                where,
                " begins in an earlier phase than the piece before");
        Require(piece.groups >= 1 && piece.groups <= whole.groupSize && piece.memberStep >= 1,
                where,
                " has ",
                piece.groups,
                " groups and member_step ",
                piece.memberStep,
                ", but 1 … ",
                whole.groupSize,
                " groups and a step of at least 1 are expected");
        Require(uint64_t{piece.first} + uint64_t{piece.groups - 1} * piece.groupStep +
                        uint64_t{part.groupSize - 1} * piece.memberStep <
                    whole.groupSize,
                where,
                " has members beyond the ",
                whole.groupSize,
                " of the program");
        Require(reach[piece.program] + uint64_t{piece.groups - 1} * piece.unitStep <= whole.space,
                where,
                " reaches past the ",
                whole.space,
                " units of the program's space");
        members += uint64_t{piece.groups} * part.groupSize;
        steps += part.op.size() * part.GetRepeats();
        Require(members <= MAX_PIECE_MEMBERS && steps <= MAX_STEPS,
                where,
                ": the pieces have more than the ",
                MAX_PIECE_MEMBERS,
                " members or ",
                MAX_STEPS,
                " steps that are accepted");
        for (uint32_t group = 0; group < piece.groups; ++group)
        {
            for (uint32_t m = 0; m < part.groupSize; ++m)
            {
                uint32_t& free = busy[piece.GetMember(group, m)];
                Require(free <= piece.phase,
                        where,
                        ": member ",
                        piece.GetMember(group, m),
                        " is in two groups in phase ",
                        piece.phase);
                free = piece.phase + static_cast<uint32_t>(part.phaseDimension.size());
            }
        }
    }
}

} // namespace cosim
