/*
 * SPDX-License-Identifier: GPL-2.0-only
 */

#ifndef COSIM_STREAM_H
#define COSIM_STREAM_H

#include <algorithm>
#include <cstdint>
#include <span>
#include <string>
#include <vector>

namespace cosim
{

/**
 * @file
 * The records of frontend/network_api.proto as plain structs. That file documents each field. Times
 * are integers in picoseconds, sizes are in bytes, and rates in bit/s.
 */

/// The header record.
struct StreamHeader
{
    uint32_t version{0};
    std::string producer;
    std::string name;
    uint64_t seed{1};
    std::string scenarioJson;
};

/// How TCP sends while it recovers from a loss.
enum class LossRecovery : uint32_t
{
    PRR = 0,     //!< proportional rate reduction (RFC 6937)
    CLASSIC = 1, //!< one segment for each duplicate ACK (RFC 6582)
};

/// Attributes of ns-3's TCP.
struct TcpSettings
{
    std::string congestionControl{"NewReno"};
    uint32_t mtuBytes{1500};
    uint32_t segmentBytes{1460};
    uint32_t sendBufferBytes{500000};
    uint32_t receiveBufferBytes{500000};
    uint32_t initialCwndSegments{10};
    uint64_t minRtoPs{0};
    uint64_t initialRtoPs{0};
    uint64_t clockGranularityPs{0};
    uint64_t delayedAckTimeoutPs{0};
    uint32_t delayedAckSegments{1};
    bool sack{true};
    bool timestamps{false};
    bool windowScaling{true};
    bool ecn{false};
    uint32_t linkHeaderBytes{2};
    /// true: each flow of ExpressDatapath has a socket from the start, so no ACK is predicted
    bool socketPerFlow{false};
    LossRecovery recovery{LossRecovery::PRR};
    /// true: a buffer holds a number of packets of any size, as many as full packets fit into it
    bool buffersCountPackets{false};
    bool unlimitedWindow{false}; //!< true: messages wait for no window
};

/// Parameters of DCQCN.
struct DcqcnSettings
{
    uint32_t gainPpb{3906250};            //!< weight of a new value of alpha: parts of 10^9
    uint64_t alphaIntervalPs{55'000'000}; //!< time between updates of alpha
    uint64_t cutIntervalPs{4'000'000};    //!< time between cuts
    uint64_t riseIntervalPs{300'000'000}; //!< time between rises
    uint64_t counterBytes{0};             //!< bytes sent between rises; 0: only the time counts
    uint32_t recoverySteps{1};            //!< rises of fast recovery
    uint32_t firstRatePpb{1'000'000'000}; //!< rate after the first notification: parts of 10^9
    bool clampsTarget{false};             //!< true: each cut sets the target to the rate before
};

/// Parameters of HPCC.
struct HpccSettings
{
    uint32_t targetPpb{950'000'000}; //!< utilization to reach: parts of 10^9
    uint32_t stages{0};              //!< additive increases between multiplicative ones
    bool reactsFast{true};           //!< true: each acknowledgment changes the rate
};

/// Parameters of TIMELY.
struct TimelySettings
{
    uint64_t shortRttPs{50'000'000}; //!< below, the rate always rises
    uint64_t longRttPs{500'000'000}; //!< above, it always falls
    uint64_t minRttPs{20'000'000};   //!< by which the gradient is divided
    uint32_t weightPpb{875'000'000}; //!< of a new round trip: parts of 10^9
    uint32_t betaPpb{800'000'000};   //!< largest cut: parts of 10^9
    uint32_t hyperAfter{5};          //!< increases in a row before the large ones
};

/// Parameters of DCTCP on rates.
struct RateDctcpSettings
{
    uint32_t gainPpb{3906250};          //!< weight of a new value of alpha: parts of 10^9
    uint64_t increaseBps{1000'000'000}; //!< step of the rate per round trip
};

/// How RoCE sends again what was lost.
enum class RoceRecovery : uint32_t
{
    GO_BACK_N = 0,        //!< everything from the missing packet on
    SELECTIVE_REPEAT = 1, //!< only what is missing
};

/// Parameters of RoCE.
struct RoceSettings
{
    std::string congestionControl;      //!< empty: the transport is another one
    uint32_t payloadBytes{1000};        //!< of a full packet
    uint32_t headerBytes{82};           //!< of a data packet, everything on the wire
    uint32_t ackBytes{86};              //!< an ACK or NACK, everything on the wire
    uint32_t cnpBytes{0};               //!< a CNP, likewise; 0: ACKs carry notifications
    uint64_t cnpIntervalPs{0};          //!< least time between two CNPs of a flow
    uint32_t timeUnitPs{1};             //!< unit to which transmission times are rounded down
    bool telemetry{false};              //!< true: switch ports write into data packets
    uint64_t windowBytes{0};            //!< most bytes in flight; 0: see productWindow
    bool productWindow{false};          //!< true: at most the bandwidth-delay product is in flight
    bool variableWindow{false};         //!< true: the window shrinks with the rate
    uint32_t ackIntervalBytes{1};       //!< bytes that an ACK waits for
    uint64_t nackIntervalPs{0};         //!< least time between two NACKs for the same byte
    uint64_t timeoutPs{67'108'864'000}; //!< retransmission timeout
    uint32_t retries{7};                //!< timeouts in a row after which a flow fails
    uint32_t dataClass{0};              //!< traffic class of data
    uint32_t ackClass{0};               //!< traffic class of ACKs, NACKs and CNPs
    bool ecn{true};                     //!< true: switches may mark data
    RoceRecovery recovery{RoceRecovery::GO_BACK_N};
    uint64_t minRateBps{100'000'000};
    uint64_t increaseBps{50'000'000};       //!< step of the rate (R_AI)
    uint64_t hyperIncreaseBps{100'000'000}; //!< large step of the rate (R_HAI)
    DcqcnSettings dcqcn;
    HpccSettings hpcc;
    TimelySettings timely;
    RateDctcpSettings dctcp;
};

/// The order in which waiting chunks start.
enum class Scheduling : uint32_t
{
    LIFO = 0,
    FIFO = 1,
};

/// The order in which waiting chunks of a collective start.
enum class ChunkOrder : uint32_t
{
    INDEX = 0,   //!< the lowest first, and of equal ones the later phase
    ARRIVAL = 1, //!< the one that has waited longest first; only with AdmissionKind::NEGOTIATED
};

/// Who decides when a rank starts its part of a chunk.
enum class AdmissionKind : uint32_t
{
    NEGOTIATED = 0, //!< all members of the part together
    LOCAL = 1,      //!< every rank for itself
};

/// What the processor of a rank takes for the messages at one end of a flow.
struct HostCost
{
    uint64_t messagePs{0}; //!< for each message
    uint64_t bytesPerS{0}; //!< rate at which it copies the bytes; 0: copying takes no time

