/*
 * SPDX-License-Identifier: GPL-2.0-only
 */

#ifndef COSIM_PROGRAM_TEMPLATE_H
#define COSIM_PROGRAM_TEMPLATE_H

#include "stream/stream.h"
#include "system/step-groups.h"

#include <cstdint>
#include <vector>

namespace cosim
{

/**
 * A program prepared for running. All chunks of all collectives with this program share it.
 *
 * Steps that behave identically are merged into one step with several messages; see StepGroups. The
 * steps are divided into *parts*. A part is one phase, for one set of members that exchange
 * messages in this phase, directly or through other members. The scheduler starts a part as a
 * whole. The steps of a part are numbered in the order in which they become ready if every message
 * takes the same time, so that the members of a large group find their next steps in the cache.
 * The state of a running part is one counter per step, copied from the part's slice of
 * GetPending.
 */
class ProgramTemplate
{
  public:
    /// Marks "no part" or "no step".
    static constexpr uint32_t NONE = ~uint32_t{0};

    /**
     * Amount by which each outstanding message raises the counter of a receiving step. The low bits
     * below this value count the steps that it still waits for.
     */
    static constexpr uint32_t ONE_MESSAGE = uint32_t{1} << 20;

    /// A message of a SEND step. Step numbers count from the first step of the part.
    struct Message
    {
        uint32_t peer;   //!< member of the group that receives the message
        uint32_t mate;   //!< step that receives the message
        uint32_t offset; //!< first unit of the message
        uint32_t count;  //!< number of units
        uint32_t route;  //!< index of the path among the paths to the peer
        uint32_t order;  //!< place in the program
    };

    /// A step, which can stand for several steps of the program.
    struct Step
    {
        uint32_t place;        //!< index of the step's member among the members of the part
        uint32_t member;       //!< index of the member in the group
        uint32_t peer;         //!< RECV, RECV_REDUCE: member that sends the first message
        uint32_t steps;        //!< number of program steps that this step stands for
        uint32_t offset;       //!< REDUCE, RECV_REDUCE: first unit
        uint32_t count;        //!< number of units
        uint32_t messageBegin; //!< SEND: index of its first message in GetMessages
        uint32_t messageEnd;
        uint32_t nextBegin; //!< index in GetNext of the first step that waits for this step
        uint32_t nextEnd;
        uint32_t order; //!< place of the first program step in the program
        StepOp op;
        bool isFree; //!< true if the step waits for no other step
    };

    /// One phase of a set of members that exchange messages in that phase.
    struct Part
    {
        uint32_t phase;
        uint32_t dimension;
        uint32_t stepBegin; //!< index of the first step in GetSteps and GetPending
        uint32_t stepEnd;
        uint32_t memberBegin; //!< index of the first member in GetPlaces
        uint32_t memberEnd;
        uint32_t firsts; //!< number of members for which this is the first part
    };

    /// A member of a part.
    struct Place
    {
        uint32_t part;      //!< index of the part
        uint32_t member;    //!< index of the member in the group
        uint32_t steps;     //!< number of program steps of the member in this part
        uint32_t next;      //!< place of the member in its next part, or NONE
        uint32_t freeBegin; //!< index in GetFree of the first step that waits for no other step
        uint32_t freeEnd;
    };

    /// Size of the units of a chunk: unit u ends at byte u·whole + floor(u·rest / units).
    struct UnitSize
    {
        uint64_t whole;
        uint64_t rest; //!< less than the number of units
    };

    /**
     * @param program a validated program; used only during construction
     * @param groups the merged steps of the program; used only during construction
     * @throws std::invalid_argument if a step waits for ONE_MESSAGE or more other steps
     */
    ProgramTemplate(const Program& program, const StepGroups& groups);

    /// @return the parts, ordered by phase
    const std::vector<Part>& GetParts() const
    {
        return m_parts;
    }

    /// @return the steps, ordered by part
    const std::vector<Step>& GetSteps() const
    {
        return m_steps;
    }

    /// @return the messages; see Step::messageBegin
    const std::vector<Message>& GetMessages() const
    {
        return m_messages;
    }

    /**
     * @return per step: the number of steps that it waits for, plus ONE_MESSAGE for each message
     * that it receives. A step that waits for no other step waits for the admission of its member,
     * which counts as one step.
     */
    const std::vector<uint32_t>& GetPending() const
    {
        return m_pending;
    }

    /// @return the steps that wait for other steps; see Step::nextBegin
    const std::vector<uint32_t>& GetNext() const
    {
        return m_next;
    }

    /// @return the steps that wait for no other step; see Place::freeBegin
    const std::vector<uint32_t>& GetFree() const
    {
        return m_free;
    }

    /// @return the members of the parts; see Part::memberBegin
    const std::vector<Place>& GetPlaces() const
    {
        return m_places;
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

  private:
    void MakeParts(const Program& program, const StepGroups& groups, std::vector<uint32_t>& number);
    void MakeSteps(const Program& program,
                   const StepGroups& groups,
                   const std::vector<uint32_t>& number);
    void AddStep(const Program& program,
                 const StepGroups& groups,
                 const std::vector<uint32_t>& number,
                 uint32_t step);
    void SortSteps(const Part& part);
    void SortSlices();

    uint32_t m_units;
    bool m_equalUnits;
    std::vector<Part> m_parts;
    std::vector<Step> m_steps;
    std::vector<Message> m_messages;
    std::vector<uint32_t> m_pending;
    std::vector<uint32_t> m_next;
    std::vector<uint32_t> m_free;
    std::vector<Place> m_places;
    std::vector<uint32_t> m_firstPlace; //!< per member
    /// used during construction; per step: the first program step that it stands for
    std::vector<uint32_t> m_origin;
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
