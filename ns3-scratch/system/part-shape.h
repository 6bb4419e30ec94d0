/*
 * SPDX-License-Identifier: GPL-2.0-only
 */

#ifndef COSIM_PART_SHAPE_H
#define COSIM_PART_SHAPE_H

#include "stream/stream.h"
#include "system/step-groups.h"
#include "system/step-ids.h"

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
 * in network_api.proto) holds the steps of its first B places only; place q·B + b runs those of
 * place b with a *turn* of q. The shape of a repetition holds the steps of its first turn. In other
 * shapes, the turn is 0.
 *
 * Steps that behave identically are merged into one step with several messages; see StepGroups. If
 * they do so in all repetitions, one *shared* step with turn 0 has the messages of all turns. The
 * id of a step of a part combines the index of the step in the shape with its turn; see StepIds.
 * Indices begin with the first steps of all places, then come their second ones, and so on, so that
 * steps that run at about the same time are next to each other. Shared steps come after all others.
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
        uint32_t end;  //!< rotation: end of the region in which the address turns
    };

    /// A message of a SEND step.
    struct Message
    {
        uint32_t peer;     //!< place that receives the message, if the turn is 0
        uint32_t receiver; //!< id of the step that receives the message, if the turn is 0
        Address first;     //!< first unit of the message
        uint32_t count;    //!< number of units
        uint32_t route;    //!< index of the path among the paths to the peer
        uint32_t order;    //!< place in the program, with turn 0
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
        uint32_t order;     //!< place of the first program step in the program, with turn 0
        uint32_t orderTurn; //!< what a turn adds to the place in the program
        StepOp op;
        bool isRoot;   //!< true if the step waits for no other step of the part
        bool isShared; //!< true if the step is shared by all repetitions
    };

    /// Some steps that follow each other in a program.
    struct StepRange
    {
        uint32_t begin;
        uint32_t end;
    };

    /// The program step for which a step stands, the first one if there are several.
    struct Origin
    {
        uint32_t step;
        uint32_t place;
        uint32_t round; //!< number of steps of its place before it
        bool isShared;  //!< see Step::isShared
    };

    /// The steps of a program that become a shape.
    struct Source
    {
        const Program& program;         //!< a validated program with steps
        const StepGroups& groups;       //!< its merged steps
        std::vector<StepRange> steps{}; //!< per place; for a rotation, of its first places only
        /// per member of the program: its place in the part
        std::vector<uint32_t> placeOf{};
        /// per step of the program: its index in the shape
        std::vector<uint32_t> number{};
        /// per step of the shape
        std::vector<Origin> origin{};
    };

    /**
     * @param source the steps, without their numbers; used only during construction
     * @throws std::invalid_argument if a step waits for ONE_MESSAGE or more other steps
     */
    explicit PartShape(Source& source);

    /// @return the step of an id
    const Step& GetStep(uint32_t id) const
    {
        return m_steps[m_ids.GetIndex(id)];
    }

    /// @return the turn of an id
    uint32_t GetTurn(uint32_t id) const
    {
        return m_ids.GetTurn(id);
    }

    /// @return the place of the step of an id
    uint32_t GetPlace(uint32_t id) const
    {
        return GetStep(id).place + GetTurn(id) * m_block;
    }

    /**
     * @param peer Step::peer or Message::peer
     * @param turn turn of the step
     * @return the place of the peer
     */
    uint32_t GetPeer(uint32_t peer, uint32_t turn) const
    {
        const uint32_t place = peer + turn * m_block;
        return place < m_places ? place : place - m_places;
    }

    /**
     * @param message a message
     * @param turn turn of the message
     * @param place place that receives it, from GetPeer
     * @return the id of the step that receives it
     */
    uint32_t GetMate(const Message& message, uint32_t turn, uint32_t place) const
    {
        if (m_block != 0)
        {
            const bool isPast = place < message.peer;
            return message.receiver + turn - (isPast ? m_ids.GetTurns() : 0);
        }
        return m_ids.IsShared(m_ids.GetIndex(message.receiver))
                   ? message.receiver
                   : m_ids.AtTurn(message.receiver, turn);
    }

    /// @return the unit at an address of a step with a turn
    uint32_t GetUnit(const Address& address, uint32_t turn) const
    {
        const uint64_t unit = address.unit + uint64_t{turn} * address.turn;
        const bool isPast = address.turn != 0 && unit >= address.end;
        return static_cast<uint32_t>(isPast ? unit - uint64_t{m_ids.GetTurns()} * address.turn
                                            : unit);
    }

    /**
     * @param id id of a SEND step
     * @param f called with each of its messages and the message's turn, in the order of the program
     */
    template <typename Function>
    void ForEachMessage(uint32_t id, const Function& f) const
    {
        const Step& step = GetStep(id);
        const uint32_t first = GetTurn(id);
        const uint32_t end = step.isShared ? m_ids.GetTurns() : first + 1;
        for (uint32_t turn = first; turn < end; ++turn)
        {
            for (uint32_t i = step.messageBegin; i < step.messageEnd; ++i)
            {
                f(m_messages[i], turn);
            }
        }
    }

    /**
     * @param id id of a step
     * @param f called with the id of each step that waits for it
     */
    template <typename Function>
    void ForEachNext(uint32_t id, const Function& f) const
    {
        const Step& step = GetStep(id);
        const uint32_t turn = GetTurn(id);
        for (uint32_t i = step.nextBegin; i < step.nextEnd; ++i)
        {
            f(m_ids.AtTurn(m_next[i], turn));
        }
    }

    /**
     * @param place a place
     * @param f called with the id of each of its steps that wait for no other step, in the order of
     * the program
     */
    template <typename Function>
    void ForEachRoot(uint32_t place, const Function& f) const
    {
        const bool turnsPlace = m_block != 0;
        const StepRange& roots = m_rootsOf[turnsPlace ? place % m_block : place];
        const uint32_t first = turnsPlace ? place / m_block : 0;
        const uint32_t end = turnsPlace ? first + 1 : m_ids.GetTurns();
        for (uint32_t turn = first; turn < end; ++turn)
        {
            for (uint32_t i = roots.begin; i < roots.end; ++i)
            {
                if (turn == first || !m_ids.IsShared(m_ids.GetIndex(m_roots[i])))
                {
                    f(m_ids.AtTurn(m_roots[i], turn));
                }
            }
        }
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

    /// @return the ids of the steps
    const StepIds& GetIds() const
    {
        return m_ids;
    }

    /**
     * @param f called with the first unit and the number of units of runs of units whose bytes add
     * up to those of all messages
     */
    template <typename Function>
    void ForEachSentRun(const Function& f) const
    {
        const uint32_t turns = m_ids.GetTurns();
        for (const Message& message : m_messages)
        {
            // Messages as long as a turn cover a region without gaps.
            if (turns != 1 && message.count != 0 && message.first.turn == message.count &&
                (m_block == 0 || message.first.unit % message.count == 0))
            {
                const uint32_t units = turns * message.count;
                f(m_block == 0 ? message.first.unit : message.first.end - units, units);
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
    void AddStep(const Source& source, const Origin& origin);
    void AddDependencies(const Source& source);
    void FindRoots(const Source& source);
    void MakeIds(const Program& program);

    uint32_t m_places; //!< of a rotation, after which places begin anew; else no place is so large
    uint32_t m_block;  //!< what a turn adds to the place: the first places of a rotation, else 0
    StepIds m_ids;
    std::vector<Step> m_steps;
    std::vector<Message> m_messages;
    std::vector<uint32_t> m_pending;  //!< per step; see GetPending
    std::vector<uint32_t> m_next;     //!< ids with turn 0; see Step::nextBegin
    std::vector<uint32_t> m_roots;    //!< ids with turn 0
    std::vector<StepRange> m_rootsOf; //!< per place: its steps in m_roots
};

} // namespace cosim

#endif // COSIM_PART_SHAPE_H