    /// @return true if messages take no time
    bool IsZero() const
    {
        return messagePs == 0 && bytesPerS == 0;
    }
};

/// Settings of the system layer.
struct SystemSettings
{
    Scheduling scheduling{Scheduling::LIFO};
    std::vector<uint32_t> concurrentChunks; //!< per dimension
    uint64_t injectionLatencyPs{0};
    uint64_t reductionBytesPerS{0}; //!< 0: reductions take no time
    /// true disables the merging of steps and the bundling of messages
    bool messageByMessage{false};
    AdmissionKind admission{AdmissionKind::NEGOTIATED};
    HostCost send;
    HostCost receive;
    uint32_t flowsPerPair{0};  //!< flows that share each message of a pair of ranks; 0 means 1
    bool slotsPerLevel{false}; //!< true: concurrentChunks counts in each level of a program
    ChunkOrder chunkOrder{ChunkOrder::INDEX};
};

/// What the two ends of a connection do.
struct TransportSettings
{
    TcpSettings tcp;
    RoceSettings roce;

    /// @return true if the transport is RoCE, false if it is TCP
    bool UsesRoce() const
    {
        return !roce.congestionControl.empty();
    }
};

/// The settings record. The base class is what connections do that have no settings of their own.
struct Settings : TransportSettings
{
    std::string fabric{"express"};
    SystemSettings system;
    uint64_t rttSampleIntervalPs{0};
    uint64_t timeLimitPs{0};
    bool replay{false}; //!< true: packets are simulated once for all that is equal
    std::vector<TransportSettings> transports; //!< see Topology::pathTransport

    /// @return what connections do, given their entry of Topology::pathTransport
    const TransportSettings& GetTransport(uint32_t number) const
    {
        return number == 0 ? *this : transports[number - 1];
    }

