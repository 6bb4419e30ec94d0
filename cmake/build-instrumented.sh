#!/usr/bin/env bash
# Builds the package with sanitizers or with counters of lines, in an environment of its own that shares the packages of VENV.
# It writes only below build/instrumented/KIND: environment/ has bin/python, tree/ has ns3-scratch/replay and cosim-tests.
# Usage: build-instrumented.sh VENV sanitize|coverage
set -euo pipefail
shopt -s inherit_errexit
cd "$(dirname "$0")/.."
venv=$PWD/$1
folder=$PWD/build/instrumented/$2
export PATH=$venv/bin:$PATH # another version of ninja would compile everything again

packages() { "$1/bin/python" -c 'import sysconfig; print(sysconfig.get_path("platlib"))'; }

[ -d "$folder/environment" ] || "$venv/bin/python" -m venv --without-pip "$folder/environment"
packages "$venv" >"$(packages "$folder/environment")/shared.pth"
echo "Building with -DCOSIM_${2^^}=ON (minutes the first time)"
"$venv/bin/python" -m pip --python "$folder/environment" install -qq --no-input --disable-pip-version-check \
    --ignore-installed --no-deps --no-build-isolation -e . -Cbuild-dir="$folder/tree" -Ccmake.define.COSIM_"${2^^}"=ON \
    -Ccmake.define.NS3_ROOT="$(packages "$venv")/ns3"
cmake --build "$folder/tree" --target cosim-tests
