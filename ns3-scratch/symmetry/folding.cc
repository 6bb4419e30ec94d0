/*
 * SPDX-License-Identifier: GPL-2.0-only
 */

#include "symmetry/folding.h"

#include "symmetry/folded-programs.h"
#include "symmetry/link-orbits.h"
#include "symmetry/rotations.h"

#include <algorithm>
#include <optional>
#include <span>
#include <utility>

namespace cosim
{

namespace
{

/// @return whether a chunk of a number of bytes has units of the same size
bool
HasEqualUnits(const Program& program, uint64_t chunkBytes)
{
    return program.equalUnits || chunkBytes % program.units == 0;
}

/// @return whether nothing but the place of ranks in the network and in groups can tell them apart
bool
CanFold(const Stream& stream)
{
    const Topology& topology = stream.topology;
    const SystemSettings& system = stream.settings.system;
    const std::string& fabric = stream.settings.fabric;
    return stream.settings.replay && (fabric == "analytical" || fabric == "flow") &&
           topology.HasFixedPaths() && !topology.HasClasses() && topology.pathTransport.empty() &&
           topology.events.empty() && topology.traffic.empty() &&
           system.admission == AdmissionKind::NEGOTIATED && !system.messageByMessage &&
           system.send.IsZero() && system.receive.IsZero() && system.flowsPerPair <= 1 &&
           system.reductionBytesPerS == 0 &&
           std::ranges::all_of(stream.collectives, [&](const Collective& collective) {
               const Program& program = stream.programs[collective.program];
               const uint64_t size = collective.bytes / collective.chunks;
               return !program.protocol.Exists() && HasEqualUnits(program, size) &&
                      (collective.bytes % collective.chunks == 0 ||
                       HasEqualUnits(program, size + 1));
           });
}

/// The ranks of a stream by their traces, and the other ranks of their messages.
class TraceSymmetry
{
  public:
    explicit TraceSymmetry(const Stream& stream)
        : m_traces(stream.traces),
          m_traceOf(stream.topology.ranks, NONE)
    {
        for (uint32_t i = 0; i < m_traces.size(); ++i)
        {
            const Trace& trace = m_traces[i];
            for (const Rank rank : trace.ranks)
            {
                m_traceOf[rank] = i;
            }
            std::vector<uint32_t>& peers = m_peers.emplace_back();
            for (std::size_t node = 0; node < trace.type.size(); ++node)
            {
                if (trace.type[node] == NodeType::SEND || trace.type[node] == NodeType::RECV)
                {
                    peers.push_back(trace.peer[node]);
                }
            }
            std::ranges::sort(peers);
            const auto repeated = std::ranges::unique(peers);
            peers.erase(repeated.begin(), repeated.end());
        }
    }

    /// @return whether a rotation changes nothing
    bool IsKeptBy(const Rotation& rotation) const
    {
        for (Rank rank = 0; rank < m_traceOf.size(); ++rank)
        {
            const Rank image = rotation.Move(rank);
            const uint32_t trace = m_traceOf[rank];
            if (m_traceOf[image] != trace)
            {
                return false;
            }
            if (trace != NONE && !std::ranges::all_of(m_peers[trace], [&](uint32_t peer) {
                    return rotation.Move(GetPeer(trace, peer, rank)) == GetPeer(trace, peer, image);
                }))
            {
                return false;
            }
        }
        return true;
    }

  private:
    static constexpr uint32_t NONE = UINT32_MAX;

    /// @return the rank that a peer of a trace is for a rank
    Rank GetPeer(uint32_t trace, uint32_t peer, Rank rank) const
    {
        const uint32_t modulus = m_traces[trace].peerModulus;
        return modulus == 0 ? peer : static_cast<Rank>((uint64_t{rank} + peer) % modulus);
    }

