"""timeline.json.gz: well-formed, complete, within its limits, and equal to the result."""

from __future__ import annotations

import gzip
import json
import math
from collections import defaultdict
from itertools import pairwise
from pathlib import Path
from typing import Any

import pytest
from click.testing import CliRunner

import bridge
from bridge.cli.main import main
from tests.bridge.trace_processor import ask

NETWORK = 1_000_000
LOSSY = ["topology.buffer=300KB", "workload.peer_order=same", "transport.min_rto=1ms"]
COMPUTE = 1


def read(folder: Path) -> dict[str, Any]:
    with gzip.open(folder / "timeline.json.gz", "rt", encoding="utf-8") as file:
        document: dict[str, Any] = json.load(file)
    return document


def counters(document: dict[str, Any]) -> dict[str, list[tuple[float, float]]]:
    """Return the points of each counter: time and value, ordered by time as Perfetto does."""
    found: dict[str, list[tuple[float, float]]] = defaultdict(list)
    for event in sorted(document["traceEvents"], key=lambda one: one["ts"]):
        if event["ph"] == "C":
            [value] = event["args"].values()
            found[event["name"]].append((event["ts"], value))
    return found


def slices(document: dict[str, Any]) -> list[dict[str, Any]]:
    """Return the slices with their ends and parents; fail if they do not nest.

    The events are read as Perfetto does, which sorts them by time and keeps the order of equal
    times. An arrow needs an open slice at both of its ends.
    """
    stacks: dict[tuple[int, int], list[dict[str, Any]]] = defaultdict(list)
    found = []
    for event in sorted(document["traceEvents"], key=lambda one: one["ts"]):
        kind, track = event["ph"], (event["pid"], event["tid"])
        if kind == "B":
            stack = stacks[track]
            found.append(event | {"parent": stack[-1] if stack else None, "depth": len(stack)})
            stack.append(found[-1])
        elif kind == "E":
            begun = stacks[track].pop()
            begun["end"] = event["ts"]
            begun["args"] = begun.get("args", {}) | event.get("args", {})
        elif kind in "sf":
            assert stacks[track], event
    assert not any(stacks.values())
    return found


@pytest.fixture(scope="module")
def dlrm(repository: Path, tmp_path_factory: pytest.TempPathFactory) -> tuple[Any, Any, Path]:
    folder = tmp_path_factory.mktemp("dlrm")
    scenario = repository / "scenarios" / "dlrm_hier_opt_small.yaml"
    result = bridge.run(scenario, ["outputs=[timeline]"], out=folder)
    return result, read(folder), folder


def test_collectives_hold_chunks_and_chunks_hold_phases(dlrm: Any) -> None:
    result, document, _ = dlrm
    found = slices(document)
    collectives = [one for one in found if "algorithm" in one.get("args", {})]
    names = {(one["name"], one["args"]["iteration"]) for one in collectives}
    assert names == {(one.name, one.iteration) for one in result.collectives}
    for one in found:
        if one["name"].startswith("phase"):
            assert one["parent"]["name"].startswith("chunk")
            assert one["parent"]["parent"] in collectives
            assert one["parent"]["ts"] <= one["ts"] <= one["end"] <= one["parent"]["end"]
    [first] = {
        (one["ts"], one["args"]["bytes"], one["args"]["algorithm"])
        for one in collectives
        if one["name"] == result.collectives[0].name and one["args"]["iteration"] == 0
    }
    expected = result.collectives[0]
    assert first == (expected.start_ns / 1000, expected.bytes, expected.algorithm)


def test_a_track_for_each_rank(dlrm: Any) -> None:
    result, document, _ = dlrm
    computed: dict[int, float] = defaultdict(float)
    for one in slices(document):
        if one["tid"] == COMPUTE:
            assert one["depth"] == 0
            computed[one["pid"]] += (one["end"] - one["ts"]) * 1000
    assert sorted(computed) == list(range(16))
    mean = sum(computed.values()) / 16
    assert mean == pytest.approx(sum(one.compute_ns for one in result.iterations))
    names = {
        event["args"]["name"]
        for event in document["traceEvents"]
        if event["ph"] == "M" and event["name"] == "thread_name"
    }
    assert {"compute", "communication 0"} <= names
    waits = [one for one in document["traceEvents"] if "waited_for" in one.get("args", {})]
    assert waits


