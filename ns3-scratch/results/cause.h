/*
 * SPDX-License-Identifier: GPL-2.0-only
 */

#ifndef COSIM_CAUSE_H
#define COSIM_CAUSE_H

#include "network/bundle-network.h"
#include "stream/stream.h"

#include <array>
#include <cstdint>
#include <string_view>
#include <utility>

namespace cosim
{

/// What the time on a critical path is spent on.
enum class PathKind : uint8_t
{
    COMPUTE,        //!< a rank computes
    TIMER,          //!< a timer of the workload runs
    SLOT,           //!< a chunk waits for slots
    INJECTION,      //!< the latency of a step before it sends, or after it has received
    HOST,           //!< a rank handles a message
    SERIALIZATION,  //!< transmission of a message, and of those of its collective before it
    PROPAGATION,    //!< latencies of the links
    QUEUEING,       //!< a message waits behind messages that are not of its collective
    WINDOW,         //!< the rest of a message's time: TCP's window holds it back
    RETRANSMISSION, //!< TCP repairs losses
    REDUCTION,      //!< a rank reduces what it has received
};

/// Names of the kinds in a result, in their order.
constexpr std::array<std::string_view, 11> PATH_KINDS{"compute_ns",
                                                      "timer_ns",
                                                      "slot_ns",
                                                      "injection_ns",
                                                      "host_ns",
                                                      "serialization_ns",
                                                      "propagation_ns",
                                                      "queueing_ns",
                                                      "window_ns",
                                                      "retransmission_ns",
                                                      "reduction_ns"};

/// What a cause belongs to: a node of a trace, or a collective.
struct CauseLabel
{
    const Trace* trace{nullptr}; //!< null: a collective
    uint32_t id{0};              //!< index of the node, or id of the collective

    bool operator==(const CauseLabel&) const = default;
};

struct Cause;

/// A counted reference to a Cause, or to nothing: the start of the run.
class CauseRef
{
  public:
    CauseRef() = default;

    explicit CauseRef(Cause* cause);
    CauseRef(const CauseRef& other);

    CauseRef(CauseRef&& other) noexcept
        : m_cause(std::exchange(other.m_cause, nullptr))
    {
    }

    CauseRef& operator=(CauseRef other) noexcept
    {
        std::swap(m_cause, other.m_cause);
        return *this;
    }

    ~CauseRef();

    const Cause* operator->() const
    {
        return m_cause;
    }

    /// @return the cause, or null for the start of the run
    Cause* Get() const
    {
        return m_cause;
    }

    /// @return the end of the cause; 0 for the start of the run [ps]
    uint64_t GetEnd() const;

    /// Let the cause forget its own cause.
    void Cut() const;

  private:
    Cause* m_cause{nullptr};
};

/**
 * Something that took time, and what happened before it. It lasts from the end of its parent to its
 * own end, so the lengths of a chain of causes add up.
 *
 * A cause lives as long as a later one, or an observer, refers to it. What nothing waits for any
 * more is freed, so the chains of a run need much less memory than the run has events.
 */
struct Cause
{
    CauseRef parent;
    uint64_t endPs;
    CauseLabel label;
    Rank rank; //!< the rank at which it ends
    PathKind kind;
    uint32_t references{0};
};

} // namespace cosim

#endif // COSIM_CAUSE_H
