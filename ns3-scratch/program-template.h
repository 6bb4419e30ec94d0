/*
 * SPDX-License-Identifier: GPL-2.0-only
 */

#ifndef COSIM_PROGRAM_TEMPLATE_H
#define COSIM_PROGRAM_TEMPLATE_H

#include "stream.h"

#include <cstdint>
#include <vector>

namespace cosim
{

/**
 * A program made ready to run: what all chunks of all its collectives share.
 *
 * The steps are divided into *parts*. A part is one phase of one set of members that exchange
 * messages in it, directly or over others; it is what starts as a whole. The state of a running
 * part is one counter a step, copied from GetPending's slice.
 */
class ProgramTemplate
{
  public:
    /// No part, no step.
    static constexpr uint32_t NONE = ~uint32_t{0};

    /// Set in the counter of a step that receives until its message has arrived.
    static constexpr uint32_t AWAITS_MESSAGE = uint32_t{1} << 31;

    /// One step; numbers of steps count from the first step of its part.
    struct Step
    {
        uint32_t place;     //!< index of its member among those of the part
        uint32_t member;    //!< of the group
        uint32_t peer;      //!< SEND, RECV, RECV_REDUCE: the other member of the group
        uint32_t mate;      //!< SEND: the step that receives
        uint32_t offset;    //!< first unit
        uint32_t count;     //!< units
        uint32_t nextBegin; //!< the steps that wait for it, into GetNext
        uint32_t nextEnd;
        uint32_t route; //!< SEND: which path to the peer
        StepOp op;
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
        uint32_t steps;    //!< how many it has in the part
        uint32_t nextPart; //!< the part it is in afterwards, or NONE
    };

    /// @param program a validated program; not used afterwards
    explicit ProgramTemplate(const Program& program);

    /// @return the parts, by phase
    const std::vector<Part>& GetParts() const;

    /// @return the steps, by part
    const std::vector<Step>& GetSteps() const;

    /// @return per step: steps it waits for, plus AWAITS_MESSAGE if it receives
    const std::vector<uint32_t>& GetPending() const;

    /// @return see Step::nextBegin
    const std::vector<uint32_t>& GetNext() const;

    /// @return see Part::readyBegin
    const std::vector<uint32_t>& GetReady() const;

    /// @return see Part::memberBegin
    const std::vector<Place>& GetPlaces() const;

    /**
     * @param member a member of the group
     * @return its first part, or NONE if it has no steps
     */
    uint32_t GetFirstPart(uint32_t member) const;

    /**
     * @param chunkBytes the size of the chunk [bytes]
     * @param offset the first unit
     * @param count how many units
     * @return their size [bytes]
     */
    uint64_t GetBytes(uint64_t chunkBytes, uint32_t offset, uint32_t count) const;

    /**
     * @param chunkBytes the size of a chunk [bytes]
     * @return what all its SEND steps carry [bytes]
     */
    uint64_t GetSentBytes(uint64_t chunkBytes) const;

  private:
    void MakeParts(const Program& program, std::vector<uint32_t>& number);
    void MakeSteps(const Program& program, const std::vector<uint32_t>& number);

    uint32_t m_units;
    bool m_equalUnits;
    std::vector<Part> m_parts;
    std::vector<Step> m_steps;
    std::vector<uint32_t> m_pending;
    std::vector<uint32_t> m_next;
    std::vector<uint32_t> m_ready;
    std::vector<Place> m_places;
    std::vector<uint32_t> m_firstPart; //!< per member
    std::vector<uint32_t> m_origin;    //!< per step, while constructing: its number in the program
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
