#!/usr/bin/env bash
# Runs the tests with counters of lines, and reports the lines that ran: Python by coverage.py, C++ by gcov.
# The pages are build/coverage/python/index.html and build/coverage/cxx/index.html.
# Usage: measure-coverage.sh VENV [OPTION OF PYTEST]...     build-instrumented.sh VENV coverage comes first.
set -euo pipefail
cd "$(dirname "$0")/.."
venv=$1
shift
folder=$PWD/build/instrumented/coverage
python=$folder/environment/bin/python
pages=build/coverage
export COSIM_BUILD=$folder/tree

rm -rf "$folder/python" "$pages"
mkdir -p "$pages/cxx"
find "$folder/tree" -name '*.gcda' -delete
failed=0
"$python" -m coverage run -m pytest -n auto -q "$@" || failed=$?
"$python" -m coverage combine -q
"$python" -m coverage html -q -d "$pages/python"
"$venv/bin/gcovr" --root . --filter ns3-scratch/ --filter '.*/src/' --exclude '.*-tests?\.cc' --merge-mode-functions=separate \
    --exclude-throw-branches --html-details "$pages/cxx/index.html" --json-summary "$pages/cxx.json" --txt "$pages/cxx.txt" \
    "$folder/tree"
grep -E '^(TOTAL|-|File)' "$pages/cxx.txt"
"$python" -m coverage report | tail -1
exit "$failed"