def test_every_message_has_an_arrow(dlrm: Any) -> None:
    result, document, _ = dlrm
    begun, ended = (
        {one["id"]: one for one in document["traceEvents"] if one["ph"] == kind} for kind in "sf"
    )
    assert len(begun) == len(ended) == result.network.messages
    assert begun.keys() == ended.keys()
    assert sum(one["args"]["bytes"] for one in begun.values()) == result.network.payload_bytes
    assert all(begun[number]["ts"] < ended[number]["ts"] for number in begun)
    assert counters(document)["bytes in flight"][-1][1] == 0


def test_counters_agree_with_the_series(small: dict[str, Any], tmp_path: Path) -> None:
    """The same samples as a table: utilization from the start of an interval, queue at its end."""
    series = {"interval": "1us", "links": "all", "flows": "all"}
    timeline = {"counters": {"interval": "1us", "links": 1000, "flows": 1000}}
    result = bridge.run(
        small,
        {"workload.bytes": "1MB", "outputs": {"series": series, "timeline": timeline}},
        out=tmp_path,
    )
    tables = bridge.Result.load(tmp_path).tables
    found = counters(read(tmp_path))
    rate = {row["link"]: row["rate_bps"] for row in tables.rows("links")}

    def value(name: str, at_us: float) -> float:
        return next((value for time, value in reversed(found[name]) if time <= at_us), 0)

    rows = tables.rows("link_series")
    ends = {(row["source"], row["target"]): f"link {row['link']}, " for row in rows}
    names = {row["link"]: name for name in found for row in rows if f"link {row['link']}," in name}
    assert len(ends) == len(names) == len(rate)
    for row in rows:
        name = names[row["link"]].partition(":")[0]
        after = row["time_ns"] / 1000
        percent = min(100, 100 * row["throughput_bps"] / rate[row["link"]])
        assert value(f"{name}: utilization", after - 1) == pytest.approx(percent, abs=0.51)
        assert value(f"{name}: queue", after) == row["queue_bytes"]
    for row in tables.rows("flow_series"):
        name = f"cwnd to rank {row['target']}, path {row['path']}"
        assert value(name, row["time_ns"] / 1000) == row["cwnd_bytes"]
    assert result.network.drops == 0


def test_without_counters(small: dict[str, Any], tmp_path: Path) -> None:
    for change in ({"outputs.timeline": {"counters": False}}, {"outputs.timeline": True}):
        fabric = "express" if change["outputs.timeline"] is not True else "flow"
        bridge.run(small, {"fabric": fabric, **change}, out=tmp_path)
        assert set(counters(read(tmp_path))) == {"bytes in flight"}


def test_counters_grow_slowly(small: dict[str, Any], tmp_path: Path) -> None:
    """After each 1000 samples the interval is four times as long. A sample is not an event.

    Steps of 1000 ns, 4000 ns, 16000 ns … reach the end of a run of t ns after log4(1 + 3 t / 1000).
    Counters that stay as they are have no entry. From 5000 ns on, an interval is 16 ns.
    """
    sampled = {"interval": "1ns", "links": 1, "flows": 0}
    plain, result = (
        bridge.run(small, {"outputs.timeline": {"counters": one}}, out=tmp_path)
        for one in (False, sampled)
    )
    assert plain.time_ns == result.time_ns > 16_000
    steps = math.ceil(math.log(1 + 3 * result.time_ns / 1000, 4))
    assert result.simulator.events == plain.simulator.events
    times = sorted(
        {round(1000 * one["ts"]) for one in read(tmp_path)["traceEvents"] if one["ph"] == "C"}
    )
    assert len(times) <= 1000 * steps
    assert min(b - a for a, b in pairwise(times)) == 1
    # Where sampling begins again after a pause, the first entry is not at a multiple.
    late = [time % 16 == 0 for time in times if time > 6_000]
    assert sum(late) > 0.7 * len(late)


