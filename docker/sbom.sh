#!/usr/bin/env bash
# Writes dist/cosim.cdx.json, the bill of materials of the image's Python environment, in the format CycloneDX.
# Usage: docker/sbom.sh VENV     VENV has cyclonedx-bom; `make sbom` creates it.
set -euo pipefail
cd "$(dirname "$0")/.."
venv=$1
environment=build/sbom

rm -rf "$environment"
"$venv/bin/python" -m venv --without-pip "$environment"
pip() { "$venv/bin/python" -m pip --python "$environment" -q --disable-pip-version-check "$@"; }
pip install --require-hashes --no-deps -r docker/pins/ns3.txt
pip install --require-hashes -r docker/pins/runtime.txt
mkdir -p dist
"$venv/bin/cyclonedx-py" environment --pyproject pyproject.toml --output-reproducible \
    --output-file dist/cosim.cdx.json "$environment/bin/python"
echo "dist/cosim.cdx.json"