    /// @return the number of transports, of which GetTransport knows each
    uint32_t CountTransports() const
    {
        return static_cast<uint32_t>(transports.size()) + 1;
    }

    /// @return true if a transport is RoCE
    bool HasRoce() const
    {
        return UsesRoce() || std::ranges::any_of(transports, &TransportSettings::UsesRoce);
    }

    /// @return true if one transport is TCP and another one RoCE
    bool HasBothProtocols() const
    {
        return HasRoce() &&
               !(UsesRoce() && std::ranges::all_of(transports, &TransportSettings::UsesRoce));
    }
};

/// How the value of a pair's demand falls with each further circuit.
enum class Discount : uint32_t
{
    EXPONENTIAL = 0,
    LINEAR = 1,
    FACTORIAL = 2,
    NONE = 3,
};

/// Settings of links that change during the run.
struct Reconfiguration
{
    uint64_t intervalPs{0}; //!< 0: the links do not change
    uint64_t latencyPs{0};
    uint32_t degree{0};
    Discount discount{Discount::EXPONENTIAL};
    bool forwarding{false};
    uint64_t circuitRateBps{0};
    uint64_t circuitLatencyPs{0};
    uint64_t circuitBufferBytes{0};
    uint64_t circuitEcnThresholdBytes{0};
    bool controlNetwork{false};
};

/// What happens to links or ranks.
enum class EventKind : uint32_t
{
    LINK_DOWN = 0,
    LINK_UP = 1,
    LINK_RATE = 2,
    LINK_LOSS = 3,
    COMPUTE = 4,
    JOB_FAILURE = 5,
};

/// Something that happens to links or ranks at a time of the run.
struct NetworkEvent
{
    /// @return true if links are not as before
    bool ChangesLinks() const
    {
        return kind != EventKind::COMPUTE && kind != EventKind::JOB_FAILURE;
    }

    EventKind kind{EventKind::LINK_DOWN};
    uint64_t timePs{0};
    std::string text; //!< what people read
    std::vector<uint32_t> links;
    uint64_t rateBps{0};         //!< LINK_RATE
    uint32_t lossPpb{0};         //!< LINK_LOSS: parts of 10^9
    std::vector<uint32_t> ranks; //!< COMPUTE
    uint64_t factorPpm{0};       //!< COMPUTE: parts of 10^6 of the usual time
    uint32_t jitterPpm{0};       //!< COMPUTE: deviation of a random factor of each computation
    uint32_t spreadPpm{0};       //!< COMPUTE: deviation of a random factor of each rank
    std::vector<uint32_t> jobs;  //!< JOB_FAILURE: 1 + indices in the jobs of the traces
    std::vector<uint32_t> paths; //!< JOB_FAILURE: those of its connections
};

/// Messages between ranks that belong to no trace.
struct Traffic
{
    std::string text; //!< what people read
    uint64_t beginPs{0};
    uint64_t endPs{0};             //!< 0: until the end of the run
    std::vector<uint32_t> sources; //!< one for each pair of ranks
    std::vector<uint32_t> targets;
    uint64_t intervalPs{0}; //!< mean time between messages, or time between bursts
    bool burst{false};      //!< true: all pairs send one message each time
    std::vector<uint64_t> sizes;
    std::vector<uint32_t> cumulativePpb; //!< parts of 10^9 that are at most so large
    uint64_t seed{0};
    uint32_t route{0};
};

/// Which packets of a flow take the same path.
enum class PathSpread : uint32_t
{
    FLOW = 0,    //!< all
    PACKET = 1,  //!< none
    FLOWLET = 2, //!< those without a gap between them
};

/**
 * Paths and links of ranks that do the same at the same time, of which a run simulates the first
 * ones only. It is no part of a record; see symmetry/folding.h.
 */
struct Folding
{
    uint32_t copies{1}; //!< ranks that do the same, and so many paths and links; 1: not folded
    std::vector<uint32_t> pathOf;    //!< per path: the one that is simulated for it
    std::vector<uint32_t> linkOf;    //!< per link: the one that is simulated for it
    std::vector<uint32_t> pathBegin; //!< of all paths, into pathLinks
    std::vector<uint32_t> pathLinks; //!< that the paths would cross

    /// @return whether ranks do the same
    bool Exists() const
    {
        return copies > 1;
    }

