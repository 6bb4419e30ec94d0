#!/usr/bin/env bash
# Tests the image on a running Docker engine: it builds and is small, a start is quick, and it simulates with compose.yaml and
# with plain `docker run`. Results are on the host, belong to the owner of the folder, not to root, and equal a local run
# except for values of the machine.
# Usage: docker/test-docker.sh [SCENARIO]. It needs .venv; make test-docker creates it.
set -euo pipefail
cd "$(dirname "$0")/.."
scenario=${1:-scenarios/collective.yaml}
name=$(basename "${scenario%.*}")
most_bytes=500000000 # beside the 130 MB of the base image
most_seconds=3

docker compose version >/dev/null 2>&1 || { echo "test-docker needs the docker client with Compose v2." >&2; exit 1; }
docker info >/dev/null 2>&1 || { echo "test-docker needs a running Docker engine, but docker info finds none." >&2; exit 1; }

work=$(mktemp -d)
export COMPOSE_PROJECT_NAME=cosim-test-$$ COSIM_IMAGE=cosim-test-$$ COSIM_RESULTS=$work/results
cleanup() {
    docker compose down --volumes --remove-orphans >/dev/null 2>&1 || true
    docker image rm "$COSIM_IMAGE" >/dev/null 2>&1 || true
    rm -rf "$work"
}
trap cleanup EXIT
check() { if "${@:2}"; then echo "ok: $1"; else echo "FAILED: $1" >&2; exit 1; fi; }
cosim() { docker compose run --rm -T "${mounts[@]}" sim "$@" >"$work/summary"; }
owner() { stat -c %u "$work/results/$name/${1:-result.json}"; }
seconds() { # COMMAND...: prints the least time of three
    for _ in 1 2 3; do
        /usr/bin/env bash -c 'TIMEFORMAT=%R; time "$@" >/dev/null 2>&1' - "$@" 2>&1
    done | sort -n | head -1
}
same() { # RESULT RESULT: compares all but values of the machine
    .venv/bin/python - "$@" <<'PYTHON'
import json
import sys

MACHINE = {"wall_s", "cpu_s", "peak_rss_bytes", "events_per_s", "versions"}


def simulated(path: str) -> str:
    result = json.load(open(path, encoding="utf-8"))
    result["simulator"] = {k: v for k, v in result["simulator"].items() if k not in MACHINE}
    return json.dumps(result, sort_keys=True)


sys.exit(simulated(sys.argv[1]) != simulated(sys.argv[2]))
PYTHON
}

mounts=()
chmod 755 "$work"
mkdir "$work/results"
docker compose config --quiet
docker compose build
check "the user of the image is not root" grep -q '^10001' <<<"$(docker image inspect --format '{{.Config.User}}' "$COSIM_IMAGE")"
# Layers are listed from the newest to the oldest; the first of ours copies the environment.
bytes=$(docker history --no-trunc --human=false --format '{{.Size}} {{.CreatedBy}}' "$COSIM_IMAGE" |
    awk '!base { sum += $1 } /COPY \/opt\/cosim/ { base = 1 } END { print sum }')
check "the image adds at most $most_bytes bytes to its base: $bytes" test "$bytes" -le $most_bytes
inside=$(seconds docker run --rm "$COSIM_IMAGE" list)
outside=$(seconds .venv/bin/cosim list)
check "a start costs less than $most_seconds s more: $inside s instead of $outside s" \
    awk "BEGIN { exit !($inside - $outside < $most_seconds) }"

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
.venv/bin/cosim run "$scenario" --out "$work/local" >/dev/null
check "it equals the local result" same "$work/results/$name/result.json" "$work/local/result.json"
if [[ $EUID == 0 ]]; then
    for user in 0 10001; do # root's folder before its first container, and after
        rm -r "$work/results"
        install -d -o $user -g $user "$work/results"
        cp -r "$work/local" "$work/results/$name"
        .venv/bin/cosim sweep scenarios/first.yaml --over topology.ranks=2 --out "$work/results/first-sweep" >/dev/null
        touch "$work/results/$name/notes"
        mkdir "$work/results/other"
        install -d -o 4321 -g 4321 -m 700 "$work/results/private"
        cosim "$scenario"
        check "it replaces a result of root" test "$(owner)" = 10001
        check "what else is root's stays root's" test "$(owner notes) $(owner ../other)" = "0 0"
        check "what is another user's stays so" test "$(owner ../private)" = 4321
    done
fi

check "other commands run" cosim list
cosim sweep scenarios/first.yaml --over topology.ranks=2,4
check "a sweep is on the host" test "$(find "$work/results/first-sweep" -name result.json | wc -l)" = 2
cosim compile scenarios/first.yaml
check "a stream is on the host" test -s "$work/results/first.stream"
cosim plot results/"$name" -o "results/$name.svg"
check "a picture is on the host" test -s "$work/results/$name.svg"

mkdir "$work/mine"
cp scenarios/first.yaml "$work/mine/other.yaml"
mounts=(-v "$work/mine:/work/mine:ro")
cosim mine/other.yaml
check "a scenario from elsewhere runs" test -s "$work/results/first/result.json"

user=(--user "$(stat -c %u:%g "$work/mine")")
docker run --rm "${user[@]}" -v "$work/mine:/work" "$COSIM_IMAGE" init hello >/dev/null
docker run --rm "${user[@]}" -v "$work/mine:/work" "$COSIM_IMAGE" run hello.yaml >/dev/null
check "docker run works in a folder of the host" test -s "$work/mine/results/hello/result.json"
check "the files there have its owner" test "$(stat -c %u "$work/mine/hello.yaml")" = "$(stat -c %u "$work/mine")"
