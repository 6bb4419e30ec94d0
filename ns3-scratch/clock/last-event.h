/*
 * SPDX-License-Identifier: GPL-2.0-only
 */

#ifndef COSIM_LAST_EVENT_H
#define COSIM_LAST_EVENT_H

#include "clock/causal-simulator.h"

#include <cstdint>
#include <functional>
#include <limits>
#include <utility>

namespace cosim
{

/**
 * Calls a function after all other events of the current picosecond, also those that are not
 * scheduled yet. What the function decides does therefore not depend on the order of these events.
 */
class LastEvent : private CausalEvent
{
  public:
    /// The order of the last events of a picosecond.
    enum class Turn : uint8_t
    {
        ARRIVE, //!< messages that have arrived are handed over
        CHOOSE, //!< processors choose what they do next, which can make messages ready
        SEND,   //!< messages are handed to the network
        SUBMIT, //!< messages enter their flows
        CHECK,  //!< what has entered is compared with what entered before
        END,    //!< the run ends, if the workload is done
    };

    /**
     * @param turn the turn of the event
     * @param function the function to call
     */
    LastEvent(Turn turn, std::function<void()> function)
        : m_turn(turn),
          m_function(std::move(function))
    {
    }

    LastEvent(const LastEvent&) = delete;
    LastEvent& operator=(const LastEvent&) = delete;

    /// Call the function in this picosecond, once for all requests until then.
    void Request()
    {
        if (m_isRequested)
        {
            return;
        }
        m_isRequested = true;
        CausalSimulator& simulator = CausalSimulator::Get();
        const int64_t now = simulator.GetNowPs();
        // No usual event is scheduled now by one that was scheduled later than now.
        simulator.Schedule(now,
                           *this,
                           {now, FIRST + static_cast<int64_t>(m_turn), simulator.TakeNumber()});
    }

  private:
    static constexpr int64_t FIRST = std::numeric_limits<int64_t>::max() / 2;

    void Happen() override
    {
        m_isRequested = false;
        m_function();
    }

    Turn m_turn;
    std::function<void()> m_function;
    bool m_isRequested{false};
};

} // namespace cosim

#endif // COSIM_LAST_EVENT_H