    /// @return the path that is simulated for a path
    uint32_t GetPath(uint32_t path) const
    {
        return Exists() ? pathOf[path] : path;
    }
};

/// How packets of some traffic classes are marked.
struct ClassMarking
{
    std::vector<uint32_t> classes;
    std::vector<uint64_t> linkEcnThresholdBytes;
    std::vector<uint64_t> linkEcnFullBytes; //!< empty: as linkEcnThresholdBytes
    uint32_t ecnChancePpb{0};
    bool marksAtDequeue{false};
};

/// The topology record.
struct Topology
{
    uint32_t ranks{0};
    uint32_t nodes{0};
    std::vector<std::string> dimensions;
    std::vector<uint32_t> linkSource;
    std::vector<uint32_t> linkTarget;
    std::vector<uint64_t> linkRateBps;
    std::vector<uint64_t> linkLatencyPs;
    std::vector<uint64_t> linkBufferBytes;
    std::vector<uint64_t> linkEcnThresholdBytes;
    std::vector<uint32_t> linkDimension;
    std::vector<uint32_t> pathSource;
    std::vector<uint32_t> pathTarget;
    std::vector<uint32_t> pathBegin;
    std::vector<uint32_t> pathLinks;
    uint64_t forwardingDelayPs{0};
    Reconfiguration reconfiguration;
    bool ranksForward{false};
    std::vector<uint32_t> linkLossPpb; //!< empty: no link loses packets
    std::vector<NetworkEvent> events;
    uint64_t detectionPs{0};          //!< from a change of links until paths follow it
    bool reroute{false};              //!< false: paths never follow a change
    uint64_t sharedMemoryAlphaPpm{0}; //!< 0: each port has its own buffer
    PathSpread spread{PathSpread::FLOW};
    uint64_t flowletGapPs{0};
    uint32_t sharedLinks{0}; //!< number of most shared links that the result lists
    std::vector<Traffic> traffic;
    uint64_t lossSeed{0};
    std::vector<std::string> nodeNames; //!< may be empty if no link is between switches
    bool marksAtDequeue{false};         //!< false: packets are marked when they arrive at a queue
    std::vector<uint64_t> linkEcnFullBytes; //!< empty: as linkEcnThresholdBytes
    uint32_t ecnChancePpb{0}; //!< greatest chance of a mark below linkEcnFullBytes [10^-9]
    uint32_t ecnSeed{0};
    uint32_t pauseFrameBytes{0};             //!< 0: switches drop packets and pause nobody
    uint64_t reserveBytes{0};                //!< memory of each link into a switch
    uint64_t resumeBytes{0};                 //!< a link resumes so far below its threshold
    std::vector<uint64_t> linkHeadroomBytes; //!< memory for packets that come after a pause
    std::vector<uint32_t> linkSharePpm;      //!< longest queue over free memory, parts of 10^6
    uint32_t endpoints{0};                   //!< nodes that send and receive; 0: the ranks
    std::vector<uint32_t> pathTransport;     //!< see GetTransport; empty: 0 for all paths
    std::vector<uint32_t> pathClass;         //!< traffic class of data; empty: the transport's
    std::vector<ClassMarking> markings;      //!< of classes that differ from the fields above
    std::vector<uint32_t> lossyClasses;      //!< that switches drop where they pause others
    Folding folding;

    /// @return the number of nodes that send and receive: ranks, and switches that reduce
    uint32_t GetEndpoints() const
    {
        return std::max(ranks, endpoints);
    }

    /// @return the links that a path crosses at the start of the run, folded or not
    std::span<const uint32_t> GetLinks(uint32_t path) const
    {
        const std::vector<uint32_t>& begin = folding.Exists() ? folding.pathBegin : pathBegin;
        return std::span(folding.Exists() ? folding.pathLinks : pathLinks)
            .subspan(begin[path], begin[path + 1] - begin[path]);
    }

    /// @return the number of the settings of the connection of a path (see Settings::GetTransport)
    uint32_t GetTransport(uint32_t path) const
    {
        return pathTransport.empty() ? 0 : pathTransport[path];
    }

    /// @return true if an endpoint is a rank; otherwise it is a switch that reduces
    bool IsRank(uint32_t endpoint) const
    {
        return endpoint < ranks;
    }

    /// @return true if a circuit switch changes the links
    bool HasCircuits() const
    {
        return reconfiguration.intervalPs > 0;
    }

