/*
 * SPDX-License-Identifier: GPL-2.0-only
 */

#ifndef COSIM_EVENT_ORIGIN_H
#define COSIM_EVENT_ORIGIN_H

#include <compare>
#include <cstdint>

namespace cosim
{

/**
 * The origin of an event. It decides which of two events at the same time runs first.
 *
 * ns-3 runs events of the same time in the order in which they were scheduled. An optimized model
 * may schedule an event later than the original model, for example because one event replaces two,
 * or because a timer is pushed back without a new event. Without an origin, that event would also
 * run later than in the original model. With the origin of the original event, it keeps its place.
 */
struct EventOrigin
{
    int64_t scheduledPs{0}; //!< time at which it was scheduled, or would have been
    int64_t causePs{0};     //!< time at which the event that scheduled it was scheduled
    int64_t number{0};      //!< increasing number that decides if all else is equal

    auto operator<=>(const EventOrigin&) const = default;
};

} // namespace cosim

#endif // COSIM_EVENT_ORIGIN_H
