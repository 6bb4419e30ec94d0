#!/usr/bin/env bash
# Writes dist/cosim.cdx.json, the bill of materials of the image's Python environment, in the format CycloneDX. The extras are
# those of the Dockerfile; EXTRAS=plot,scripting names others.
# Usage: docker/sbom.sh VENV     VENV has cyclonedx-bom; `make sbom` creates it.
set -euo pipefail
cd "$(dirname "$0")/.."
venv=$1
environment=build/sbom
extras=${EXTRAS:-$(sed -n 's/^ARG EXTRAS=//p' docker/Dockerfile)}

rm -rf "$environment"
"$venv/bin/python" -m venv --without-pip "$environment"
pip() { "$venv/bin/python" -m pip --python "$environment" -q --disable-pip-version-check "$@"; }
pip install --require-hashes --no-deps -r docker/pins/ns3.txt
for extra in runtime ${extras//,/ }; do
    pip install --require-hashes -r "docker/pins/$extra.txt"
done
mkdir -p dist
"$venv/bin/cyclonedx-py" environment --pyproject pyproject.toml --output-reproducible \
    --output-file dist/cosim.cdx.json "$environment/bin/python"
echo "dist/cosim.cdx.json"
