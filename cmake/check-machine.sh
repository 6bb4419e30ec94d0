#!/bin/sh
# Prints the path of the Python to build with. If this machine lacks something, prints one sentence about it and exits with 1.
# Usage: check-machine.sh [PYTHON]
debian="Debian, Ubuntu: sudo apt install g++ make python3-dev python3-venv"
fail() { echo "cosim: $*" >&2; exit 1; }
supported() { "$1" -c 'import sys; sys.exit(not (3, 11) <= sys.version_info < (3, 14))' 2>/dev/null; }

[ "$(uname -sm)" = "Linux x86_64" ] || [ -n "$NS3_ROOT" ] ||
    fail "the ns3 wheel exists for Linux on x86-64 only: build ns-3.44 on this machine and run make NS3_ROOT=PREFIX."
if [ -n "$1" ]; then
    command -v "$1" >/dev/null || fail "PYTHON=$1 does not exist: set PYTHON to a Python 3.11, 3.12 or 3.13."
    supported "$1" || fail "PYTHON=$1 is $("$1" --version 2>&1 | tail -n 1), but Python 3.11, 3.12 or 3.13 is needed."
    python=$1
else
    for python in python3 python3.13 python3.12 python3.11 none; do
        if supported "$python"; then break; fi
    done
    [ "$python" != none ] || fail "Python 3.11, 3.12 or 3.13 is needed, but none was found: install one, or run make PYTHON=/path/to/python3.12."
fi
"$python" -c 'import ensurepip, venv' 2>/dev/null ||
    fail "$python has no venv module: install it ($debian)."
[ -f "$("$python" -c 'import sysconfig; print(sysconfig.get_path("include"))')/Python.h" ] ||
    fail "$python has no headers (Python.h): install them ($debian)."
command -v "${CXX:-c++}" >/dev/null ||
    fail "a C++20 compiler is needed, but ${CXX:-c++} does not exist: install one ($debian), or set CXX to your compiler."
printf '#include <concepts>\n#include <span>\nstatic_assert(__cplusplus >= 201709L && __cpp_lib_span);' |
    "${CXX:-c++}" -std=c++20 -fsyntax-only -x c++ - 2>/dev/null ||
    fail "${CXX:-c++} cannot compile C++20: install GCC >= 10 or Clang >= 11, or set CXX to another compiler."
echo "$python"