def test_ranks_and_window(repository: Path, tmp_path: Path) -> None:
    scenario = str(repository / "scenarios" / "dlrm_hier_opt_small.yaml")
    options = ["--timeline", "--ranks", "1,4-5", "--window", "10us..20us"]
    ran = CliRunner().invoke(main, ["run", scenario, *options, "-o", str(tmp_path)])
    assert ran.exit_code == 0
    document = read(tmp_path)
    assert document["otherData"]["ranks_shown"] == 3
    begun = [one for one in document["traceEvents"] if one["ph"] in "Bs"]
    assert {one["pid"] for one in begun} == {1, 4, 5}
    # A computation that began before the window is shown from its beginning.
    early = [one for one in begun if one["ts"] < 10]
    assert {(one["pid"], one["tid"]) for one in early} <= {(rank, COMPUTE) for rank in (1, 4, 5)}
    assert all(one["ts"] <= 20 for one in begun)
    slices(document)


@pytest.mark.parametrize(
    ("limit", "least"), [(5_000, 0), (20_000, 0), (60_000, 30_000), (200_000, 150_000)]
)
def test_the_size_limit_is_kept(limit: int, least: int, repository: Path, tmp_path: Path) -> None:
    """Whatever has begun still ends, also in a small file, and the rest is left out."""
    scenario = repository / "scenarios" / "dlrm_hier_opt_small.yaml"
    bridge.run(scenario, {"outputs.timeline": {"size_limit": f"{limit}B"}}, out=tmp_path)
    assert least < (tmp_path / "timeline.json.gz").stat().st_size <= limit
    document = read(tmp_path)
    slices(document)
    left_out = document["otherData"]["events_left_out"]
    assert left_out > 1000
    assert f"{left_out} events are left out" in document["traceEvents"][-1]["name"]


def test_messages_and_losses(repository: Path, tmp_path: Path) -> None:
    scenario = repository / "scenarios" / "collective_small.yaml"
    result = bridge.run(scenario, [*LOSSY, "outputs=[timeline]"], out=tmp_path)
    events = read(tmp_path)["traceEvents"]
    timeouts = [one for one in events if one.get("name", "").startswith("timeout to rank")]
    assert len(timeouts) == result.network.rto_events > 0
    assert all(one["args"]["waited_us"] >= 1000 for one in timeouts)


@pytest.mark.slow
def test_perfetto_shows_timeouts(repository: Path, tmp_path: Path) -> None:
    scenario = repository / "scenarios" / "collective_small.yaml"
    result = bridge.run(scenario, [*LOSSY, "outputs=[timeline]"], out=tmp_path)
    problems, timeouts = ask(
        tmp_path / "timeline.json.gz",
        "select name, value from stats where severity != 'info' and value > 0",
        "select count(*) from slice where name glob 'timeout to rank *'",
    )
    assert problems == []
    assert timeouts == [(result.network.rto_events,)]


def test_send_and_receive_nodes(repository: Path, tmp_path: Path) -> None:
    bridge.run(repository / "scenarios" / "moe_small.yaml", ["outputs=[timeline]"], out=tmp_path)
    slices(read(tmp_path))


def test_stages_that_share_a_trace_name_their_own_peers(repository: Path, tmp_path: Path) -> None:
    """The ranks of a stage share a trace; each sends to the next stage, half the ranks away."""
    scenario = repository / "scenarios" / "llm_llama3_8b_small.yaml"
    bridge.run(scenario, ["outputs=[timeline]", "fabric=analytical"], out=tmp_path)
    found = slices(read(tmp_path))
    pairs = {(one["pid"], one["args"]["peer"]) for one in found if "peer" in one.get("args", {})}
    assert pairs == {(rank, (rank + 8) % 16) for rank in range(16)}


def test_a_run_that_stops_early_has_a_complete_file(repository: Path, tmp_path: Path) -> None:
    scenario = repository / "scenarios" / "dlrm_hier_opt_small.yaml"
    with pytest.raises(bridge.SimulationError):
        bridge.run(scenario, ["simulation.time_limit=15us", "outputs=[timeline]"], out=tmp_path)
    document = read(tmp_path)
    assert document["otherData"]["simulated_ns"] == 15_000
    assert slices(document)


