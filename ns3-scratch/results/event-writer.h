/*
 * SPDX-License-Identifier: GPL-2.0-only
 */

#ifndef COSIM_EVENT_WRITER_H
#define COSIM_EVENT_WRITER_H

#include "network/run-observer.h"

#include <memory>
#include <ostream>

namespace cosim
{

/**
 * @param out receives the lines; the caller checks it for errors; must outlive the observer
 * @return an observer that writes each event of a run as one line of JSON. A line has the name of
 * the event, its time in nanoseconds (formatted as in a result), and the fields of the event struct
 * in RunObserver. Nodes are written with the names of their layer and job, and collectives with
 * their own name.
 */
std::unique_ptr<RunObserver> MakeEventWriter(std::ostream& out);

} // namespace cosim

#endif // COSIM_EVENT_WRITER_H
