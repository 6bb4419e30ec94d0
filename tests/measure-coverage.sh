#!/usr/bin/env bash
# Runs the tests twice and reports the lines that ran: once with counters in C++ (gcov), once with counters in Python
# (coverage.py). Both at once would take several times as long.
# The pages are build/coverage/cxx/index.html and build/coverage/python/index.html.
# Usage: measure-coverage.sh VENV [OPTION OF PYTEST]...     build-instrumented.sh VENV coverage comes first.
set -euo pipefail
cd "$(dirname "$0")/.."
venv=$1
shift
folder=$PWD/build/instrumented/coverage
pages=build/coverage

rm -rf "$folder/python" "$pages"
mkdir -p "$pages/cxx"
find "$folder/tree" -name '*.gcda' -delete
failed=0
COSIM_BUILD=$folder/tree "$folder/environment/bin/python" -m pytest -n auto --dist worksteal -q "$@" || failed=$?
"$venv/bin/gcovr" --root . --filter ns3-scratch/ --filter '.*/src/' --exclude '.*-tests?\.cc' --merge-mode-functions=separate --merge-lines \
    --exclude-throw-branches --html-details "$pages/cxx/index.html" --json-summary "$pages/cxx.json" --txt "$pages/cxx.txt" \
    "$folder/tree"

# A full disk leaves no space for the counters of coverage.py either.
"$venv/bin/python" -m coverage run -m pytest -n auto --dist worksteal -q --ignore tests/bridge/test_full_disk.py "$@" || failed=$?
"$venv/bin/python" -m coverage combine -q
"$venv/bin/python" -m coverage html -q -d "$pages/python"

grep -E '^(TOTAL|-|File)' "$pages/cxx.txt"
"$venv/bin/python" -m coverage report | tail -1
exit "$failed"
