#!/usr/bin/env bash
# Removes from an environment what a run does not need: headers, tests of packages, and the libraries of ns-3 that the
# simulator does not link. ns-3 stays whole for its Python bindings, if they are there. Usage: prune.sh VENV
set -euo pipefail
cd "$1"/lib/python3.*/site-packages

if [ ! -d cppyy ]; then
    rm -rf ns3/include ns3/libexec ns3/ns ns3/visualizer
    needed=$(ldd bridge/_core*.so bridge/bin/replay | grep -o '/ns3/lib64/[^ ]*' | sort -u)
    for library in ns3/lib64/*; do
        grep -qxF "/$library" <<<"$needed" || rm -rf "$library"
    done
fi
find . -type d \( -name tests -o -name test \) -prune -exec rm -rf {} +
find . -type d -name include -path '*numpy*' -prune -exec rm -rf {} +
