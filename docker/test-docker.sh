#!/usr/bin/env bash
# Tests the image on a running Docker engine: it builds, it simulates with compose.yaml, and the result is on the host. The
# result belongs to the owner of the results folder, not to root, and equals a local run except for values of the machine.
# Usage: docker/test-docker.sh [SCENARIO]. It needs .venv; make test-docker creates it.
set -euo pipefail
cd "$(dirname "$0")/.."
scenario=${1:-scenarios/collective.yaml}
name=$(basename "${scenario%.*}")

docker compose version >/dev/null 2>&1 || { echo "test-docker needs the docker client with Compose v2." >&2; exit 1; }
docker info >/dev/null 2>&1 || { echo "test-docker needs a running Docker engine, but docker info finds none." >&2; exit 1; }

work=$(mktemp -d)
export COMPOSE_PROJECT_NAME=cosim-test-$$ COSIM_RESULTS=$work/results
cleanup() {
    docker compose down --rmi local --volumes --remove-orphans >/dev/null 2>&1 || true
    rm -rf "$work"
}
trap cleanup EXIT
check() { if "${@:2}"; then echo "ok: $1"; else echo "FAILED: $1" >&2; exit 1; fi; }
cosim() { docker compose run --rm -T sim "$@" >"$work/summary"; }
owner() { stat -c %u "$work/results/$name/result.json"; }

chmod 755 "$work"
mkdir "$work/results"
docker compose config --quiet
docker compose build
image=$(docker compose config --images)
check "the user of the image is not root" grep -q '^10001' <<<"$(docker image inspect --format '{{.Config.User}}' "$image")"

cosim "$scenario"
check "the summary is on standard output" test -s "$work/summary"
check "the result is on the host" test -s "$work/results/$name/result.json"
check "root did not write it" test "$(owner)" != 0
if [[ $EUID == 0 ]]; then # only root can give the folder to another user
    rm -r "$work/results"
    install -d -o 4321 -g 4321 "$work/results"
    cosim "$scenario"
    check "it belongs to the owner of the results folder" test "$(owner)" = 4321
else
    check "it belongs to the owner of the results folder" test "$(owner)" = "$EUID"
fi
check "other commands run" cosim list

.venv/bin/cosim run "$scenario" --out "$work/local" >/dev/null
check "it equals the local result" .venv/bin/python - "$work/results/$name/result.json" "$work/local/result.json" <<'PYTHON'
import json
import sys

MACHINE = {"wall_s", "cpu_s", "peak_rss_bytes", "events_per_s", "versions"}


def simulated(path: str) -> str:
    result = json.load(open(path, encoding="utf-8"))
    result["simulator"] = {k: v for k, v in result["simulator"].items() if k not in MACHINE}
    return json.dumps(result, sort_keys=True)


sys.exit(simulated(sys.argv[1]) != simulated(sys.argv[2]))
PYTHON