@pytest.mark.slow
def test_perfetto_opens_it(dlrm: Any) -> None:
    """Perfetto's trace processor finds every slice, arrow and counter, and drops nothing."""
    result, document, folder = dlrm
    problems, flows, phases, computed, tracks = ask(
        folder / "timeline.json.gz",
        "select name, value from stats where severity != 'info' and value > 0",
        """select count(*) from flow
            join slice sent on slice_out = sent.id
            join slice received on slice_in = received.id
            where sent.name glob 'phase *' and received.name glob 'phase *'""",
        """select count(*) from slice child join slice parent on child.parent_id = parent.id
            where child.name glob 'phase *' and parent.name glob 'chunk *'""",
        """select process.name, sum(dur) from slice
            join thread_track on slice.track_id = thread_track.id
            join thread using (utid) join process using (upid)
            where thread.name = 'compute' group by 1""",
        "select name, count(*) from counter join counter_track on track_id = counter_track.id "
        "group by 1",
    )
    assert problems == []
    assert flows == [(result.network.messages,)]
    found = slices(document)
    assert phases == [(sum(one["name"].startswith("phase") for one in found),)]
    assert {name for name, _ in computed} == {f"rank {rank}" for rank in range(16)}
    mean = sum(time for _, time in computed) / 16
    # Perfetto keeps whole nanoseconds.
    assert mean == pytest.approx(sum(one.compute_ns for one in result.iterations), rel=1e-3)
    counted = counters(document)
    assert sum(number for _, number in tracks) == sum(map(len, counted.values()))
    assert any("utilization" in name for name, _ in tracks)
    assert any("cwnd" in name for name, _ in tracks)


JOBS = NETWORK + 1


def iterations_of_jobs(document: dict[str, Any]) -> dict[str, list[tuple[str, int, int]]]:
    """Return name, begin and end of the slices of each job [ps]."""
    names = {
        event["tid"]: event["args"]["name"]
        for event in document["traceEvents"]
        if event["pid"] == JOBS and event.get("name") == "thread_name"
    }
    found: dict[str, list[tuple[str, int, int]]] = {name: [] for name in names.values()}
    for one in slices(document):
        if one["pid"] == JOBS:
            times = (round(10**6 * one["ts"]), round(10**6 * one["end"]))
            found[names[one["tid"]]].append((one["name"], *times))
    return found


@pytest.mark.parametrize("fabric", ["express", "flow"])
def test_jobs_have_tracks_with_their_iterations(scenarios, tmp_path, fabric):
    file = scenarios / "jobs_queue_small.yaml"
    result = bridge.run(file, {"fabric": fabric, "outputs": ["timeline"]}, out=tmp_path)
    assert iterations_of_jobs(read(tmp_path)) == {
        job.name: [
            (f"iteration {one.index}", round(1000 * one.start_ns), round(1000 * one.end_ns))
            for one in job.iterations
        ]
        for job in result.jobs or ()
    }


def test_a_window_cuts_the_iterations_of_jobs(scenarios, tmp_path):
    """Those that run when it begins begin there, and those that begin after its end are left out;
    ranks that are not shown do not matter."""
    file = scenarios / "jobs_queue_small.yaml"
    window = {"start": "2ms", "end": "5ms", "ranks": "3"}
    options = {"fabric": "flow", "outputs": {"timeline": window}}
    result = bridge.run(file, options, out=tmp_path)
    found = iterations_of_jobs(read(tmp_path))
    for job in result.jobs or ():
        expected = [
            (f"iteration {one.index}", max(2 * 10**9, start), end)
            for one in job.iterations
            for start, end in [(round(1000 * one.start_ns), round(1000 * one.end_ns))]
            if end > 2 * 10**9 and start <= 5 * 10**9
        ]
        # An iteration that runs is noticed when one of its nodes begins in the window.
        assert found[job.name] in (expected, expected[1:])
    assert sum(map(len, found.values())) > 10


def test_a_timeline_without_jobs_has_no_tracks_of_jobs(dlrm):
    assert not any(event["pid"] == JOBS for event in dlrm[1]["traceEvents"])
