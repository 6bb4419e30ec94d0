"""Run streams with ns3-scratch's `replay`, and read the result and the events."""

import json
import re
import subprocess
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import pytest

from frontend import network_api_pb2 as api
from frontend.stream import decode
from tests.build_tree import find_program
from tests.ns3_scratch.streams import ps

Event = dict[str, Any]


@dataclass(frozen=True)
class Observed:
    """A run: its stream, its result with events and without, and the events."""

    stream: bytes
    result: dict[str, Any]
    unobserved: dict[str, Any]
    events: list[Event]

    def select(self, name: str) -> list[Event]:
        """Return the events with a name, in their order."""
        return [event for event in self.events if event["event"] == name]

    @property
    def traces(self) -> list[api.Trace]:
        """Return the traces of the stream."""
        return [record.trace for record in decode(self.stream) if record.HasField("trace")]

    @property
    def topology(self) -> api.Topology:
        """Return the topology of the stream."""
        (found,) = (r.topology for r in decode(self.stream) if r.HasField("topology"))
        return found


def find_replay() -> Path:
    """Return the program without Python, or skip the test."""
    program = find_program("replay")
    if program is None:
        pytest.skip("ns3-scratch/replay is not built in this tree")
    return program


def without_warning(stderr: str) -> str:
    """Return what a program wrote to stderr, without the warning of AddressSanitizer.

    It comes in a sanitized build at the first switch of the stack (clock/fatal-errors.cc).
    """
    warning = r"^==\d+==WARNING: ASan doesn't fully support makecontext/swapcontext functions .*\n"
    return re.sub(warning, "", stderr, count=1, flags=re.MULTILINE)


def observe(program: Path, stream: bytes, folder: Path) -> Observed:
    """Run a stream with and without events."""
    file, events = folder / "x.stream", folder / "x.events"
    file.write_bytes(stream)

    def run(*options: str | Path) -> dict[str, Any]:
        done = subprocess.run([program, *options, file], capture_output=True, check=True)
        result: dict[str, Any] = json.loads(done.stdout)
        return result

    result = run("--events", events)
    lines = events.read_text("utf-8").splitlines()
    return Observed(stream, result, run(), [json.loads(line) for line in lines])


@dataclass
class RankTimes:
    """Start and end times of the nodes of a rank [ps]."""

    begun: dict[int, int]
    ended: dict[int, int]

    @classmethod
    def of(cls, observed: Observed, rank: int) -> "RankTimes":
        """Collect the times from the events."""
        times = cls({}, {})
        for event in observed.events:
            if event["event"] in {"node_begun", "node_ended"} and event["rank"] == rank:
                known = times.begun if event["event"] == "node_begun" else times.ended
                known[event["node"]] = ps(event["time_ns"])
        return times

    def last(self, nodes: list[int]) -> int | None:
        """Return the node that ended last; in a tie, the one listed last."""
        return max(reversed(nodes), key=lambda node: self.ended[node], default=None)


def exposed_ps(trace: api.Trace, times: RankTimes) -> dict[tuple[int, int], int]:
    """Return a rank's exposed communication by (iteration, layer), from the times of its nodes.

    A wait of the compute stream belongs to the dependency that ended last. The part of the wait
    before this dependency started belongs to the dependency's own dependencies.
    """
    after = [
        list(trace.dep[trace.dep_begin[node] : trace.dep_begin[node + 1]])
        for node in range(len(trace.type))
    ]

    computes = [node for node, kind in enumerate(trace.type) if kind == api.Trace.COMPUTE]
    waits: list[tuple[int, int, int | None]] = []
    idle_since = 0
    for node in computes:
        waits.append((idle_since, times.begun[node], times.last(after[node])))
        idle_since = times.ended[node]
    others = [node for node in range(len(trace.type)) if node not in set(computes)]
    waits.append((idle_since, max(times.ended.values()), times.last(others)))
    found: dict[tuple[int, int], int] = {}
    for begin, end, cause in waits:
        until = end
        while cause is not None and until > begin and trace.type[cause] != api.Trace.COMPUTE:
            low = max(begin, times.begun[cause])
            high = min(until, times.ended[cause])
            if high > low and trace.type[cause] in {api.Trace.COLLECTIVE, api.Trace.RECV}:
                key = trace.iteration[cause], trace.layer[cause]
                found[key] = found.get(key, 0) + high - low
            until = min(low, high)
            cause = times.last(after[cause])
    return found
