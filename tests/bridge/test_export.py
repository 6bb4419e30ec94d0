"""``cosim compile --format``: what is written gives the same result when it is read back."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

import pytest
from click.testing import CliRunner

import bridge
from bridge.cli.main import main
from frontend import load_scenario
from frontend.compiler.export import export_chakra, export_goal
from frontend.errors import ScenarioError, ScenarioWarning
from tests.frontend.chakra_files import Rank
from tests.frontend.chakra_files import scenario as traces

FABRICS = ("express", "native", "flow", "analytical")
TOPOLOGY = {
    "family": "flat",
    "ranks": 8,
    "bandwidth": "100Gbps",
    "latency": "1us",
    "buffer": "256KB",
}
DLRM = {
    "kind": "dlrm",
    "iterations": 2,
    "batch_per_gpu": 16,
    "dense_features": 50,
    "bottom_mlp": [32, 16],
    "top_mlp": [64, 64, 1],
    "embedding": {"tables": 8, "dimension": 16},
}
LOCAL = {"system": {"admission": "local", "chunks": 2, "injection_latency": "10ns"}}


def scenario(fabric: str, workload: dict[str, Any] = DLRM, **parts: Any) -> Any:
    return load_scenario({"fabric": fabric, "topology": TOPOLOGY, "workload": workload} | parts)


@pytest.mark.parametrize("fabric", FABRICS)
def test_chakra_gives_the_same_result(fabric: str, tmp_path: Path) -> None:
    """Collectives stay collectives, so layers, iterations and scheduling stay as they are."""
    given = scenario(fabric, collective={"all_reduce": "ring"}, system={"chunks": 4})
    *_, file = export_chakra(given, tmp_path)
    before, after = bridge.run(given), bridge.run(file)
    assert after.time_ns == before.time_ns
    assert [one.time_ns for one in after.iterations] == [one.time_ns for one in before.iterations]
    layers = {(one.name, one.compute_ns, one.exposed_comm_ns) for one in before.layers}
    assert layers == {(one.name, one.compute_ns, one.exposed_comm_ns) for one in after.layers}
    assert after.network == before.network


@pytest.mark.parametrize("form", ["goal", "chakra"])
@pytest.mark.parametrize("fabric", FABRICS)
def test_messages_give_the_same_time(form: str, fabric: str, tmp_path: Path) -> None:
    """Collectives become messages, which start as ranks with `admission: local` start them."""
    given = scenario(fabric, collective={"all_reduce": "dbt"}, **LOCAL)
    if form == "goal":
        *_, file = export_goal(given, tmp_path)
    else:
        *_, file = export_chakra(given, tmp_path, messages=True)
    assert bridge.run(file).time_ns == bridge.run(given).time_ns


def collective(operation: str, algorithm: str, size: str) -> dict[str, Any]:
    return {"kind": "collective", "operation": operation, "algorithm": algorithm, "bytes": size}


@pytest.mark.parametrize(
    ("operation", "algorithm"),
    [
        ("all_gather", "ring"),
        ("reduce_scatter", "halving_doubling"),
        ("all_to_all", "direct"),
        ("broadcast", "dbt"),
        ("gather", "direct"),
    ],
)
def test_single_collectives(operation: str, algorithm: str, tmp_path: Path) -> None:
    """100001 bytes do not divide into eight shards."""
    given = scenario("analytical", collective(operation, algorithm, "100001B"), **LOCAL)
    time = bridge.run(given).time_ns
    for files in (
        export_chakra(given, tmp_path),
        export_chakra(given, tmp_path, messages=True),
        export_goal(given, tmp_path),
    ):
        assert bridge.run(files[-1]).time_ns == time


@pytest.mark.parametrize(
    "layout",
    [
        {"layers": [0, 4], "schedule": "zero_bubble"},
        {"chunks": 2, "layers": [0, 1, 3, 0]},
        {"chunks": 2, "layers": [0, 1, 3, 0], "schedule": "dual_pipe"},
    ],
    ids=str,
)
def test_stages_with_unequal_parts(layout: dict[str, Any], tmp_path: Path, scenarios: Path) -> None:
    keys = {f"workload.layout.{key}": value for key, value in layout.items()}
    keys["workload.overlap.dp_slowdown"] = 1
    local = {"fabric": "flow", "system.admission": "local", "system.concurrent_chunks": 1000}
    given = load_scenario(scenarios / "llm_llama3_8b_small.yaml", keys | local)
    time = bridge.run(given).time_ns
    for files in (
        export_chakra(given, tmp_path),
        export_chakra(given, tmp_path, messages=True),
        export_goal(given, tmp_path),
    ):
        assert bridge.run(files[-1]).time_ns == time


def test_reductions_take_their_time(tmp_path: Path) -> None:
    system = LOCAL["system"] | {"reduction_bandwidth": "5GB/s", "chunks": 1}
    given = scenario("flow", collective("all_reduce", "ring", "1MB"), system=system)
    time = bridge.run(given).time_ns
    for files in (export_goal(given, tmp_path), export_chakra(given, tmp_path, messages=True)):
        assert bridge.run(files[-1]).time_ns == time


@pytest.mark.parametrize("fabric", ["express", "flow"])
def test_messages_of_the_same_picosecond(fabric: str, tmp_path: Path, scenarios: Path) -> None:
    """Messages of several ranks and collectives leave together, and share links."""
    local = {"fabric": fabric, "system.admission": "local", "system.concurrent_chunks": 1000}
    given = load_scenario(scenarios / "dlrm_hier_opt_small.yaml", local)
    *_, file = export_goal(given, tmp_path)
    assert bridge.run(file).time_ns == bridge.run(given).time_ns


def test_a_limit_of_streams_is_refused(tmp_path: Path, scenarios: Path) -> None:
    limit = {"workload.streams.communication": 1, "system.admission": "local"}
    given = load_scenario(scenarios / "chakra_transformer_small.yaml", limit)
    with pytest.raises(ScenarioError, match="is a collective that waits for a free stream"):
        export_chakra(given, tmp_path, messages=True)


@pytest.mark.parametrize(("priorities", "first"), [((0, 0), "a"), ((0, 3), "b"), ((5, 3), "a")])
def test_priorities_of_collectives(priorities: tuple[int, int], first: str, tmp_path: Path) -> None:
    """One chunk at a time: of two collectives that wait, the one with the greater priority starts.

    A third one occupies the slot when they become ready. Written traces keep the priorities.
    """
    ranks = [Rank() for _ in range(4)]
    for rank in ranks:
        rank.collective("all_reduce", 2**20, name="before")
        rank.compute(1)
        for name, priority in zip("ab", priorities, strict=True):
            rank.collective("all_reduce", 2**20, [1], name=name, comm_priority=priority)
    system = {"concurrent_chunks": 1, "chunks": 1, "scheduling": "fifo"}
    given = load_scenario(traces(tmp_path, ranks) | {"system": system})
    folder = tmp_path / "written"
    folder.mkdir()
    for content in (given, export_chakra(given, folder)[-1]):
        ends = {one.end_ns: one.name for one in bridge.run(content).collectives}
        assert [ends[at] for at in sorted(ends)][:2] == ["before", first]


def test_computations_may_take_no_time(tmp_path: Path) -> None:
    """They are written with their duration, so that reading them gives no warning."""
    system = LOCAL["system"] | {"reduction_bandwidth": "5GB/s", "chunks": 2}
    given = scenario("flow", collective("all_reduce", "ring", "8B"), system=system)
    *_, file = export_chakra(given, tmp_path, messages=True)
    assert bridge.run(file).time_ns == bridge.run(given).time_ns


def test_what_is_read_can_be_written_again(tmp_path: Path) -> None:
    given = scenario("analytical", **LOCAL)
    *_, goal = export_goal(given, tmp_path)
    first = (tmp_path / "scenario.goal").read_text()
    (tmp_path / "again").mkdir()
    export_goal(load_scenario(goal), tmp_path / "again")
    assert (tmp_path / "again" / "scenario.goal").read_text() == first
    *_, chakra = export_chakra(given, tmp_path)
    *_, again = export_chakra(load_scenario(chakra), tmp_path / "again")
    assert bridge.run(again).time_ns == bridge.run(chakra).time_ns


def test_admission_by_negotiation_is_named(tmp_path: Path) -> None:
    with pytest.warns(ScenarioWarning, match="collectives become messages"):
        export_goal(scenario("analytical"), tmp_path)


def test_the_command_line(tmp_path: Path) -> None:
    file = tmp_path / "given.yaml"
    file.write_text(json.dumps({"name": "mine", "topology": TOPOLOGY, "workload": DLRM}))
    run = CliRunner().invoke
    for form in ("goal", "chakra"):
        done = run(main, ["compile", str(file), "--format", form, "-o", str(tmp_path / form)])
        assert done.exit_code == 0, done.output
        assert (tmp_path / form / "mine.yaml").is_file()
    assert (
        "warning: collectives become messages"
        in run(
            main, ["compile", str(file), "--format", "goal", "-o", str(tmp_path / "goal")]
        ).stderr
    )
    for wrong, text in (
        (["--messages"], "expected --format chakra"),
        (["--format", "xml"], "value xml: expected stream, goal or chakra"),
        (["-o", str(tmp_path)], "is a folder: expected a file"),
    ):
        done = run(main, ["compile", str(file), *wrong])
        assert (done.exit_code, text in done.stderr) == (2, True), done.stderr


def test_a_topology_made_for_the_workload_is_refused(tmp_path: Path, scenarios: Path) -> None:
    given = load_scenario(scenarios / "topoopt_dlrm_small.yaml")
    with pytest.raises(ScenarioError, match=r"topology\.demand"):
        export_goal(given, tmp_path)
