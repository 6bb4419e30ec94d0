/*
 * SPDX-License-Identifier: GPL-2.0-only
 */

#include "graphs/exchange.h"

#include <algorithm>
#include <array>
#include <stdexcept>
#include <string>

namespace cosim
{

namespace
{

void
Check(const Boxes& boxes)
{
    for (const auto& each : {boxes.first, boxes.end, boxes.low, boxes.high})
    {
        if (each.size() != boxes.servers.size())
        {
            throw std::invalid_argument("expected a box for every server");
        }
    }
}

/// What of a message takes a route.
struct Share
{
    double onWire{0};   //!< its bytes, with headers
    bool isEmpty{true}; //!< true if there is none
    bool isFull{false}; //!< true if its first packet is full
};

/// @param bytes size of the whole message
Share
GetShare(int64_t bytes, const Sending& sending)
{
    const int64_t rest = bytes % sending.routes;
    const int64_t share = bytes / sending.routes + rest * (sending.route + 1) / sending.routes -
                          rest * sending.route / sending.routes;
    const int64_t packets = (share + sending.segmentBytes - 1) / sending.segmentBytes;
    return {static_cast<double>(share + packets * sending.headerBytes),
            share == 0,
            share >= sending.segmentBytes};
}

/// Adds the loads of messages. It takes them in batches, so that it waits for the paths of a batch
/// together: the paths of a large network do not fit into a cache.
class Loader
{
  public:
    Loader(const PathView& paths, std::span<const double> rates, std::span<double> loads)
        : m_paths(paths),
          m_rates(rates),
          m_loads(loads)
    {
    }

    void Add(std::size_t path, const Share& share)
    {
        if (path >= m_paths.propagation.size())
        {
            throw std::invalid_argument("path " + std::to_string(path) + " does not exist");
        }
        __builtin_prefetch(&m_paths.begin[path]);
        __builtin_prefetch(&m_paths.propagation[path]);
        __builtin_prefetch(&m_paths.stored[path]);
        m_batch[m_size++] = {path, share};
        if (m_size == m_batch.size())
        {
            Finish();
        }
    }

    /// @return the latest arrival of a first packet so far [s]
    double Finish()
    {
        const std::span<const Visit> batch{m_batch.data(), m_size};
        for (const Visit& visit : batch)
        {
            const std::size_t begin = m_paths.begin[visit.path];
            const std::size_t end = m_paths.begin[visit.path + 1];
            if (begin > end || end > m_paths.links.size())
            {
                throw std::invalid_argument("path " + std::to_string(visit.path) +
                                            " does not exist");
            }
            __builtin_prefetch(m_paths.links.data() + begin);
        }
        for (const Visit& visit : batch)
        {
            Load(visit);
        }
        m_size = 0;
        return m_latest;
    }

  private:
    struct Visit
    {
        std::size_t path;
        Share share;
    };

    void Load(const Visit& visit)
    {
        const std::size_t begin = m_paths.begin[visit.path];
        const auto links = m_paths.links.subspan(begin, m_paths.begin[visit.path + 1] - begin);
        for (const uint32_t link : links)
        {
            if (link >= m_loads.size())
            {
                throw std::invalid_argument("link " + std::to_string(link) + " does not exist");
            }
            m_loads[link] += visit.share.onWire;
        }
        double stored = visit.share.isFull ? m_paths.stored[visit.path] : 0;
        for (std::size_t hop = 1; hop < links.size() && !visit.share.isFull; ++hop)
        {
            stored += visit.share.onWire / m_rates[links[hop]];
        }
        m_latest = std::max(m_latest, m_paths.propagation[visit.path] + stored);
    }

    const PathView& m_paths;
    const std::span<const double> m_rates;
    const std::span<double> m_loads;
    std::array<Visit, 64> m_batch;
    std::size_t m_size{0};
    double m_latest{0};
};

} // namespace

int64_t
Exchange::GetBytes(std::size_t source, std::size_t target) const
{
    const int64_t samples = std::min(has.end[source], needs.end[target]) -
                            std::max(has.first[source], needs.first[target]);
    const int64_t width = std::min(has.high[source], needs.high[target]) -
                          std::max(has.low[source], needs.low[target]);
    const bool isNothing =
        samples <= 0 || width <= 0 || has.servers[source] == needs.servers[target];
    return isNothing ? 0 : samples * width;
}

Participants
FindParticipants(const Exchange& exchange)
{
    Check(exchange.has);
    Check(exchange.needs);
    Participants found;
    found.sends.resize(exchange.has.servers.size());
    found.receives.resize(exchange.needs.servers.size());
    for (std::size_t source = 0; source < found.sends.size(); ++source)
    {
        int64_t messages = 0;
        for (std::size_t target = 0; target < found.receives.size(); ++target)
        {
            const bool isSent = exchange.GetBytes(source, target) != 0;
            messages += isSent ? 1 : 0;
            found.receives[target] |= isSent ? 1 : 0;
        }
        found.messages += messages;
        found.sends[source] = messages != 0 ? 1 : 0;
    }
    return found;
}

double
AddLoads(const Exchange& exchange,
         const PathView& paths,
         const Sending& sending,
         std::span<const double> rates,
         std::span<double> loads)
{
    Check(exchange.has);
    Check(exchange.needs);
    if (paths.begin.size() != paths.propagation.size() + 1 ||
        paths.stored.size() != paths.propagation.size() || rates.size() != loads.size() ||
        sending.routes < 1)
    {
        throw std::invalid_argument("expected links and times for every path, and a rate for "
                                    "every link");
    }
    Loader loader(paths, rates, loads);
    int64_t before = 0;
    Share share;
    for (std::size_t target = 0; target < exchange.needs.servers.size(); ++target)
    { // the paths to a target are next to each other
        const int64_t first = (exchange.needs.servers[target] - paths.firstTarget) * paths.sources;
        for (std::size_t source = 0; source < exchange.has.servers.size(); ++source)
        {
            const int64_t bytes = exchange.GetBytes(source, target);
            if (bytes == 0)
            {
                continue;
            }
            if (bytes != before)
            { // most messages have the size of the one before
                before = bytes;
                share = GetShare(bytes, sending);
            }
            if (!share.isEmpty)
            {
                loader.Add(static_cast<std::size_t>(first + exchange.has.servers[source]), share);
            }
        }
    }
    return loader.Finish();
}

} // namespace cosim
