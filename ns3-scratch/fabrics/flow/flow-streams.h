/*
 * SPDX-License-Identifier: GPL-2.0-only
 */

#ifndef COSIM_FLOW_STREAMS_H
#define COSIM_FLOW_STREAMS_H

#include "fabrics/message/message-fabric.h"
#include "support/huge-allocator.h"
#include "support/slot-pool.h"

#include <algorithm>
#include <cstddef>
#include <cstdint>
#include <limits>
#include <utility>
#include <vector>

namespace cosim
{

/**
 * The streams of a FlowFabric: for each path its messages, what is left of the first one, and the
 * window of its slow start.
 */
class FlowStreams
{
  public:
    static constexpr uint32_t NONE = UINT32_MAX;
    static constexpr uint64_t NEVER = UINT64_MAX;
    static constexpr double UNLIMITED = std::numeric_limits<double>::infinity();

    /// A message that has not completely left its source. Slots are reused.
    struct Message
    {
        uint64_t bytes;      //!< payload
        uint64_t wireBytes;  //!< on the wire
        uint64_t sentAt;     //!< [ps]
        uint32_t firstBytes; //!< size of its first packet on the wire
        uint32_t path;
        uint32_t bundle;
        uint32_t next; //!< next message of the same path
    };

    /// The stream of a path. A change of its rate takes only the first cache line.
    struct alignas(64) Path
    {
        double rate{0}; //!< [bit/s on the wire]
        double left{0}; //!< remaining size of the first message, at updatedAt [bytes on the wire]
        /// remaining part of the window of its slow start, at updatedAt [bytes on the wire]
        double windowLeft{UNLIMITED};
        /// [ps]; in the future while it waits behind messages that travel hop by hop
        uint64_t updatedAt{0};
        uint64_t doneAt{NEVER};    //!< end of the first message, of the window, or of a pause [ps]
        uint64_t plannedAt{NEVER}; //!< time of the earliest planned event of the path [ps]
        uint32_t first{NONE};      //!< message
        uint32_t last{NONE};       //!< message
        uint32_t opening{NONE};    //!< index of its Opening during slow start
        bool isDirty{false};       //!< true if it begins or ends to send at this time
        bool isPaused{false};      //!< true if the path waits for a window
        double forwardingPs{0};    //!< store-and-forward delay per byte of a packet [ps]
        double lastLinkPs{0};      //!< transmission time per byte on the last link [ps]
        uint64_t latency{0};       //!< [ps]
        uint64_t lastArrival{0};   //!< arrival of the message that left last [ps]
        uint64_t carried{0};       //!< size of all messages that have left [bytes on the wire]
        uint32_t firstUnderWay{NONE}; //!< of the messages that FlowFabric::Deliver delivers
        uint32_t lastUnderWay{NONE};
    };

    /// Slow-start state of a path.
    struct Opening
    {
        double window;      //!< [bytes on the wire]
        double enough;      //!< window with which slow start ends
        uint64_t startedAt; //!< begin of this window [ps]
        uint64_t roundTrip; //!< [ps]
    };

    /// @param paths number of paths
    explicit FlowStreams(std::size_t paths)
        : m_paths(paths)
    {
    }

    /// @return the number of paths
    std::size_t GetCount() const
    {
        return m_paths.size();
    }

    /// @return the stream of a path
    Path& operator[](uint32_t path)
    {
        return m_paths[path];
    }

    /// @return the stream of a path
    const Path& operator[](uint32_t path) const
    {
        return m_paths[path];
    }

    /// Start to load a path, which is soon due.
    void Prepare(uint32_t path) const
    {
        Load(m_paths[path]);
    }

    /// Start to load the first message of a path.
    void PrepareFirst(uint32_t path) const
    {
        const uint32_t message = m_paths[path].first;
        if (message != NONE)
        {
            PrepareMessage(message);
        }
    }

    /// Start to load a message, which soon is the first one of its path.
    void PrepareMessage(uint32_t message) const
    {
        Load(m_messages[message]);
    }

    /// @return the slow start of a stream; null if it has ended
    Opening* GetOpening(const Path& path)
    {
        return path.opening == NONE ? nullptr : &m_openings[path.opening];
    }

