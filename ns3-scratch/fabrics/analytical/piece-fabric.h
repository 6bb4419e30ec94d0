/*
 * SPDX-License-Identifier: GPL-2.0-only
 */

#ifndef COSIM_PIECE_FABRIC_H
#define COSIM_PIECE_FABRIC_H

#include "fabrics/analytical/piece-link-control.h"
#include "fabrics/message/message-fabric.h"
#include "support/ring-buffer.h"
#include "support/slot-pool.h"

#include <cstdint>
#include <span>
#include <vector>

namespace cosim
{

/**
 * Whole messages, one behind the other on each link, over links that change during the run.
 *
 * The times are those of AnalyticalFabric. That fabric forgets a message on a link as soon as it
 * knows when the message leaves. This one remembers where each message is, at some cost, so that a
 * change of the links can take it apart into pieces (see PieceLinkControl). A message has arrived
 * when all of its pieces have. Messages of one path arrive in the order in which they were sent.
 */
class PieceFabric : public MessageFabric
{
  public:
    /**
     * @param topology links and paths of the start, with reconfiguration
     * @param settings the settings; outlive the fabric
     */
    PieceFabric(const Topology& topology, const Settings& settings);

    // Fabric
    LinkControl* GetLinkControl() override;

  protected:
    void Launch(std::span<const Cargo> cargo, uint64_t at, uint64_t now) override;
    void OnDue(uint32_t subject, uint64_t now) override;
    std::vector<LinkCounters> GetLinkCounters() const override;

  private:
    friend class PieceLinkControl;

    /// A message that has not arrived. Slots of this kind are used again.
    struct Message
    {
        WireSize size;
        uint64_t number{0};   //!< counts up
        uint64_t sentAt{0};   //!< [ps]
        uint64_t lastByte{0}; //!< when the latest piece arrived [ps]
        uint32_t path{0};
        uint32_t bundle{0};
        uint32_t pieces{0}; //!< that have not arrived
    };

    /// When a piece is on a link.
    struct Passage
    {
        uint32_t link;
        uint64_t transmission; //!< of all of it [ps]
        uint64_t start;        //!< [ps]
        uint64_t end;          //!< [ps]
    };

    /// A part of a message, mostly all of it. Slots of this kind are used again.
    struct Piece
    {
        uint32_t message{NONE}; //!< NONE: a free slot
        uint32_t node{0};       //!< where it comes next
        uint32_t due{NONE};     //!< what is planned for it, into m_due
        uint32_t firstBytes{0}; //!< its first packet on the wire
        uint32_t lastBytes{0};  //!< its last packet on the wire
        uint64_t wireBytes{0};
        uint64_t arrival{0};           //!< of its first packet at the node [ps]
        uint64_t lastByte{0};          //!< of its last packet there; 0: all of it is there [ps]
        std::vector<Passage> passages; //!< since the last pause
    };

    /// A link, and what it did.
    struct Link
    {
        uint64_t free{0};               //!< when what has come is carried [ps]
        uint64_t busy{0};               //!< [ps]
        uint64_t wireBytes{0};          //!< carried
        uint64_t longestWait{0};        //!< of a piece that had been on another link [ps]
        std::vector<uint32_t> expected; //!< pieces that come, and end here
    };

    uint32_t MakeMessage(const Cargo& cargo, uint64_t at);
    uint32_t MakePiece(uint32_t message, uint32_t node, uint64_t wireBytes, uint64_t arrival);
    void FreePiece(uint32_t id);
    void Enter(uint32_t id, uint64_t now);
    void EnterExpected(uint32_t link, uint64_t before);
    void Carry(uint32_t id, uint32_t link);
    void PlanPiece(uint32_t id, uint64_t at);
    void CancelPlan(uint32_t id);
    void Complete(uint32_t message, uint64_t now);
    static uint64_t GetSent(const Passage& passage, uint64_t wireBytes, uint64_t now);

    PieceLinkControl m_control;
    SlotPool<Message> m_messages;
    SlotPool<Piece> m_pieces;
    SlotPool<uint32_t> m_due;        //!< pieces for which something is planned, or NONE
    std::vector<uint32_t> m_waiting; //!< pieces that have no link
    std::vector<Link> m_links;
    std::vector<RingBuffer<uint32_t>> m_underWay; //!< per path, messages
    std::vector<uint64_t> m_lastArrival;          //!< per path [ps]
    uint64_t m_sent{0};                           //!< messages
};

} // namespace cosim

#endif // COSIM_PIECE_FABRIC_H
