/*
 * SPDX-License-Identifier: GPL-2.0-only
 */

#ifndef COSIM_PART_SHAPE_H
#define COSIM_PART_SHAPE_H

#include "stream/stream.h"
#include "system/step-groups.h"

#include <cstdint>
#include <span>
#include <vector>

namespace cosim
{

/**
 * The steps of one part of a program: of one phase, for a set of members that exchange messages in
 * this phase. Parts that differ only in their members and addresses share a shape.
 *
 * The members of a part are its *places*, which count from 0. The shape of a rotation (see Program
 * in network_api.proto) holds the steps of place 0 only; place p runs them with a *turn* of p. In
 * other shapes, each step belongs to one place, and the turn is 0.
 *
 * Steps that behave identically are merged into one step with several messages; see StepGroups. The
 * id of a step of a part combines the index of the step in the shape with its turn. Indices follow
 * the order in which steps become ready if every message takes the same time, so that the members
 * of a large group find their next steps in the cache.
 */
class PartShape
{
  public:
    /**
     * Amount by which each outstanding message raises the counter of a receiving step. The low bits
     * below this value count the steps that it still waits for.
     */
    static constexpr uint32_t ONE_MESSAGE = uint32_t{1} << 20;

    /// The address of a unit, for each turn.
    struct Address
    {
        uint32_t unit; //!< the address with turn 0
        uint32_t turn; //!< units that a turn of 1 adds; 0: the address does not turn
        uint32_t end;  //!< end of the region in which the address turns
    };

    /// A message of a SEND step.
    struct Message
    {
        uint32_t peer;  //!< place that receives the message, if the turn is 0
        uint32_t mate;  //!< id of the step that receives the message, without its turn
        Address first;  //!< first unit of the message
        uint32_t count; //!< number of units
        uint32_t route; //!< index of the path among the paths to the peer
        uint32_t order; //!< place in the program
    };

    /// A step, which can stand for several steps of the program.
    struct Step
    {
        uint32_t place;        //!< place of the step, if the turn is 0
        uint32_t peer;         //!< RECV, RECV_REDUCE: place that sends the first message, as above
        uint32_t steps;        //!< number of program steps that this step stands for
        Address first;         //!< REDUCE, RECV_REDUCE: first unit
        uint32_t count;        //!< number of units
        uint32_t messageBegin; //!< SEND: index of its first message in GetMessages
        uint32_t messageEnd;
        uint32_t nextBegin; //!< index in GetNext of the first step that waits for this step
        uint32_t nextEnd;
        uint32_t order; //!< place of the first program step in the program
        StepOp op;
        bool isFree; //!< true if the step waits for no other step
    };

    /// Some steps that follow each other in a program.
    struct Slice
    {
        uint32_t begin;
        uint32_t end;
    };

    /// The steps of a program that become a shape.
    struct Source
    {
        const Program& program;     //!< a validated program with steps
        const StepGroups& groups;   //!< its merged steps
        std::vector<Slice> steps{}; //!< per place; for a rotation, of place 0 only
        /// per member of the program: its place in the part
        std::vector<uint32_t> placeOf{};
        /// per step of the program: its index in the shape
        std::vector<uint32_t> number{};
        /// per step of the shape: the first program step that it stands for
        std::vector<uint32_t> origin{};
    };

    /**
     * @param source the steps, without their numbers; used only during construction
     * @throws std::invalid_argument if a step waits for ONE_MESSAGE or more other steps
     */
    explicit PartShape(Source& source);

    /// @return the step of an id
    const Step& GetStep(uint32_t id) const
    {
        return m_steps[id >> m_turnBits];
    }

    /// @return the turn of an id
    uint32_t GetTurn(uint32_t id) const
    {
        return id & m_turnMask;
    }

    /// @return the place of the step of an id
    uint32_t GetPlace(uint32_t id) const
    {
        return GetStep(id).place + GetTurn(id);
    }

    /**
     * @param peer Step::peer or Message::peer
     * @param turn turn of the step
     * @return the place of the peer
     */
    uint32_t GetPeer(uint32_t peer, uint32_t turn) const
    {
        const uint32_t place = peer + turn;
        return place < m_places ? place : place - m_places;
    }

    /**
     * @param message a message
     * @param place place that receives it, from GetPeer
     * @return the id of the step that receives it
     */
    uint32_t GetMate(const Message& message, uint32_t place) const
    {
        return message.mate + (place & m_turnMask);
    }

    /// @return the unit at an address of a step with a turn
    uint32_t GetUnit(const Address& address, uint32_t turn) const
    {
        const uint64_t unit = address.unit + uint64_t{turn} * address.turn;
        const bool isPast = address.turn != 0 && unit >= address.end;
        return static_cast<uint32_t>(isPast ? unit - uint64_t{m_places} * address.turn : unit);
    }

    /// @return the messages; see Step::messageBegin
    const std::vector<Message>& GetMessages() const
    {
        return m_messages;
    }

    /// @return ids, without the turn, of the steps that wait for other steps; see Step::nextBegin
    const std::vector<uint32_t>& GetNext() const
    {
        return m_next;
    }

    /// @return ids, without the turn, of the steps of a place that wait for no other step
    std::span<const uint32_t> GetFree(uint32_t place) const
    {
        const Slice& free = m_freeOf[m_turnMask == 0 ? place : 0];
        return std::span(m_free).subspan(free.begin, free.end - free.begin);
    }

    /// @return the turn of the steps of a place
    uint32_t GetTurnOf(uint32_t place) const
    {
        return place & m_turnMask;
    }

    /**
     * @return per step, without turns: the number of steps that it waits for, plus ONE_MESSAGE for
     * each message that it receives. A step that waits for no other step also waits for the
     * admission of its member, which does not count.
     */
    const std::vector<uint32_t>& GetPending() const
    {
        return m_pending;
    }

    /// @return the number of low bits of an id that hold the turn
    uint32_t GetTurnBits() const
    {
        return m_turnBits;
    }

    /// @return the number of turns: that of the places in a rotation, and otherwise 1
    uint32_t GetTurns() const
    {
        return m_turnMask == 0 ? 1 : m_places;
    }

    /**
     * @param f called with the first unit and the number of units of runs of units whose bytes add
     * up to those of all messages
     */
    template <typename Function>
    void ForEachSentRun(const Function& f) const
    {
        const uint32_t turns = GetTurns();
        for (const Message& message : m_messages)
        {
            // Messages as long as a turn cover the region without gaps.
            if (turns != 1 && message.count != 0 && message.first.turn == message.count &&
                message.first.unit % message.count == 0)
            {
                const uint32_t units = m_places * message.count;
                f(message.first.end - units, units);
                continue;
            }
            for (uint32_t turn = 0; turn < turns; ++turn)
            {
                f(GetUnit(message.first, turn), message.count);
            }
        }
    }

  private:
    void AddSteps(const Source& source);
    void AddStep(const Source& source, uint32_t place, uint32_t first);
    void AddDependencies(const Source& source);
    void FindFree(std::size_t places);
    void SortSteps();
    void SortSlices();
    void AddTurns();

    uint32_t m_places;
    uint32_t m_turnBits{0};
    uint32_t m_turnMask{0};
    std::vector<Step> m_steps;
    std::vector<Message> m_messages;
    std::vector<uint32_t> m_pending; //!< per step; see GetPending
    std::vector<uint32_t> m_next;
    std::vector<uint32_t> m_free;
    std::vector<Slice> m_freeOf; //!< per place: its steps in m_free
};

} // namespace cosim

#endif // COSIM_PART_SHAPE_H