    /// @return the slow start of a stream; null if it has ended
    const Opening* GetOpening(const Path& path) const
    {
        return path.opening == NONE ? nullptr : &m_openings[path.opening];
    }

    /**
     * Let a path begin with slow start. A path that has begun continues with the same window, and
     * one that has carried data without slow start does not begin any more.
     *
     * @param opening its first window
     */
    void StartSlowly(Path& path, const Opening& opening)
    {
        if (Opening* begun = GetOpening(path))
        {
            begun->enough = opening.enough;
            begun->roundTrip = opening.roundTrip;
        }
        else if (GetCarried(path, path.updatedAt) == 0)
        {
            path.opening = m_openings.Take();
            m_openings[path.opening] = opening;
            path.windowLeft = opening.window;
        }
    }

    /// End the slow start of a path, if it has not ended.
    void EndSlowStart(Path& path)
    {
        if (path.opening != NONE)
        {
            m_openings.Return(std::exchange(path.opening, NONE));
            path.windowLeft = UNLIMITED;
        }
    }

    /// @return a message that no stream has yet
    uint32_t Add(const Message& message)
    {
        const uint32_t id = m_messages.Take();
        m_messages[id] = message;
        return id;
    }

    /// @return a message of Add
    const Message& Get(uint32_t message) const
    {
        return m_messages[message];
    }

    /**
     * Append a message to the stream of its path.
     *
     * @param id a message of Add
     * @return true if the stream had no message before
     */
    bool Append(uint32_t id)
    {
        Path& path = m_paths[m_messages[id].path];
        const bool isFirst = path.first == NONE;
        (isFirst ? path.first : m_messages[path.last].next) = id;
        path.last = id;
        return isFirst;
    }

    /// Remove a message of Add that no stream has.
    void Remove(uint32_t id)
    {
        m_messages.Return(id);
    }

    /// Remove the first message of a stream, which has left completely.
    void RemoveFirst(Path& path)
    {
        const uint32_t first = path.first;
        path.carried += m_messages[first].wireBytes;
        path.first = m_messages[first].next;
        m_messages.Return(first);
    }

    /// Advance the first message and the window of a path to the current time.
    static void Advance(Path& path, uint64_t now)
    {
        if (now <= path.updatedAt)
        {
            return;
        }
        const double sent =
            path.rate / MessageFabric::BYTE_PS * static_cast<double>(now - path.updatedAt);
        path.updatedAt = now;
        path.left -= sent;
        path.windowLeft -= sent;
    }

    /**
     * Start the next window of a path one round trip after the last one began. The window grows by
     * the amount that was sent.
     */
    void OpenWindow(Path& path, uint64_t now)
    {
        Opening& opening = m_openings[path.opening];
        opening.window += opening.window - std::max(path.windowLeft, 0.0);
        path.windowLeft = opening.window;
        opening.startedAt = now;
        if (opening.window >= opening.enough)
        {
            EndSlowStart(path);
        }
    }

    /// @return what is left until the first message or the window ends [bytes on the wire]
    static double GetLeft(const Path& path)
    {
        return std::min(path.left, path.windowLeft);
    }

    /// @return the sent amount of the path's first message, which must exist [bytes on the wire]
    uint64_t GetSent(const Path& path, uint64_t now) const
    {
        const double passed = static_cast<double>(now - std::min(now, path.updatedAt));
        const double left = std::max(path.left - path.rate / MessageFabric::BYTE_PS * passed, 0.0);
        const uint64_t wireBytes = m_messages[path.first].wireBytes;
        return wireBytes - std::min(wireBytes, static_cast<uint64_t>(left));
    }

    /// @return the sent amount of all messages of a path so far [bytes on the wire]
    uint64_t GetCarried(const Path& path, uint64_t now) const
    {
        return path.carried + (path.first != NONE ? GetSent(path, now) : 0);
    }

  private:
    /// Start to load an item, which can lie on two cache lines.
    template <typename T>
    static void Load(const T& item)
    {
        const char* const place = reinterpret_cast<const char*>(&item);
        __builtin_prefetch(place);
        __builtin_prefetch(place + sizeof(T) - 1);
    }

    SlotPool<Message> m_messages;
    HugeVector<Path> m_paths;
    SlotPool<Opening> m_openings;
};

} // namespace cosim

#endif // COSIM_FLOW_STREAMS_H
