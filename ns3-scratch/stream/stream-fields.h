/*
 * SPDX-License-Identifier: GPL-2.0-only
 */

#ifndef COSIM_STREAM_FIELDS_H
#define COSIM_STREAM_FIELDS_H

#include "stream/stream.h"
#include "support/fields.h"

#include <tuple>

namespace cosim
{

/**
 * @file
 * Maps the fields of the messages of frontend/network_api.proto to struct members. Fields are
 * numbered 1, 2, 3 and so on; the members are listed in the order of these numbers. `From{n}` says
 * that the next member has the number n.
 */

/// The number of the next field, where numbers before it are not in use.
struct From
{
    uint32_t number; //!< greater than that of the field before
};

template <>
inline constexpr auto FIELDS<TcpSettings> = std::make_tuple(&TcpSettings::congestionControl,
                                                            &TcpSettings::mtuBytes,
                                                            &TcpSettings::segmentBytes,
                                                            &TcpSettings::sendBufferBytes,
                                                            &TcpSettings::receiveBufferBytes,
                                                            &TcpSettings::initialCwndSegments,
                                                            &TcpSettings::minRtoPs,
                                                            &TcpSettings::initialRtoPs,
                                                            &TcpSettings::clockGranularityPs,
                                                            &TcpSettings::delayedAckTimeoutPs,
                                                            &TcpSettings::delayedAckSegments,
                                                            &TcpSettings::dataRetries,
                                                            &TcpSettings::sack,
                                                            &TcpSettings::timestamps,
                                                            &TcpSettings::windowScaling,
                                                            &TcpSettings::ecn,
                                                            &TcpSettings::linkHeaderBytes,
                                                            &TcpSettings::socketPerFlow,
                                                            &TcpSettings::recovery,
                                                            &TcpSettings::buffersCountPackets,
                                                            &TcpSettings::unlimitedWindow);

template <>
inline constexpr auto FIELDS<HostCost> =
    std::make_tuple(&HostCost::messagePs, &HostCost::bytesPerS);

template <>
inline constexpr auto FIELDS<SystemSettings> =
    std::make_tuple(&SystemSettings::scheduling,
                    &SystemSettings::concurrentChunks,
                    &SystemSettings::injectionLatencyPs,
                    &SystemSettings::reductionBytesPerS,
                    &SystemSettings::messageByMessage,
                    &SystemSettings::admission,
                    &SystemSettings::negotiationLatencyPs,
                    &SystemSettings::send,
                    &SystemSettings::receive,
                    &SystemSettings::flowsPerPair,
                    &SystemSettings::slotsPerLevel,
                    &SystemSettings::chunkOrder);

template <>
inline constexpr auto FIELDS<StreamHeader> = std::make_tuple(&StreamHeader::version,
                                                             &StreamHeader::producer,
                                                             &StreamHeader::name,
                                                             &StreamHeader::seed,
                                                             &StreamHeader::scenarioJson);

template <>
inline constexpr auto FIELDS<RepeatSettings> = std::make_tuple(&RepeatSettings::mode,
                                                               &RepeatSettings::tolerancePpm,
                                                               &RepeatSettings::checkInterval);

template <>
inline constexpr auto FIELDS<Settings> = std::make_tuple(&Settings::fabric,
                                                         &Settings::tcp,
                                                         &Settings::system,
                                                         &Settings::rttSampleIntervalPs,
                                                         &Settings::timeLimitPs,
                                                         &Settings::repeat);

template <>
inline constexpr auto FIELDS<Reconfiguration> =
    std::make_tuple(&Reconfiguration::intervalPs,
                    &Reconfiguration::latencyPs,
                    &Reconfiguration::degree,
                    &Reconfiguration::discount,
                    &Reconfiguration::forwarding,
                    &Reconfiguration::circuitRateBps,
                    &Reconfiguration::circuitLatencyPs,
                    &Reconfiguration::circuitBufferBytes,
                    &Reconfiguration::circuitEcnThresholdBytes,
                    &Reconfiguration::controlNetwork);

template <>
inline constexpr auto FIELDS<NetworkEvent> = std::make_tuple(&NetworkEvent::kind,
                                                             &NetworkEvent::timePs,
                                                             &NetworkEvent::text,
                                                             &NetworkEvent::links,
                                                             &NetworkEvent::rateBps,
                                                             &NetworkEvent::lossPpb,
                                                             &NetworkEvent::ranks,
                                                             &NetworkEvent::factorPpm);

template <>
inline constexpr auto FIELDS<Traffic> = std::make_tuple(&Traffic::text,
                                                        &Traffic::beginPs,
                                                        &Traffic::endPs,
                                                        &Traffic::sources,
                                                        &Traffic::targets,
                                                        &Traffic::intervalPs,
                                                        &Traffic::burst,
                                                        &Traffic::sizes,
                                                        &Traffic::cumulativePpb,
                                                        &Traffic::seed,
                                                        &Traffic::route);

template <>
inline constexpr auto FIELDS<Topology> = std::make_tuple(&Topology::ranks,
                                                         &Topology::nodes,
                                                         &Topology::dimensions,
                                                         &Topology::linkSource,
                                                         &Topology::linkTarget,
                                                         &Topology::linkRateBps,
                                                         &Topology::linkLatencyPs,
                                                         &Topology::linkBufferBytes,
                                                         &Topology::linkEcnThresholdBytes,
                                                         &Topology::linkDimension,
                                                         &Topology::pathSource,
                                                         &Topology::pathTarget,
                                                         &Topology::pathBegin,
                                                         &Topology::pathLinks,
                                                         &Topology::forwardingDelayPs,
                                                         &Topology::reconfiguration,
                                                         &Topology::ranksForward,
                                                         &Topology::linkLossPpb,
                                                         &Topology::events,
                                                         &Topology::detectionPs,
                                                         &Topology::reroute,
                                                         &Topology::sharedMemoryAlphaPpm,
                                                         &Topology::spread,
                                                         &Topology::flowletGapPs,
                                                         &Topology::sharedLinks,
                                                         &Topology::traffic,
                                                         &Topology::lossSeed,
                                                         &Topology::nodeNames,
                                                         &Topology::marksAtDequeue);

template <>
inline constexpr auto FIELDS<Program> = std::make_tuple(&Program::id,
                                                        &Program::name,
                                                        &Program::operation,
                                                        &Program::groupSize,
                                                        &Program::units,
                                                        &Program::space,
                                                        &Program::equalUnits,
                                                        &Program::phaseDimension,
                                                        &Program::stepBegin,
                                                        &Program::op,
                                                        &Program::phase,
                                                        &Program::peer,
                                                        &Program::offset,
                                                        &Program::count,
                                                        &Program::target,
                                                        &Program::depBegin,
                                                        &Program::dep,
                                                        &Program::route,
                                                        &Program::offsetTurn,
                                                        &Program::targetTurn,
                                                        &Program::pieces,
                                                        &Program::repeat,
                                                        &Program::repeatStep,
                                                        &Program::phaseLevel);

template <>
inline constexpr auto FIELDS<Piece> = std::make_tuple(&Piece::program,
                                                      &Piece::phase,
                                                      &Piece::first,
                                                      &Piece::groups,
                                                      &Piece::groupStep,
                                                      &Piece::memberStep,
                                                      &Piece::unitStep);

template <>
inline constexpr auto FIELDS<Collective> = std::make_tuple(&Collective::id,
                                                           &Collective::name,
                                                           &Collective::program,
                                                           &Collective::ranks,
                                                           &Collective::bytes,
                                                           &Collective::chunks,
                                                           &Collective::priorityClass,
                                                           &Collective::iteration,
                                                           &Collective::layer,
                                                           &Collective::groups,
                                                           &Collective::choice);

template <>
inline constexpr auto FIELDS<Trace> = std::make_tuple(&Trace::ranks,
                                                      &Trace::layers,
                                                      &Trace::names,
                                                      &Trace::type,
                                                      &Trace::layer,
                                                      &Trace::iteration,
                                                      &Trace::durationPs,
                                                      &Trace::collective,
                                                      &Trace::peer,
                                                      &Trace::bytes,
                                                      &Trace::tag,
                                                      &Trace::depBegin,
                                                      &Trace::dep,
                                                      &Trace::route,
                                                      &Trace::jobs,
                                                      &Trace::job,
                                                      &Trace::lane,
                                                      &Trace::laneSlots,
                                                      &Trace::startDepBegin,
                                                      &Trace::startDep,
                                                      From{30},
                                                      &Trace::peerModulus);

} // namespace cosim

#endif // COSIM_STREAM_FIELDS_H