    const std::vector<Trace>& m_traces;
    std::vector<uint32_t> m_traceOf;            //!< per rank
    std::vector<std::vector<uint32_t>> m_peers; //!< per trace, as in its record; each once
};

/// @return the rotation of ranks with these blocks; nothing if switches cannot follow it
std::optional<Rotation>
MakeRotation(const Topology& topology, uint32_t block, uint32_t step)
{
    const uint64_t switches = topology.GetEndpoints() - topology.ranks;
    if (switches == 0)
    {
        return Rotation(topology.ranks, {block, step}, {1, 1});
    }
    if (step * switches % topology.ranks != 0)
    {
        return std::nullopt;
    }
    const auto share = [&](uint32_t of) {
        return static_cast<uint32_t>(of * switches / topology.ranks);
    };
    return Rotation(topology.ranks, {block, step}, {share(block), share(step)});
}

/**
 * Find the rotations that change nothing: for each step, from 1 rank on, the largest block.
 *
 * @param stream a stream for which CanFold holds
 * @param orbits receives them
 */
Rotations
FindRotations(const Stream& stream, FoldedPrograms& programs, LinkOrbits& orbits)
{
    const uint32_t ranks = stream.topology.ranks;
    const TraceSymmetry traces(stream);
    Rotations found;
    const auto tryBlocks = [&](uint32_t step) {
        for (uint32_t block = ranks; block > step; --block)
        {
            if (ranks % block != 0 || block % step != 0)
            {
                continue;
            }
            const std::optional<Rotation> rotation = MakeRotation(stream.topology, block, step);
            if (rotation && traces.IsKeptBy(*rotation) && programs.AreKeptBy(*rotation) &&
                orbits.Add(*rotation, found.GetCopies() * rotation->GetOrder()))
            {
                found.Add(*rotation);
                return;
            }
        }
    };
    for (uint32_t step = 1; step < ranks; ++step)
    {
        if (ranks % step == 0 && step % found.GetBlock() == 0)
        {
            tryBlocks(step);
        }
    }
    return found;
}

/// Let only the paths of first ranks have links, which are those that stand for theirs.
void
FoldTopology(Topology& topology, const Rotations& rotations, const LinkOrbits& orbits)
{
    Folding& folding = topology.folding;
    folding.copies = rotations.GetCopies();
    folding.linkOf = orbits.GetFirsts();
    folding.pathBegin = std::exchange(topology.pathBegin, {0});
    folding.pathLinks = std::exchange(topology.pathLinks, {});
    for (uint32_t path = 0; path < topology.pathSource.size(); ++path)
    {
        const auto [source, target] =
            rotations.Bring(topology.pathSource[path], topology.pathTarget[path]);
        const PathIndex& paths = orbits.GetPaths();
        folding.pathOf.push_back(paths.Find(source, target, paths.GetRoute(path)));
        if (folding.pathOf[path] == path)
        {
            for (const uint32_t link : topology.GetLinks(path))
            {
                topology.pathLinks.push_back(folding.linkOf[link]);
            }
        }
        topology.pathBegin.push_back(static_cast<uint32_t>(topology.pathLinks.size()));
    }
}

} // namespace

FoldedStream::FoldedStream(Stream& stream)
    : m_stream(stream),
      m_programs(stream.programs.size())
{
    if (!CanFold(stream))
    {
        return;
    }
    FoldedPrograms programs(stream);
    LinkOrbits orbits(stream.topology);
    const Rotations rotations = FindRotations(stream, programs, orbits);
    if (rotations.GetCopies() == 1)
    {
        return;
    }
    m_collectives = programs.Fold(stream, rotations);
    FoldTopology(stream.topology, rotations, orbits);
    for (Trace& trace : stream.traces)
    {
        m_traces.push_back(trace.ranks);
        std::erase_if(trace.ranks,
                      [&rotations](Rank rank) { return rotations.GetFirst(rank) != rank; });
    }
}

void
FoldedStream::Restore()
{
    m_stream.programs.resize(m_programs);
    for (std::size_t i = 0; i < m_collectives.size(); ++i)
    {
        m_stream.collectives[i].program = m_collectives[i].program;
        m_stream.collectives[i].ranks = std::move(m_collectives[i].ranks);
    }
    for (std::size_t i = 0; i < m_traces.size(); ++i)
    {
        m_stream.traces[i].ranks = std::move(m_traces[i]);
    }
    Topology& topology = m_stream.topology;
    topology.pathBegin = std::move(topology.folding.pathBegin);
    topology.pathLinks = std::move(topology.folding.pathLinks);
    topology.folding = {};
}

} // namespace cosim
