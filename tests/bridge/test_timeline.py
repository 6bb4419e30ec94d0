"""timeline.json.gz: well-formed, complete, within its limits, and equal to the result."""

from __future__ import annotations

import gzip
import json
from collections import defaultdict
from pathlib import Path
from typing import Any

import pytest
from click.testing import CliRunner

import bridge
from bridge.cli.main import main

NETWORK = 1_000_000


def read(folder: Path) -> dict[str, Any]:
    with gzip.open(folder / "timeline.json.gz", "rt", encoding="utf-8") as file:
        document: dict[str, Any] = json.load(file)
    return document


def slices(document: dict[str, Any]) -> list[dict[str, Any]]:
    """Return the slices with their ends and parents; fail if they do not nest.

    The events are read in their order, as Perfetto does, which sorts them by time and keeps the
    order of equal times. An arrow needs an open slice at both of its ends.
    """
    stacks: dict[tuple[int, int], list[dict[str, Any]]] = defaultdict(list)
    found = []
    latest = 0.0
    for event in document["traceEvents"]:
        kind, track = event["ph"], (event["pid"], event["tid"])
        if kind not in "MX":
            assert event["ts"] >= latest
            latest = event["ts"]
        if kind == "B":
            stack = stacks[track]
            found.append(event | {"parent": stack[-1] if stack else None, "depth": len(stack)})
            stack.append(found[-1])
        elif kind == "E":
            begun = stacks[track].pop()
            begun["end"] = event["ts"]
            begun["args"] = begun.get("args", {}) | event.get("args", {})
        elif kind == "X":
            found.append(event | {"end": event["ts"] + event["dur"], "parent": None, "depth": 0})
        elif kind in "sf":
            assert stacks[track], event
    assert not any(stacks.values())
    return found


@pytest.fixture(scope="module")
def dlrm(repository: Path, tmp_path_factory: pytest.TempPathFactory) -> tuple[Any, dict[str, Any]]:
    folder = tmp_path_factory.mktemp("dlrm")
    scenario = repository / "scenarios" / "dlrm_hier_opt_small.yaml"
    result = bridge.run(scenario, ["outputs=[timeline]"], out=folder)
    return result, read(folder)


def test_collectives_hold_chunks_and_chunks_hold_phases(dlrm: Any) -> None:
    result, document = dlrm
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
    result, document = dlrm
    computed: dict[int, float] = defaultdict(float)
    for one in slices(document):
        if one["ph"] == "X":
            computed[one["pid"]] += one["dur"] * 1000
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
    result, document = dlrm
    begun, ended = (
        {one["id"]: one for one in document["traceEvents"] if one["ph"] == kind} for kind in "sf"
    )
    assert len(begun) == len(ended) == result.network.messages
    assert begun.keys() == ended.keys()
    assert sum(one["args"]["bytes"] for one in begun.values()) == result.network.payload_bytes
    assert all(begun[number]["ts"] < ended[number]["ts"] for number in begun)
    counter = [one for one in document["traceEvents"] if one["ph"] == "C"]
    assert counter[-1]["args"]["bytes"] == 0


def test_ranks_and_window(repository: Path, tmp_path: Path) -> None:
    scenario = str(repository / "scenarios" / "dlrm_hier_opt_small.yaml")
    options = ["--timeline", "--ranks", "1,4-5", "--window", "10us..20us"]
    ran = CliRunner().invoke(main, ["run", scenario, *options, "-o", str(tmp_path)])
    assert ran.exit_code == 0
    document = read(tmp_path)
    assert document["otherData"]["ranks_shown"] == 3
    begun = [one for one in document["traceEvents"] if one["ph"] in "BXs"]
    assert {one["pid"] for one in begun} == {1, 4, 5}
    assert all(10 <= one["ts"] <= 20 for one in begun if one["ph"] != "X")
    slices(document)


def test_the_size_limit_is_kept(repository: Path, tmp_path: Path) -> None:
    scenario = repository / "scenarios" / "dlrm_hier_opt_small.yaml"
    overrides = {"outputs.timeline": {"size_limit": "200KB"}}
    bridge.run(scenario, overrides, out=tmp_path)
    assert 100_000 < (tmp_path / "timeline.json.gz").stat().st_size <= 200_000
    document = read(tmp_path)
    slices(document)
    left_out = document["otherData"]["events_left_out"]
    assert left_out > 1000
    assert f"{left_out} events are left out" in document["traceEvents"][-1]["name"]


def test_messages_and_losses(repository: Path, tmp_path: Path) -> None:
    scenario = repository / "scenarios" / "collective_small.yaml"
    lossy = ["topology.buffer=300KB", "workload.peer_order=same", "transport.min_rto=1ms"]
    result = bridge.run(scenario, [*lossy, "outputs=[timeline]"], out=tmp_path)
    events = read(tmp_path)["traceEvents"]
    timeouts = [one for one in events if one.get("name", "").startswith("timeout to rank")]
    assert len(timeouts) == result.network.rto_events > 0
    assert all(one["args"]["waited_us"] >= 1000 for one in timeouts)


def test_send_and_receive_nodes(repository: Path, tmp_path: Path) -> None:
    bridge.run(repository / "scenarios" / "moe_small.yaml", ["outputs=[timeline]"], out=tmp_path)
    slices(read(tmp_path))


def test_a_run_that_stops_early_has_a_complete_file(repository: Path, tmp_path: Path) -> None:
    scenario = repository / "scenarios" / "dlrm_hier_opt_small.yaml"
    with pytest.raises(bridge.SimulationError):
        bridge.run(scenario, ["measurement.time_limit=15us", "outputs=[timeline]"], out=tmp_path)
    document = read(tmp_path)
    assert document["otherData"]["simulated_ns"] == 15_000
    assert slices(document)


@pytest.mark.parametrize(
    ("options", "sentence"),
    [
        (["--timeline", "--ranks", "0,99"], "expected ranks from 0 to 15"),
        (["--timeline", "--ranks", "5-2"], "5-2 ends before it begins"),
        (["--timeline", "--window", "5us"], "expected START..END"),
        (["--timeline", "--window", "5us..1us"], "expected a time after outputs.timeline.start"),
        (["--ranks", "1"], "--ranks needs --timeline"),
        (["--set", "outputs=[timelines]"], "expected a list of timeline and critical_path"),
        (["--timeline", "--json"], "--json needs --out"),
    ],
)
def test_wrong_options(options: list[str], sentence: str, repository: Path, tmp_path: Path) -> None:
    scenario = str(repository / "scenarios" / "dlrm_hier_opt_small.yaml")
    ran = CliRunner().invoke(main, ["run", scenario, *options])
    assert ran.exit_code == 2
    assert sentence in ran.stderr


def test_perfetto_opens_it(repository: Path, tmp_path: Path) -> None:
    """Perfetto's trace processor finds the slices, their nesting and the arrows."""
    perfetto = pytest.importorskip("perfetto.trace_processor")
    scenario = repository / "scenarios" / "collective_small.yaml"
    result = bridge.run(scenario, ["outputs=[timeline]"], out=tmp_path)
    try:
        processor = perfetto.TraceProcessor(trace=str(tmp_path / "timeline.json.gz"))
    except Exception as error:  # it downloads its program, which needs a network
        pytest.skip(f"no trace processor: {error}")
    with processor:
        query = "select count(*) as n from flow"
        assert next(iter(processor.query(query))).n == result.network.messages
        query = """select count(*) as n from slice child join slice parent
            on child.parent_id = parent.id
            where child.name glob 'phase *' and parent.name glob 'chunk *'"""
        assert next(iter(processor.query(query))).n > 0
