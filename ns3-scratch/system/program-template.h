/*
 * SPDX-License-Identifier: GPL-2.0-only
 */

#ifndef COSIM_PROGRAM_TEMPLATE_H
#define COSIM_PROGRAM_TEMPLATE_H

#include "stream/stream.h"
#include "system/part-shape.h"

#include <cstdint>
#include <vector>

namespace cosim
{

/**
 * A program prepared for running. All chunks of all collectives with this program share it.
 *
 * A program is divided into *parts*. A part is one phase, for one set of members that exchange
 * messages in this phase, directly or through other members. The scheduler starts a part as a
 * whole. Its steps are those of its PartShape.
 */
class ProgramTemplate
{
  public:
    /// Marks "no part" or "no step".
    static constexpr uint32_t NONE = ~uint32_t{0};

    /// One phase of a set of members that exchange messages in that phase.
    struct Part
    {
        uint32_t phase;
        uint32_t dimension;
        uint32_t level;
        uint32_t shape;       //!< index of its shape; see GetShape
        uint32_t firstUnit;   //!< added to the addresses of its shape
        uint32_t firstOrder;  //!< added to the places in the program of its shape's steps
        uint32_t memberBegin; //!< index of the first member in GetPlaces
        uint32_t memberEnd;
        uint32_t firsts; //!< number of members for which this is the first part
    };

    /// A member of a part.
    struct Place
    {
        uint32_t part;   //!< index of the part
        uint32_t member; //!< index of the member in the group
        uint32_t steps;  //!< number of program steps of the member in this part
        uint32_t next;   //!< place of the member in its next part, or NONE
    };

    /// Size of the units of a chunk: unit u ends at byte u·whole + floor(u·rest / units).
    struct UnitSize
    {
        uint64_t whole;
        uint64_t rest; //!< less than the number of units
    };

    /**
     * @param programs the validated programs of a stream; used only during construction
     * @param program index of the program
     * @param merges whether to merge steps that behave identically; see StepGroups
     * @param mergesReductions whether to merge steps that receive and reduce, too
     * @throws std::invalid_argument as PartShape
     */
    ProgramTemplate(const std::vector<Program>& programs,
                    uint32_t program,
                    bool merges,
                    bool mergesReductions);

    /// @return the parts, ordered by phase
    const std::vector<Part>& GetParts() const
    {
        return m_parts;
    }

    /// @return the shape of a part
    const PartShape& GetShape(const Part& part) const
    {
        return m_shapes[part.shape];
    }

    /// @return the members of the parts, each with mirrors behind; see Part::memberBegin
    const std::vector<Place>& GetPlaces() const
    {
        return m_places;
    }

    /// @return the number of members of a group, without mirrors
    uint32_t GetMembers() const
    {
        return static_cast<uint32_t>(m_firstPlace.size());
    }

    /**
     * @param member index of a member in the group
     * @return the member's place in its first part, or NONE if the member has no steps
     */
    uint32_t GetFirstPlace(uint32_t member) const
    {
        return m_firstPlace[member];
    }

    /// @return the size of the units of a chunk of chunkBytes bytes
    UnitSize GetUnitSize(uint64_t chunkBytes) const;

    /**
     * @param size unit size of the chunk, from GetUnitSize
     * @param offset the first unit
     * @param count number of units
     * @return the size of these units [bytes]
     */
    uint64_t GetBytes(const UnitSize& size, uint32_t offset, uint32_t count) const
    {
        const uint64_t bytes = size.whole * count;
        if (size.rest == 0)
        {
            return bytes;
        }
        const uint64_t end = uint64_t{offset} + count;
        return bytes + end * size.rest / m_units - offset * size.rest / m_units;
    }

    /**
     * @param chunkBytes size of a chunk [bytes]
     * @return payload of all SEND steps [bytes]
     */
    uint64_t GetSentBytes(uint64_t chunkBytes) const;

    /// @return what a communication library adds to the messages
    const ProgramProtocol& GetProtocol() const
    {
        return m_protocol;
    }

  private:
    /// A part of the program of a piece, for the members of that program.
    struct OwnPart
    {
        uint32_t phase;
        uint32_t shape;
        std::vector<uint32_t> members; //!< the mirrors of the program are the last ones
        std::vector<uint32_t> steps;   //!< per member, without the mirrors
    };

    /// A part of a group of a piece.
    struct GroupPart
    {
        const OwnPart* part;
        const Piece* piece;
        uint32_t group;
        uint32_t phase;
        uint32_t firstMember;
        uint32_t firstOrder;
    };

    std::vector<OwnPart> MakeOwnParts(const Program& program, bool merges, bool mergesReductions);
    void AddParts(const Program& program, const std::vector<GroupPart>& parts);

    uint32_t m_units;
    bool m_equalUnits;
    ProgramProtocol m_protocol;
    std::vector<PartShape> m_shapes;
    std::vector<Part> m_parts;
    std::vector<Place> m_places;
    std::vector<uint32_t> m_firstPlace; //!< per member
};

/**
 * @param bytes size of the buffer of a collective [bytes]
 * @param chunks number of chunks that divide the buffer
 * @param chunk index of a chunk
 * @return the size of this chunk [bytes]
 */
uint64_t GetChunkBytes(uint64_t bytes, uint32_t chunks, uint32_t chunk);

} // namespace cosim

#endif // COSIM_PROGRAM_TEMPLATE_H
