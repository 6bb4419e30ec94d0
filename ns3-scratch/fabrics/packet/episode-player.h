/*
 * SPDX-License-Identifier: GPL-2.0-only
 */

#ifndef COSIM_EPISODE_PLAYER_H
#define COSIM_EPISODE_PLAYER_H

#include "clock/causal-simulator.h"
#include "clock/last-event.h"
#include "fabrics/packet/datapath.h"
#include "fabrics/packet/episode-tape.h"
#include "fabrics/packet/tape-library.h"
#include "network/path-shapes.h"
#include "network/zones.h"

#include <cstddef>
#include <cstdint>
#include <memory>
#include <span>
#include <vector>

namespace cosim
{

/**
 * A datapath that simulates each episode of a zone only once. An equal episode, of this zone or
 * another, is played from the tape of the first one, without packets.
 *
 * Two episodes are equal if they begin in the same state and the same enters them at the same
 * times, whatever their ranks, flows and links are called. Nothing else has an influence on a zone,
 * so the same comes out of them, to the picosecond. What enters is compared as it comes. If it
 * differs from the tape, and from all other tapes that begin in the same way, the episode is
 * simulated from its start up to now, on a queue of its own and with the clock set back, and
 * continues with packets. What came out of it before stays right.
 *
 * A tape can be followed while it is being made. Servers that do the same begin in the same
 * picosecond, so the first one is simulated and the others follow it.
 *
 * Episodes in which packets are lost, what comes after them in the same zone, and flows whose state
 * cannot be compared, are simulated.
 */
class EpisodePlayer final : public Datapath, private DatapathClient
{
  public:
    /**
     * @param setup what the datapath works with
     * @param client notified of what happens to flows and packets
     * @param make makes the datapath that carries packets
     */
    EpisodePlayer(const DatapathSetup& setup, DatapathClient& client, const DatapathMaker& make);

    ~EpisodePlayer() override;

    // Datapath
    void Open(const HandshakePlan& handshakes) override;
    void Submit(std::span<const Submission> submissions) override;
    void Finish() override;
    void Update() override;
    uint64_t CountUntold() const override;
    uint32_t GetWindow(FlowId flow) const override;
    PacketCounts GetSent() const override;
    LinkCounters GetLink(uint32_t link) const override;
    void AddStatistics(NetworkStatistics& statistics) const override;
    LinkControl* GetLinkControl() override;

  private:
    using Tape = TapeLibrary::Tape;
    using Item = EpisodeTape::Item;
    using Kind = EpisodeTape::Kind;

    /// A message that enters a zone.
    struct Input
    {
        int64_t atPs; //!< since the start of the episode
        Submission what;
    };

    struct Zone;
    struct Progress;

    /// What enters a zone in a picosecond.
    struct Group
    {
        Zone* zone;
        std::span<const Submission> messages;
    };

    /// The number of a flow or part in the episode of its zone.
    struct Use
    {
        Zone* zone{nullptr}; //!< null if nothing has entered it yet
        uint64_t episode{0}; //!< the episode for which the number was given
        uint32_t number{0};
    };

    // DatapathClient
    void OnDelivered(FlowId flow, uint64_t bytes) override;
    void OnAcked(FlowId flow, uint64_t bytes) override;
    void OnRetransmitted(FlowId flow, uint32_t payloadBytes) override;
    void OnRepeated(FlowId flow) override;
    void OnRttSample(FlowId flow, ns3::Time rtt, ns3::Time oldest) override;
    void OnTimeout(FlowId flow, ns3::Time waited) override;
    void OnClosed(FlowId flow) override;
    void OnDropped(uint32_t link, uint32_t wireBytes) override;
    void AddUndelivered(std::vector<uint64_t>& bytes) const override;
    void OnReplayed(FlowId flow, int64_t startPs, std::span<const RoundTrip> roundTrips) override;

    Zone& FindZone(FlowId flow);

    void Begin(Zone& zone, std::span<const Submission> messages);

    // An episode that is simulated.
    void Lead(Zone& zone);
    void Feed(Zone& zone, std::span<const Submission> messages);
    bool Number(Zone& zone, FlowId id);
    uint64_t Extend(Zone& zone, uint64_t digest, const Input& input);
    void AddFlow(Zone& zone, FlowId id);
    uint64_t GetFirstLength() const;
    bool IsTooLong(const Zone& zone);
    void Deliver(Zone& zone, uint32_t number);
    void Answer(Zone& zone, uint32_t number);
    void TellDelivered(Zone& zone, uint32_t number, uint64_t end);
    void TellAcked(Zone& zone, uint32_t number, uint64_t end);
    void TellBytes(Zone& zone);
    void TellRoundTrips(Zone& zone);
    void Append(EpisodeTape& tape, const Item& item);
    void EndLead(Zone& zone);
    void StopTape(Zone& zone);
    void Summarize(const Zone& zone, EpisodeTape& tape);
    void Disturb(Zone& zone);
    void Break(const Zone& zone);
    void Break(const Tape& tape);

    // An episode that is played.
    bool Follow(Zone& zone, std::span<const Input> inputs);
    bool Matches(Zone& zone, const EpisodeTape& tape, std::span<const Input> inputs);
    bool MatchItem(Zone& zone, const EpisodeTape& tape, const Input& input, bool isNew);
    bool FitsFlow(const EpisodeTape& tape, uint32_t number, FlowId id);
    void Compare(Zone& zone, std::span<const Submission> messages);
    void Play(Zone& zone);
    void Schedule(Zone& zone, int64_t duePs);
    void EndPlay(Zone& zone);
    void Count(const Zone& zone, const EpisodeTape& tape);
    void Check();
    void Leave(Zone& zone, std::span<const Submission> messages);
    static void Detach(const Zone& zone);
    std::vector<Input> GetInputs(const Zone& zone) const;
    void TakeBack(Zone& zone, std::span<const Input> inputs);

    const Zones& m_zoneOf;
    DatapathClient& m_client;
    CausalSimulator& m_clock;
    PathShapes m_shapes;
    std::unique_ptr<Datapath> m_packets;
    ReplayableDatapath* m_replayable; //!< part of m_packets
    std::vector<std::unique_ptr<Zone>> m_zones;
    std::vector<Use> m_flowUse;
    std::vector<Use> m_partUse;
    PacketCounts m_sent;                //!< packets that were not simulated
    std::vector<LinkCounters> m_played; //!< per link: what it counted without packets, and before
    TapeLibrary m_tapes;
    std::vector<Submission> m_sorted; //!< what enters now, by zone
    std::vector<Group> m_groups;      //!< those of zones that are not simulated
    std::vector<Input> m_inputs;
    std::vector<uint32_t> m_parts;
    std::vector<Zone*> m_expecting; //!< zones whose tapes say that something enters now
    std::vector<Tape> m_broken;
    LastEvent m_check{LastEvent::Turn::CHECK, [this] { Check(); }};
    Zone* m_aside{nullptr};     //!< the zone that is simulated again, or null
    std::size_t m_playing{0};   //!< number of zones that are played
    uint64_t m_lengthOfMade{0}; //!< of the tapes that are being made
    uint64_t m_episode{0};      //!< number of the last episode, or attempt to match one
    Replay m_counts;
};

} // namespace cosim

#endif // COSIM_EPISODE_PLAYER_H