    /// @return true if ports have a queue for each traffic class, and flows have one of them
    bool HasClasses() const
    {
        return !pathClass.empty();
    }

    /// @return true if jobs fail
    bool HasFailures() const
    {
        return std::ranges::any_of(events, [](const NetworkEvent& event) {
            return event.kind == EventKind::JOB_FAILURE;
        });
    }

    /// @return true if all packets of a flow take the same links, which lose none at random
    bool HasFixedPaths() const
    {
        return !HasCircuits() && !HasLinkEvents() && linkLossPpb.empty() &&
               spread == PathSpread::FLOW;
    }

    /// @return true if events change the links
    bool HasLinkEvents() const
    {
        for (const NetworkEvent& event : events)
        {
            if (event.ChangesLinks())
            {
                return true;
            }
        }
        return false;
    }
};

/// The action of a program step.
enum class StepOp : uint8_t
{
    SEND = 0,
    RECV = 1,
    RECV_REDUCE = 2,
    COPY = 3,
    REDUCE = 4,
};

/// A program that groups of members of a larger program run.
struct Piece
{
    uint32_t program{0};
    uint32_t phase{0};
    uint32_t first{0}; //!< member 0 of group 0
    uint32_t groups{0};
    uint32_t groupStep{0};
    uint32_t memberStep{0};
    uint32_t unitStep{0};

    /// @return the member of the larger program that is a member of a group
    uint32_t GetMember(uint32_t group, uint32_t member) const
    {
        return first + group * groupStep + member * memberStep;
    }
};

/// What a communication library adds to the messages of a program.
struct ProgramProtocol
{
    uint32_t localMembers{0}; //!< members of a server; 0: there is no protocol
    uint32_t nearWirePpm{0};  //!< bytes on the wire inside servers, parts of 10^6 of the payload
    uint32_t farWirePpm{0};   //!< bytes on the wire between servers
    uint64_t nearDelayPs{0};  //!< added to the injection latency of a SEND
    uint64_t farDelayPs{0};   //!< added to the injection latency of a SEND
    uint64_t launchPs{0};     //!< from the issue of a collective to its first step
    uint32_t nearFrom{0};     //!< members from this one on are switches inside servers; 0: none

    /// @return whether there is a protocol
    bool Exists() const
    {
        return localMembers != 0;
    }

    /// @return whether two members that exchange a message are in the same server
    bool AreNear(uint32_t member, uint32_t other) const
    {
        if (nearFrom != 0 && std::max(member, other) >= nearFrom)
        {
            return true;
        }
        return member / localMembers == other / localMembers;
    }

    /// @return the delay of a message between two members
    uint64_t GetDelayPs(uint32_t member, uint32_t other) const
    {
        return AreNear(member, other) ? nearDelayPs : farDelayPs;
    }

    /// @return the bytes on the wire of a message between two members, rounded up
    uint64_t GetWireBytes(uint64_t bytes, uint32_t member, uint32_t other) const
    {
        constexpr uint64_t ALL{1'000'000};
        const uint64_t ppm = AreNear(member, other) ? nearWirePpm : farWirePpm;
        return bytes / ALL * ppm + (bytes % ALL * ppm + ALL - 1) / ALL;
    }
};

/// The program record: a table, a rotation, a repetition or a composition.
struct Program
{
    uint32_t id{0};
    std::string name;
    std::string operation;
    uint32_t groupSize{0};
    uint32_t units{0};
    uint32_t space{0};
    bool equalUnits{false};
    std::vector<uint32_t> phaseDimension;
    std::vector<uint32_t> stepBegin;
    std::vector<StepOp> op;
    std::vector<uint32_t> phase;
    std::vector<uint32_t> peer;
    std::vector<uint32_t> offset;
    std::vector<uint32_t> count;
    std::vector<uint32_t> target;
    std::vector<uint32_t> depBegin;
    std::vector<uint32_t> dep;
    std::vector<uint32_t> route;      //!< empty: route 0 for every step
    std::vector<uint32_t> offsetTurn; //!< empty, except in a rotation
    std::vector<uint32_t> targetTurn; //!< empty, except in a rotation
    std::vector<Piece> pieces;        //!< empty, except in a composition
    uint32_t repeat{0};               //!< 0, except in a repetition
    uint32_t repeatStep{0};           //!< 0, except in a repetition
    std::vector<uint32_t> phaseLevel; //!< empty: level 0 for every phase
    ProgramProtocol protocol;
    /// the last members, which have no steps; their messages are received where `target` is. Not in
    /// a record; see symmetry/folding.h
    uint32_t mirrors{0};

