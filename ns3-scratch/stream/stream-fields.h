/*
 * SPDX-License-Identifier: GPL-2.0-only
 */

#ifndef COSIM_STREAM_FIELDS_H
#define COSIM_STREAM_FIELDS_H

#include "stream/limits.h"
#include "stream/stream-validator.h"
#include "stream/stream.h"
#include "support/fields.h"
#include "support/header-sizes.h"

#include <cstdint>
#include <tuple>

namespace cosim
{

/**
 * @file
 * Maps the fields of the messages of frontend/network_api.proto to struct members. Fields are
 * numbered 1, 2, 3 and so on; the members are listed in the order of these numbers. `From{n}` says
 * that the next member has the number n. `Limited` adds the name of the field and its limits; what
 * relates several fields in another way is in the validators.
 */

/// The number of the next field, where numbers before it are not in use.
struct From
{
    uint32_t number; //!< greater than that of the field before
};

// What the limits depend on.
inline constexpr auto RANKS = [](const Stream& stream, const auto& /* message */) {
    return stream.topology.ranks;
};
inline constexpr auto PATHS = [](const Stream& stream, const auto& /* message */) {
    return stream.topology.pathSource.size();
};
inline constexpr auto ENDPOINTS = [](const Stream& stream, const auto& /* message */) {
    return stream.topology.GetEndpoints();
};
inline constexpr auto NODES = [](const Stream& stream, const auto& /* message */) {
    return stream.topology.nodes;
};
inline constexpr auto LINKS = [](const Stream& stream, const auto& /* message */) {
    return stream.topology.linkSource.size();
};
inline constexpr auto DIMENSIONS = [](const Stream& stream, const auto& /* message */) {
    return stream.topology.dimensions.size();
};
inline constexpr auto TURNS = [](const Stream& /* stream */, const Program& program) {
    return program.IsRotation() ? program.op.size() : 0;
};

inline constexpr Range TIME{0, MAX_TIME_PS};
inline constexpr Range DELAY{0, MAX_DELAY_PS};
inline constexpr Range BYTES{0, MAX_BYTES};
inline constexpr Range RATE{MIN_RATE_BPS, MAX_BYTES};
inline constexpr Range POSITIVE{1, uint64_t{1} << 30};
inline constexpr Range LOSS_PPB{0, ALL_PPB - 1};
inline constexpr Range PPM{0, uint64_t{1} << 40};
inline constexpr IndexOf IS_RANK{"ranks", RANKS};
inline constexpr IndexOf IS_ENDPOINT{"endpoints", ENDPOINTS};
inline constexpr IndexOf IS_NODE{"nodes", NODES};
inline constexpr IndexOf IS_LINK{"links", LINKS};
inline constexpr IndexOf IS_PATH{"paths", PATHS};
inline constexpr IndexOf IS_DIMENSION{"dimensions", DIMENSIONS};
inline constexpr Length FOR_EACH_LINK{LINKS};

/// The smallest segment: payload in an IPv4 packet of 68 bytes, which all networks carry (RFC 791).
inline constexpr Minimum SEGMENT{68 - GetDataHeaderBytes(true)};

template <>
inline constexpr auto FIELDS<TcpSettings> = std::tuple{
    &TcpSettings::congestionControl,
    &TcpSettings::mtuBytes,
    Limited("segment_bytes", &TcpSettings::segmentBytes, SEGMENT),
    Limited("send_buffer_bytes", &TcpSettings::sendBufferBytes, POSITIVE),
    Limited("receive_buffer_bytes", &TcpSettings::receiveBufferBytes, POSITIVE),
    Limited("initial_cwnd_segments", &TcpSettings::initialCwndSegments, POSITIVE),
    Limited("min_rto_ps", &TcpSettings::minRtoPs, DELAY),
    Limited("initial_rto_ps", &TcpSettings::initialRtoPs, DELAY),
    Limited("clock_granularity_ps", &TcpSettings::clockGranularityPs, DELAY),
    Limited("delayed_ack_timeout_ps", &TcpSettings::delayedAckTimeoutPs, DELAY),
    Limited("delayed_ack_segments", &TcpSettings::delayedAckSegments, POSITIVE),
    From{13},
    &TcpSettings::sack,
    &TcpSettings::timestamps,
    &TcpSettings::windowScaling,
    &TcpSettings::ecn,
    Limited("link_header_bytes", &TcpSettings::linkHeaderBytes, Range{0, 65535}),
    &TcpSettings::socketPerFlow,
    &TcpSettings::recovery,
    &TcpSettings::buffersCountPackets,
    &TcpSettings::unlimitedWindow,
};

inline constexpr Range PART_PPB{1, ALL_PPB};
inline constexpr Range INTERVAL{1, MAX_DELAY_PS};
inline constexpr Range PACKET_BYTES{0, 65535};
inline constexpr Range TRAFFIC_CLASS{0, 7};

template <>
inline constexpr auto FIELDS<DcqcnSettings> = std::tuple{
    Limited("gain_ppb", &DcqcnSettings::gainPpb, PART_PPB),
    Limited("alpha_interval_ps", &DcqcnSettings::alphaIntervalPs, INTERVAL),
    Limited("cut_interval_ps", &DcqcnSettings::cutIntervalPs, INTERVAL),
    Limited("rise_interval_ps", &DcqcnSettings::riseIntervalPs, INTERVAL),
    Limited("counter_bytes", &DcqcnSettings::counterBytes, BYTES),
    Limited("recovery_steps", &DcqcnSettings::recoverySteps, Range{0, 1000}),
    Limited("first_rate_ppb", &DcqcnSettings::firstRatePpb, PART_PPB),
    &DcqcnSettings::clampsTarget,
};

template <>
inline constexpr auto FIELDS<HpccSettings> = std::tuple{
    Limited("target_ppb", &HpccSettings::targetPpb, PART_PPB),
    Limited("stages", &HpccSettings::stages, Range{0, 1000}),
    &HpccSettings::reactsFast,
};

template <>
inline constexpr auto FIELDS<TimelySettings> = std::tuple{
    Limited("short_rtt_ps", &TimelySettings::shortRttPs, INTERVAL),
    Limited("long_rtt_ps", &TimelySettings::longRttPs, INTERVAL),
    Limited("min_rtt_ps", &TimelySettings::minRttPs, INTERVAL),
    Limited("weight_ppb", &TimelySettings::weightPpb, PART_PPB),
    Limited("beta_ppb", &TimelySettings::betaPpb, PART_PPB),
    Limited("hyper_after", &TimelySettings::hyperAfter, POSITIVE),
};

template <>
inline constexpr auto FIELDS<RateDctcpSettings> = std::tuple{
    Limited("gain_ppb", &RateDctcpSettings::gainPpb, PART_PPB),
    Limited("increase_bps", &RateDctcpSettings::increaseBps, Range{1, MAX_BYTES}),
};

template <>
inline constexpr auto FIELDS<RoceSettings> = std::tuple{
    &RoceSettings::congestionControl,
    Limited("payload_bytes", &RoceSettings::payloadBytes, Range{1, 65535}),
    Limited("header_bytes", &RoceSettings::headerBytes, PACKET_BYTES),
    Limited("ack_bytes", &RoceSettings::ackBytes, Range{1, 65535}),
    Limited("cnp_bytes", &RoceSettings::cnpBytes, PACKET_BYTES),
    Limited("cnp_interval_ps", &RoceSettings::cnpIntervalPs, DELAY),
    Limited("time_unit_ps", &RoceSettings::timeUnitPs, Range{1, 1'000'000}),
    &RoceSettings::telemetry,
    Limited("window_bytes", &RoceSettings::windowBytes, BYTES),
    &RoceSettings::productWindow,
    &RoceSettings::variableWindow,
    Limited("ack_interval_bytes", &RoceSettings::ackIntervalBytes, POSITIVE),
    Limited("nack_interval_ps", &RoceSettings::nackIntervalPs, DELAY),
    Limited("timeout_ps", &RoceSettings::timeoutPs, INTERVAL),
    Limited("retries", &RoceSettings::retries, Range{0, 1000}),
    Limited("data_class", &RoceSettings::dataClass, TRAFFIC_CLASS),
    Limited("ack_class", &RoceSettings::ackClass, TRAFFIC_CLASS),
    &RoceSettings::ecn,
    &RoceSettings::recovery,
    Limited("min_rate_bps", &RoceSettings::minRateBps, Range{1, MAX_BYTES}),
    Limited("increase_bps", &RoceSettings::increaseBps, Range{1, MAX_BYTES}),
    Limited("hyper_increase_bps", &RoceSettings::hyperIncreaseBps, Range{1, MAX_BYTES}),
    Limited("dcqcn", &RoceSettings::dcqcn),
    Limited("hpcc", &RoceSettings::hpcc),
    Limited("timely", &RoceSettings::timely),
    Limited("dctcp", &RoceSettings::dctcp),
};

template <>
inline constexpr auto FIELDS<HostCost> = std::tuple{
    Limited("message_ps", &HostCost::messagePs, DELAY),
    &HostCost::bytesPerS,
};

template <>
inline constexpr auto FIELDS<SystemSettings> = std::tuple{
    &SystemSettings::scheduling,
    Limited("concurrent_chunks", &SystemSettings::concurrentChunks, Length{DIMENSIONS}, Minimum{1}),
    Limited("injection_latency_ps", &SystemSettings::injectionLatencyPs, DELAY),
    &SystemSettings::reductionBytesPerS,
    &SystemSettings::messageByMessage,
    &SystemSettings::admission,
    From{8},
    Limited("send", &SystemSettings::send),
    Limited("receive", &SystemSettings::receive),
    &SystemSettings::flowsPerPair,
    &SystemSettings::slotsPerLevel,
    &SystemSettings::chunkOrder,
};

template <>
inline constexpr auto FIELDS<StreamHeader> = std::tuple{
    &StreamHeader::version,
    &StreamHeader::producer,
    &StreamHeader::name,
    &StreamHeader::seed,
    &StreamHeader::scenarioJson,
};

// ValidateTopology checks the limits of the transport that is used, tcp or roce.
template <>
inline constexpr auto FIELDS<TransportSettings> = std::tuple{
    &TransportSettings::tcp,
    &TransportSettings::roce,
};

template <>
inline constexpr auto FIELDS<Settings> = std::tuple{
    &Settings::fabric,
    &Settings::tcp,
    Limited("system", &Settings::system),
    Limited("rtt_sample_interval_ps", &Settings::rttSampleIntervalPs, TIME),
    Limited("time_limit_ps", &Settings::timeLimitPs, TIME),
    From{7},
    &Settings::replay,
    &Settings::roce,
    &Settings::transports,
};

template <>
inline constexpr auto FIELDS<Reconfiguration> = std::tuple{
    Limited("interval_ps", &Reconfiguration::intervalPs, DELAY),
    &Reconfiguration::latencyPs,
    &Reconfiguration::degree,
    &Reconfiguration::discount,
    &Reconfiguration::forwarding,
    &Reconfiguration::circuitRateBps,
    Limited("circuit_latency_ps", &Reconfiguration::circuitLatencyPs, DELAY),
    &Reconfiguration::circuitBufferBytes,
    &Reconfiguration::circuitEcnThresholdBytes,
    &Reconfiguration::controlNetwork,
};

template <>
inline constexpr auto FIELDS<NetworkEvent> = std::tuple{
    &NetworkEvent::kind,
    Limited("time_ps", &NetworkEvent::timePs, TIME),
    &NetworkEvent::text,
    Limited("links", &NetworkEvent::links, IS_LINK),
    &NetworkEvent::rateBps,
    Limited("loss_ppb", &NetworkEvent::lossPpb, LOSS_PPB),
    Limited("ranks", &NetworkEvent::ranks, IS_RANK),
    &NetworkEvent::factorPpm,
    &NetworkEvent::jitterPpm,
    &NetworkEvent::spreadPpm,
    &NetworkEvent::jobs,
    Limited("paths", &NetworkEvent::paths, IS_PATH),
};

template <>
inline constexpr auto FIELDS<Traffic> = std::tuple{
    &Traffic::text,
    Limited("begin_ps", &Traffic::beginPs, TIME),
    Limited("end_ps", &Traffic::endPs, TIME),
    Limited("sources", &Traffic::sources, IS_RANK),
    Limited("targets", &Traffic::targets, Length{&Traffic::sources}, IS_RANK),
    Limited("interval_ps", &Traffic::intervalPs, Range{1, MAX_DELAY_PS}),
    &Traffic::burst,
    Limited("sizes", &Traffic::sizes, BYTES),
    Limited("cumulative_ppb", &Traffic::cumulativePpb, Length{&Traffic::sizes}),
    &Traffic::seed,
    &Traffic::route,
};

template <>
inline constexpr auto FIELDS<ClassMarking> = std::tuple{
    Limited("classes", &ClassMarking::classes, Range{0, 7}),
    Limited("link_ecn_threshold_bytes", &ClassMarking::linkEcnThresholdBytes, FOR_EACH_LINK, BYTES),
    Limited("link_ecn_full_bytes", &ClassMarking::linkEcnFullBytes, Length{LINKS, true}, BYTES),
    Limited("ecn_chance_ppb", &ClassMarking::ecnChancePpb, Range{0, ALL_PPB}),
    &ClassMarking::marksAtDequeue,
};

template <>
inline constexpr auto FIELDS<Topology> = std::tuple{
    &Topology::ranks,
    &Topology::nodes,
    &Topology::dimensions,
    Limited("link_source", &Topology::linkSource, IS_NODE),
    Limited("link_target", &Topology::linkTarget, FOR_EACH_LINK, IS_NODE),
    Limited("link_rate_bps", &Topology::linkRateBps, FOR_EACH_LINK, RATE),
    Limited("link_latency_ps", &Topology::linkLatencyPs, FOR_EACH_LINK, DELAY),
    Limited("link_buffer_bytes", &Topology::linkBufferBytes, FOR_EACH_LINK, BYTES),
    Limited("link_ecn_threshold_bytes", &Topology::linkEcnThresholdBytes, FOR_EACH_LINK, BYTES),
    Limited("link_dimension", &Topology::linkDimension, FOR_EACH_LINK, IS_DIMENSION),
    Limited("path_source", &Topology::pathSource, IS_ENDPOINT),
    Limited("path_target", &Topology::pathTarget, Length{&Topology::pathSource}, IS_ENDPOINT),
    Limited("path_begin",
            &Topology::pathBegin,
            Slices{&Topology::pathSource, &Topology::pathLinks}),
    Limited("path_links", &Topology::pathLinks, IS_LINK),
    Limited("forwarding_delay_ps", &Topology::forwardingDelayPs, DELAY),
    Limited("reconfiguration", &Topology::reconfiguration),
    &Topology::ranksForward,
    Limited("link_loss_ppb", &Topology::linkLossPpb, Length{LINKS, true}, LOSS_PPB),
    Limited("events", &Topology::events),
    Limited("detection_ps", &Topology::detectionPs, DELAY),
    &Topology::reroute,
    Limited("shared_memory_alpha_ppm", &Topology::sharedMemoryAlphaPpm, PPM),
    &Topology::spread,
    Limited("flowlet_gap_ps", &Topology::flowletGapPs, DELAY),
    &Topology::sharedLinks,
    Limited("traffic", &Topology::traffic),
    &Topology::lossSeed,
    &Topology::nodeNames,
    &Topology::marksAtDequeue,
    Limited("link_ecn_full_bytes", &Topology::linkEcnFullBytes, Length{LINKS, true}, BYTES),
    Limited("ecn_chance_ppb", &Topology::ecnChancePpb, Range{0, ALL_PPB}),
    &Topology::ecnSeed,
    Limited("pause_frame_bytes", &Topology::pauseFrameBytes, PACKET_BYTES),
    Limited("reserve_bytes", &Topology::reserveBytes, BYTES),
    Limited("resume_bytes", &Topology::resumeBytes, BYTES),
    Limited("link_headroom_bytes", &Topology::linkHeadroomBytes, Length{LINKS, true}, BYTES),
    Limited("link_share_ppm", &Topology::linkSharePpm, Length{LINKS, true}),
    &Topology::endpoints,
    From{40},
    Limited("path_transport", &Topology::pathTransport, Length{&Topology::pathSource, true}),
    Limited("path_class", &Topology::pathClass, Length{&Topology::pathSource, true}, Range{0, 5}),
    Limited("markings", &Topology::markings),
    Limited("lossy_classes", &Topology::lossyClasses, Range{0, 5}),
};

inline constexpr Length FOR_EACH_STEP{&Program::op};

/// A message has at most so many times its payload on the wire.
inline constexpr Range WIRE_PPM{0, 1'000'000'000};

template <>
inline constexpr auto FIELDS<ProgramProtocol> = std::tuple{
    &ProgramProtocol::localMembers,
    Limited("near_wire_ppm", &ProgramProtocol::nearWirePpm, WIRE_PPM),
    Limited("far_wire_ppm", &ProgramProtocol::farWirePpm, WIRE_PPM),
    Limited("near_delay_ps", &ProgramProtocol::nearDelayPs, DELAY),
    Limited("far_delay_ps", &ProgramProtocol::farDelayPs, DELAY),
    Limited("launch_ps", &ProgramProtocol::launchPs, DELAY),
    &ProgramProtocol::nearFrom,
};

template <>
inline constexpr auto FIELDS<Program> = std::tuple{
    &Program::id,
    &Program::name,
    &Program::operation,
    &Program::groupSize,
    &Program::units,
    &Program::space,
    &Program::equalUnits,
    Limited("phase_dimension", &Program::phaseDimension, IS_DIMENSION),
    &Program::stepBegin,
    &Program::op,
    Limited("phase", &Program::phase, FOR_EACH_STEP, IndexOf{"phases", &Program::phaseDimension}),
    Limited("peer", &Program::peer, FOR_EACH_STEP),
    Limited("offset", &Program::offset, FOR_EACH_STEP),
    Limited("count", &Program::count, FOR_EACH_STEP),
    Limited("target", &Program::target, FOR_EACH_STEP),
    &Program::depBegin,
    &Program::dep,
    Limited("route", &Program::route, Length{&Program::op, true}),
    Limited("offset_turn", &Program::offsetTurn, Length{TURNS}),
    Limited("target_turn", &Program::targetTurn, Length{TURNS}),
    &Program::pieces,
    &Program::repeat,
    &Program::repeatStep,
    Limited("phase_level",
            &Program::phaseLevel,
            Length{&Program::phaseDimension, true},
            Range{0, 31}),
    Limited("protocol", &Program::protocol),
};

template <>
inline constexpr auto FIELDS<Piece> = std::tuple{
    &Piece::program,
    &Piece::phase,
    &Piece::first,
    &Piece::groups,
    &Piece::groupStep,
    &Piece::memberStep,
    &Piece::unitStep,
};

template <>
inline constexpr auto FIELDS<Collective> = std::tuple{
    &Collective::id,
    &Collective::name,
    &Collective::program,
    Limited("ranks", &Collective::ranks, IS_ENDPOINT),
    &Collective::bytes,
    Limited("chunks", &Collective::chunks, Range{1, MAX_COUNT}),
    &Collective::priorityClass,
    &Collective::iteration,
    &Collective::layer,
    &Collective::groups,
    &Collective::choice,
    &Collective::slowsPpm,
};

inline constexpr Length FOR_EACH_NODE{&Trace::type};
inline constexpr IndexOf IS_TRACE_NODE{"nodes", &Trace::type};

template <>
inline constexpr auto FIELDS<Trace> = std::tuple{
    Limited("ranks", &Trace::ranks, IS_RANK),
    &Trace::layers,
    Limited("names", &Trace::names, FOR_EACH_NODE),
    &Trace::type,
    Limited("layer", &Trace::layer, FOR_EACH_NODE, IndexOf{"layers", &Trace::layers}),
    Limited("iteration", &Trace::iteration, FOR_EACH_NODE),
    Limited("duration_ps", &Trace::durationPs, FOR_EACH_NODE, TIME),
    Limited("collective", &Trace::collective, FOR_EACH_NODE),
    Limited("peer", &Trace::peer, FOR_EACH_NODE),
    Limited("bytes", &Trace::bytes, FOR_EACH_NODE, BYTES),
    Limited("tag", &Trace::tag, FOR_EACH_NODE),
    Limited("dep_begin", &Trace::depBegin, Slices{&Trace::type, &Trace::dep}),
    Limited("dep", &Trace::dep, IS_TRACE_NODE),
    Limited("route", &Trace::route, Length{&Trace::type, true}),
    &Trace::jobs,
    Limited("job", &Trace::job, Length{&Trace::type, true}, IndexOf{"jobs", &Trace::jobs, 1}),
    Limited("lane",
            &Trace::lane,
            Length{&Trace::type, true},
            IndexOf{"lanes", &Trace::laneSlots, 1}),
    Limited("lane_slots", &Trace::laneSlots, Minimum{1}),
    Limited("start_dep_begin", &Trace::startDepBegin, Slices{&Trace::type, &Trace::startDep, true}),
    Limited("start_dep", &Trace::startDep, IS_TRACE_NODE),
    From{30},
    &Trace::peerModulus,
};

} // namespace cosim

#endif // COSIM_STREAM_FIELDS_H
