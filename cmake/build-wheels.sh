#!/usr/bin/env bash
# Builds a manylinux wheel of cosim for each Python, and tests it in an environment of its own without a compiler.
# The wheels go to dist/. Everything else is below build/.
#
# Usage: build-wheels.sh VENV [PYTHON]...     VENV has the ns3 wheel (make creates it); by default, all of python3.11 … 3.13
#                                             that exist are used. make wheel ARGS="/path/to/python3.12" builds for one.
# The platform in a wheel's name follows from the C library of this machine: a wheel built in a manylinux_2_28 container
# runs on older systems than one built on Debian 12.
set -euo pipefail
shopt -s inherit_errexit
cd "$(dirname "$0")/.."
venv=$1
shift
pythons=("$@")
if [ ${#pythons[@]} = 0 ]; then
    for python in python3.11 python3.12 python3.13; do
        if "$python" --version >/dev/null 2>&1; then pythons+=("$python"); fi
    done
fi
[ ${#pythons[@]} != 0 ] || { echo "cosim: no python3.11, python3.12 or python3.13 was found: name one." >&2; exit 1; }

ns3=$(echo "$PWD/$venv"/lib/python3.*/site-packages/ns3)
ns3_version=$(basename "$(dirname "$ns3")"/ns3-*.dist-info .dist-info)
ns3_version=${ns3_version#ns3-}
tools=build/wheel-tools
fresh="-qq --no-input --disable-pip-version-check"

tag_of() { # PYTHON: prints a tag such as cp311
    "$1" -c 'import sys; print(f"cp{sys.version_info.major}{sys.version_info.minor}")'
}

build() { # TAG PYTHON: prints the wheel's file
    local environment=$tools/$1 options
    rm -rf build/wheel-raw
    if [ "$1" = "$(tag_of "$venv/bin/python")" ]; then
        # What `make setup` compiled serves for the wheel, too.
        environment=$venv
        options=()
    else
        rm -rf "$environment"
        "$2" -m venv "$environment" >&2
        # ns-3's C++ is the same in its wheels for all Pythons. One build folder therefore serves the others, and only the
        # bindings are compiled again; its cache of options is not kept, because it names the Python.
        rm -f build/wheel-tree/CMakeCache.txt
        options=(-Cbuild-dir=build/wheel-tree -Ccmake.define.NS3_ROOT="$ns3" -Ccmake.define.COSIM_NS3_BESIDE=ON)
    fi
    # shellcheck disable=SC2086
    "$environment/bin/pip" install $fresh --require-hashes -r docker/pins/wheel.txt >&2
    # shellcheck disable=SC2086
    PATH=$PWD/$environment/bin:$PATH "$environment/bin/pip" wheel $fresh --no-build-isolation --no-deps -w build/wheel-raw . \
        "${options[@]}" >&2
    # The libraries of ns-3 stay in the ns3 wheel, which is installed beside this one.
    PATH=$PWD/$environment/bin:$PATH "$environment/bin/auditwheel" repair --exclude 'libns3*' -w dist build/wheel-raw/*.whl \
        2>"$tools/auditwheel.log" >&2 || { cat "$tools/auditwheel.log" >&2; exit 1; }
    ls -t dist/*-"$1"-*.whl | head -1
}

try() { # TAG PYTHON WHEEL: installs the wheel without a compiler and simulates
    local environment=$tools/$1-test work
    rm -rf "$environment"
    "$2" -m venv "$environment"
    # shellcheck disable=SC2086
    "$environment/bin/pip" install $fresh --only-binary :all: --no-deps "ns3==$ns3_version"
    # shellcheck disable=SC2086
    "$environment/bin/pip" install $fresh --only-binary :all: "$3"
    environment=$PWD/$environment
    work=$(mktemp -d)
    (
        cd "$work"
        bare() { env -i HOME="$work" PATH="$environment/bin" "$@" 2>messages || { cat messages >&2; exit 1; }; }
        bare cosim init >/dev/null
        bare cosim run first.yaml --json >result.json
        bare cosim examples >/dev/null
        bare cosim run scenarios/dlrm_hier_small.yaml >/dev/null
        bare cosim sweep first.yaml --over seed=1,2 --jobs 2 >/dev/null
        bare cosim compile first.yaml -o first.stream
        bare "$(echo "$environment"/lib/python3.*/site-packages/bridge/bin/replay)" first.stream >/dev/null
        bare python -c 'import cosim; assert cosim.run("first.yaml").status == "complete"'
    )
    rm -rf "$work"
}

mkdir -p dist "$tools"
for python in "${pythons[@]}"; do
    tag=$(tag_of "$python")
    echo "Building the wheel for $("$python" --version)"
    wheel=$(build "$tag" "$python")
    echo "Testing $wheel"
    try "$tag" "$python" "$wheel"
done
ls -l dist/*.whl