    /// @return the member whose steps of a table include a step
    uint32_t GetOwner(uint32_t step) const
    {
        const auto after = std::upper_bound(stepBegin.begin(), stepBegin.end(), step);
        return static_cast<uint32_t>(after - stepBegin.begin()) - 1;
    }

    /// @return true if the steps are those of the first members, and the other members turn them
    bool IsRotation() const
    {
        return !offsetTurn.empty() || !targetTurn.empty();
    }

    /// @return the number of members that have steps here: of a rotation, those of its first turn
    uint32_t GetBlock() const
    {
        return IsRotation() ? static_cast<uint32_t>(stepBegin.size()) - 1 : groupSize;
    }

    /// @return how often the members turn the steps of the first ones, the first ones included
    uint32_t GetTurns() const
    {
        return groupSize / GetBlock();
    }

    /// @return true if the steps are those of the first of several repetitions
    bool IsRepetition() const
    {
        return repeat != 0;
    }

    /// @return how often each member runs the steps
    uint32_t GetRepeats() const
    {
        return repeat == 0 ? 1 : repeat;
    }
};

/// The collective record.
struct Collective
{
    uint32_t id{0};
    std::string name;
    uint32_t program{0};
    std::vector<uint32_t> ranks;
    uint64_t bytes{0};
    uint32_t chunks{1};
    uint32_t priorityClass{0};
    uint32_t iteration{0};
    uint32_t layer{0};
    uint32_t groups{0};   //!< groups that run the program on their own; 0 means 1
    std::string choice;   //!< why this algorithm was chosen; empty if the scenario names it
    uint32_t slowsPpm{0}; //!< by how much the computations of a member take longer beside it
};

/// The type of a trace node.
enum class NodeType : uint8_t
{
    COMPUTE = 0,
    COLLECTIVE = 1,
    SEND = 2,
    RECV = 3,
    TIMER = 4,
};

/// Trace record.
struct Trace
{
    std::vector<uint32_t> ranks;
    std::vector<std::string> layers;
    std::vector<std::string> names;
    std::vector<NodeType> type;
    std::vector<uint32_t> layer;
    std::vector<uint32_t> iteration;
    std::vector<uint64_t> durationPs;
    std::vector<uint32_t> collective;
    std::vector<uint32_t> peer;
    std::vector<uint64_t> bytes;
    std::vector<uint64_t> tag;
    std::vector<uint32_t> depBegin;
    std::vector<uint32_t> dep;
    std::vector<uint32_t> route; //!< empty: 0 for every node
    std::vector<std::string> jobs;
    std::vector<uint32_t> job;  //!< from 1, 0: none; empty: 0 for every node
    std::vector<uint32_t> lane; //!< from 1, 0: none; empty: 0 for every node
    std::vector<uint32_t> laneSlots;
    std::vector<uint32_t> startDepBegin; //!< empty: no node waits for the start of another
    std::vector<uint32_t> startDep;
    uint32_t peerModulus{0}; //!< not 0: add peer to the rank that runs the node, modulo this

    /**
     * @param node index of a SEND or RECV node
     * @param rank the rank that runs it
     * @return the other rank
     */
    uint32_t GetPeer(std::size_t node, uint32_t rank) const
    {
        return peerModulus == 0
                   ? peer[node]
                   : static_cast<uint32_t>((uint64_t{rank} + peer[node]) % peerModulus);
    }
};

/// A whole stream. Programs and collectives stand at the index that is their id.
struct Stream
{
    StreamHeader header;
    Settings settings;
    Topology topology;
    std::vector<Program> programs;
    std::vector<Collective> collectives;
    std::vector<Trace> traces;

    /// @return the members of a collective that are ranks, neither switches nor mirrors
    uint32_t CountRanks(const Collective& collective) const
    {
        const auto members =
            std::span(collective.ranks)
                .first(collective.ranks.size() - programs[collective.program].mirrors);
        return static_cast<uint32_t>(
            std::ranges::count_if(members, [this](uint32_t one) { return topology.IsRank(one); }));
    }
};

} // namespace cosim

#endif // COSIM_STREAM_H
