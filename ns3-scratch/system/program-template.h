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
 * A program made ready to run: what all chunks of all its collectives share.
 *
 * Steps that nothing can tell apart are one (see StepGroups), with as many messages. The steps are
 * divided into *parts*. A part is one phase of one set of members that exchange
 * messages in it, directly or over others; it is what starts as a whole. The state of a running
 * part is one counter a step, copied from GetPending's slice.
 */
class ProgramTemplate
{
  public:
    /// No part, no step.
    static constexpr uint32_t NONE = ~uint32_t{0};

    /// Added to the counter of a step that receives for each message that has not arrived; below
    /// are the steps it waits for.
    static constexpr uint32_t ONE_MESSAGE = uint32_t{1} << 20;

    /// What a SEND step sends; numbers of steps count from the first step of their part.
    struct Message
    {
        uint32_t peer;   //!< member of the group that receives it
        uint32_t mate;   //!< the step that receives it
        uint32_t offset; //!< first unit
        uint32_t count;  //!< units
        uint32_t route;  //!< which path to the peer
    };

    /// One step.
    struct Step
    {
        uint32_t place;        //!< index of its member among those of the part
        uint32_t member;       //!< of the group
        uint32_t peer;         //!< RECV, RECV_REDUCE: the member that sends the first message
        uint32_t steps;        //!< how many of the program's it is
        uint32_t offset;       //!< REDUCE, RECV_REDUCE: first unit
        uint32_t count;        //!< units
        uint32_t messageBegin; //!< SEND: into GetMessages
        uint32_t messageEnd;
        uint32_t nextBegin; //!< the steps that wait for it, into GetNext
        uint32_t nextEnd;
        StepOp op;
        bool isFree; //!< it waits for no other step
    };

    /// One phase of members that exchange messages in it.
    struct Part
    {
        uint32_t phase;
        uint32_t dimension;
        uint32_t stepBegin; //!< into GetSteps and GetPending
        uint32_t stepEnd;
        uint32_t memberBegin; //!< into GetPlaces
        uint32_t memberEnd;
        uint32_t readyBegin; //!< the steps that wait for nothing, into GetReady
        uint32_t readyEnd;
        uint32_t firsts; //!< for how many of its members it is the first part
    };

    /// One member of a part.
    struct Place
    {
        uint32_t member;   //!< of the group
        uint32_t steps;    //!< how many of the program's it has in the part
        uint32_t nextPart; //!< the part it is in afterwards, or NONE
    };

    /// Unit u of a chunk ends at u·whole + floor(u·rest / units) bytes.
    struct UnitSize
    {
        uint64_t whole;
        uint64_t rest; //!< less than there are units
    };

    /**
     * @param program a validated program; not used afterwards
     * @param groups its steps that are one; not used afterwards
     * @throws std::invalid_argument if a step waits for ONE_MESSAGE others
     */
    ProgramTemplate(const Program& program, const StepGroups& groups);

    /// @return the parts, by phase
    const std::vector<Part>& GetParts() const
    {
        return m_parts;
    }

    /// @return the steps, by part
    const std::vector<Step>& GetSteps() const
    {
        return m_steps;
    }

    /// @return see Step::messageBegin
    const std::vector<Message>& GetMessages() const
    {
        return m_messages;
    }

    /// @return per step: steps it waits for, plus ONE_MESSAGE for each it receives
    const std::vector<uint32_t>& GetPending() const
    {
        return m_pending;
    }

    /// @return see Step::nextBegin
    const std::vector<uint32_t>& GetNext() const
    {
        return m_next;
    }

    /// @return see Part::readyBegin
    const std::vector<uint32_t>& GetReady() const
    {
        return m_ready;
    }

    /// @return see Part::memberBegin
    const std::vector<Place>& GetPlaces() const
    {
        return m_places;
    }

    /**
     * @param member a member of the group
     * @return its first part, or NONE if it has no steps
     */
    uint32_t GetFirstPart(uint32_t member) const
    {
        return m_firstPart[member];
    }

    /// @param chunkBytes the size of a chunk [bytes]
    UnitSize GetUnitSize(uint64_t chunkBytes) const;

    /**
     * @param size of the units of a chunk
     * @param offset the first unit
     * @param count how many units
     * @return their size [bytes]
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
     * @param chunkBytes the size of a chunk [bytes]
     * @return what all its SEND steps carry [bytes]
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

    uint32_t m_units;
    bool m_equalUnits;
    std::vector<Part> m_parts;
    std::vector<Step> m_steps;
    std::vector<Message> m_messages;
    std::vector<uint32_t> m_pending;
    std::vector<uint32_t> m_next;
    std::vector<uint32_t> m_ready;
    std::vector<Place> m_places;
    std::vector<uint32_t> m_firstPart; //!< per member
    std::vector<uint32_t> m_origin;    //!< per step, while constructing: its first of the program
};

/**
 * @param bytes the buffer of a collective [bytes]
 * @param chunks into how many chunks it is divided
 * @param chunk which one
 * @return its size [bytes]
 */
uint64_t GetChunkBytes(uint64_t bytes, uint32_t chunks, uint32_t chunk);

} // namespace cosim

#endif // COSIM_PROGRAM_TEMPLATE_H
