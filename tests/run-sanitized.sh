#!/usr/bin/env bash
# Runs what a stranger's file can reach with AddressSanitizer and UndefinedBehaviorSanitizer: the unit tests in C++, all small
# scenarios on all fabrics, altered streams, and the Python extensions, which read files and compute schedules.
# Usage: run-sanitized.sh VENV [OPTION OF PYTEST]...     build-instrumented.sh VENV sanitize comes first.
set -euo pipefail
cd "$(dirname "$0")/.."
venv=$1
shift
tree=$PWD/build/instrumented/sanitize/tree
python=$PWD/build/instrumented/sanitize/environment/bin/python
export COSIM_BUILD=$tree UBSAN_OPTIONS=print_stacktrace=1

"$venv/bin/python" -m pytest -n auto -q -m "" tests/ns3_scratch/test_sanitized.py tests/ns3_scratch/test_units.py "$@"
"$venv/bin/python" -m tests.fuzz --count 1000 --seconds 300 --replay "$tree/ns3-scratch/replay"

# A Python without the sanitizer must load it first, and with it the library that throws exceptions, which it watches. Python
# keeps memory until its end, which is no leak.
export ASAN_OPTIONS=detect_leaks=0
preload="$(c++ -print-file-name=libasan.so) $(c++ -print-file-name=libstdc++.so)"
LD_PRELOAD=$preload "$python" -m pytest -n auto -q -m "not slow and not long and not scripting and not sanitize" \
    tests/frontend/test_chakra.py tests/topology_gen tests/ns3_scratch "$@"
