/*
 * SPDX-License-Identifier: GPL-2.0-only
 */

#ifndef COSIM_EPISODE_ZONE_H
#define COSIM_EPISODE_ZONE_H

#include "clock/causal-simulator.h"
#include "fabrics/packet/episode-player.h"

#include <cstddef>
#include <cstdint>
#include <vector>

namespace cosim
{

/// How much of a flow's messages has come out in an episode that is simulated.
struct EpisodePlayer::Progress
{
    static constexpr uint64_t NONE = UINT64_MAX;

    struct Message
    {
        uint64_t end; //!< in the bytes of the flow in the episode
        bool isAwaited;
    };

    std::vector<Message> messages;
    std::size_t deliveries{0}; //!< messages that are delivered
    std::size_t answers{0};    //!< messages that are acknowledged
    uint64_t delivered{0};     //!< bytes; so are the others
    uint64_t acked{0};
    uint64_t nextDelivery{NONE}; //!< end of the next message
    uint64_t nextAnswer{NONE};
    uint64_t ackedOnTape{0};
    uint64_t toldDelivered{0}; //!< what the client has heard of
    uint64_t toldAcked{0};
    std::size_t toldRoundTrips{0};

    /// @return the bytes of the messages that are delivered
    uint64_t GetDeliveredOnTape() const
    {
        return deliveries == 0 ? 0 : messages[deliveries - 1].end;
    }

    /// @return the end of a message, or NONE if it has not entered
    uint64_t GetEnd(std::size_t message) const
    {
        return message < messages.size() ? messages[message].end : NONE;
    }

    /// Note that a message has entered.
    void Push(uint64_t bytes, bool isAwaited)
    {
        messages.push_back({bytes + (messages.empty() ? 0 : messages.back().end), isAwaited});
        nextDelivery = GetEnd(deliveries);
        nextAnswer = GetEnd(answers);
    }
};

/// A zone. It is the event of its next item, if it is played.
struct EpisodePlayer::Zone final : public CausalEvent
{
    enum class State : uint8_t
    {
        SILENT,
        SIMULATED,
        PLAYED,
    };

    Zone(EpisodePlayer& owner, uint32_t number)
        : player(owner),
          id(number)
    {
    }

    void Become(State next)
    {
        player.m_playing -= state == State::PLAYED ? 1 : 0;
        player.m_playing += next == State::PLAYED ? 1 : 0;
        state = next;
    }

    // CausalEvent
    void Happen() override
    {
        if (state != State::PLAYED || duePs != player.m_clock.GetNowPs())
        { // the episode was taken back, or has another tape
            player.m_clock.NoteIdleEvent();
            return;
        }
        player.Play(*this);
    }

    EpisodePlayer& player;
    const uint32_t id;
    State state{State::SILENT};
    Tape tape;                        //!< that is made, or played; null: none
    int64_t startPs{0};               //!< start of the episode
    int64_t duePs{-1};                //!< PLAYED: time of the pending event; -1: none
    uint64_t episode{0};              //!< see Use
    std::size_t cursor{0};            //!< PLAYED: next item of the tape
    bool isDisturbed{false};          //!< true if it is always simulated from now on
    uint64_t beginning{0};            //!< SIMULATED: digest of all that has entered
    uint64_t unacked{0};              //!< SIMULATED: bytes that are not acknowledged
    std::vector<FlowId> flows;        //!< the flows of the tape
    std::vector<uint32_t> parts;      //!< the parts of the tape
    std::vector<Progress> progress;   //!< SIMULATED: per flow
    std::vector<LinkCounters> before; //!< SIMULATED: per part
};

} // namespace cosim

#endif // COSIM_EPISODE_ZONE_H
