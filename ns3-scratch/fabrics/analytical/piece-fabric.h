/*
 * SPDX-License-Identifier: GPL-2.0-only
 */

#ifndef COSIM_PIECE_FABRIC_H
#define COSIM_PIECE_FABRIC_H

#include "fabrics/analytical/ack-stalls.h"
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
 * The analytical estimate over links that change during the run.
 *
 * The times are those of AnalyticalFabric, but messages do not wait for windows and do not pass
 * each other. That fabric forgets a message on a link as soon as it knows when the message leaves.
 * This fabric remembers where each message is, which costs more, so that a change of the links can
 * cut off the piece that has arrived (see PieceLinkControl). Messages of one path arrive in the
 * order in which they were sent.
 */
class PieceFabric : public MessageFabric
{
  public:
    /**
     * @param topology links and paths at the start of the run, with reconfiguration; must outlive
     * the fabric
     * @param settings run settings; must outlive the fabric
     */
    PieceFabric(const Topology& topology, const Settings& settings);

    // Fabric
    LinkControl* GetLinkControl() override;

  protected:
    void Launch(std::span<const Cargo> cargo, uint64_t at, uint64_t now) override;
    void OnDue(uint32_t subject, uint64_t now) override;
    std::vector<LinkCounters> GetLinks() const override;

  private:
    friend class PieceLinkControl;

    /// A message that has not arrived. Slots are reused.
    struct Message
    {
        WireSize size;
        uint64_t number{0};   //!< increases with each message
        uint64_t sentAt{0};   //!< [ps]
        uint64_t lastByte{0}; //!< arrival of the latest piece [ps]
        uint32_t path{0};
        uint32_t bundle{0};
        uint32_t pieces{0}; //!< number of pieces that have not arrived
    };

    /// The time that a piece spends on a link.
    struct Passage
    {
        uint32_t link;
        uint64_t transmission; //!< of the whole piece [ps]
        uint64_t start;        //!< [ps]
        uint64_t end;          //!< [ps]
    };

    /// A part of a message, usually the whole message. Slots are reused.
    struct Piece
    {
        uint32_t message{NONE}; //!< NONE: a free slot
        uint32_t node{0};       //!< node at which it arrives next
        uint32_t due{NONE};     //!< index in m_due of its planned event, or NONE
        uint32_t firstBytes{0}; //!< size of its first packet on the wire [bytes]
        uint32_t lastBytes{0};  //!< size of its last packet on the wire [bytes]
        uint64_t wireBytes{0};
        uint64_t arrival{0}; //!< arrival of its first packet at the node [ps]
        /// arrival of its last packet there; 0: the whole piece is there [ps]
        uint64_t lastByte{0};
        std::vector<Passage> passages; //!< links that it has used since the last pause
    };

    /// A link with its counters.
    struct Link
    {
        uint64_t free{0};        //!< end of the last arrived piece's transmission [ps]
        uint64_t busy{0};        //!< [ps]
        uint64_t wireBytes{0};   //!< bytes carried
        uint64_t longestWait{0}; //!< longest wait of a piece that came from another link [ps]
        /// pieces that have not arrived yet and leave the network at the end of this link
        std::vector<uint32_t> expected;
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
    AckStalls m_stalls;
    SlotPool<Message> m_messages;
    SlotPool<Piece> m_pieces;
    SlotPool<uint32_t> m_due;        //!< pieces with a planned event; NONE: a free entry
    std::vector<uint32_t> m_waiting; //!< pieces that have no link to continue on
    std::vector<Link> m_links;
    /// per path: ids of the messages that have not arrived
    std::vector<RingBuffer<uint32_t>> m_underWay;
    std::vector<uint64_t> m_lastArrival; //!< per path [ps]
    uint64_t m_sent{0};                  //!< number of messages sent
};

} // namespace cosim

#endif // COSIM_PIECE_FABRIC_H
