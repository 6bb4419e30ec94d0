/*
 * SPDX-License-Identifier: GPL-2.0-only
 */

#include "ns3/test.h"

/// Runs the suites that the `*-test.cc` files register; `--help` lists the options.
int
main(int argc, char* argv[])
{
    return ns3::TestRunner::Run(argc, argv);
}
