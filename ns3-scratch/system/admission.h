/*
 * SPDX-License-Identifier: GPL-2.0-only
 */

#ifndef COSIM_ADMISSION_H
#define COSIM_ADMISSION_H

#include <cstdint>
#include <string>

namespace cosim
{

/// A part of a chunk: one phase of the chunk, for the members that exchange messages in that phase.
struct ChunkPart
{
    uint32_t collective; //!< id of the collective
    uint32_t part;       //!< index of the part in the template of the collective's program
    uint32_t chunk;

    bool operator==(const ChunkPart&) const = default;
};

/// Starts what an Admission admits.
class AdmissionHandler
{
  public:
    virtual ~AdmissionHandler() = default;

    /**
     * Start a part of a chunk at some of its members. Each of them has taken a slot, which
     * Admission::Leave gives back.
     *
     * @param part the part
     * @param placeBegin the first of the members, as an index in ProgramTemplate::GetPlaces
     * @param placeEnd the end of the members
     */
    virtual void OnAdmitted(const ChunkPart& part, uint32_t placeBegin, uint32_t placeEnd) = 0;
};

/**
 * Decides when a member starts its next part of a chunk. Every rank has a fixed number of slots in
 * each dimension, and a started part of a chunk has a slot at each of its members until the member
 * has finished its steps.
 */
class Admission
{
  public:
    virtual ~Admission() = default;

    /**
     * A member has issued a collective: all of its chunks reach the first part of the member.
     *
     * @param collective id of the collective
     * @param member index in the group of a member that has steps
     */
    virtual void Begin(uint32_t collective, uint32_t member) = 0;

    /**
     * A member has finished a part, and the next part of the same chunk follows.
     *
     * @param collective id of the collective
     * @param chunk index of the chunk
     * @param place the member in the next part, as an index in ProgramTemplate::GetPlaces
     */
    virtual void Reach(uint32_t collective, uint32_t chunk, uint32_t place) = 0;

    /**
     * A message of a part has arrived at a member that has not been admitted.
     *
     * @param part the part
     * @param place the member, as an index in ProgramTemplate::GetPlaces
     */
    virtual void NoteData(const ChunkPart& part, uint32_t place) = 0;

    /**
     * A member has finished its steps of a part: its slot is free. Call Reach first, so that the
     * first of all waiting parts gets the slot.
     *
     * @param part the part
     * @param place the member, as an index in ProgramTemplate::GetPlaces
     */
    virtual void Leave(const ChunkPart& part, uint32_t place) = 0;

    /**
     * @param dimension a dimension
     * @return the largest number of slots that one rank had in use at the same time
     */
    virtual uint32_t GetMaxOutstanding(uint32_t dimension) const = 0;

    /**
     * Describe the chunks that wait for slots, in a run that cannot continue.
     *
     * @return part of a sentence; empty if the slots are not the reason
     */
    virtual std::string DescribeDeadlock() const = 0;
};

} // namespace cosim

#endif // COSIM_ADMISSION_H
