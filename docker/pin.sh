#!/usr/bin/env bash
# Writes docker/pins/*.txt: every package that the image and the wheels are built with, and every package that the image
# installs, each with its version from constraints.txt and the hashes of its files. There is one file for each extra.
# Usage: docker/pin.sh VENV     VENV has uv; `make pins` creates it.
set -euo pipefail
shopt -s inherit_errexit
cd "$(dirname "$0")/.."

wanted() { # KEY...: prints the requirements at these places of pyproject.toml
    "$venv/bin/python" - "$@" <<'PYTHON'
import sys
import tomllib

with open("pyproject.toml", "rb") as file:
    document = tomllib.load(file)
for place in sys.argv[1:]:
    part = document
    for key in place.split("."):
        part = part[key]
    print(*part, sep="\n")
PYTHON
}
pin() { # NAME [OPTION]...: reads requirements, writes docker/pins/NAME.txt
    "$venv/bin/uv" pip compile --quiet --generate-hashes --universal --python-version 3.11 --no-annotate --no-header \
        --constraint constraints.txt --output-file "docker/pins/$1.txt" "${@:2}" - >/dev/null
}

venv=$1
rm -f docker/pins/*.txt
{ wanted dependency-groups.build; echo pip; } | pin build
{ wanted dependency-groups.build dependency-groups.wheel; echo pip; } | pin wheel
echo ns3 | pin ns3 --no-deps
wanted project.dependencies | pin runtime
for extra in $(wanted project.optional-dependencies); do
    wanted project.dependencies "project.optional-dependencies.$extra" | pin "$extra"
done
