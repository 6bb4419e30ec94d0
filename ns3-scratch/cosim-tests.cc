/*
 * SPDX-License-Identifier: GPL-2.0-only
 */

#include "ns3/test.h"

/// Run the test suites that the `*-test.cc` files register. The option `--help` lists the options.
int
main(int argc, char* argv[])
{
    return ns3::TestRunner::Run(argc, argv);
}
