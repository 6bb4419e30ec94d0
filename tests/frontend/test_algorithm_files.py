"""Scenarios that take their algorithm from a file."""

from __future__ import annotations

from pathlib import Path

import pytest

from frontend import collectives
from frontend.compiler.compile import compile_scenario, records
from frontend.errors import ScenarioError
from frontend.loading.load import load_scenario
from frontend.resolve import resolve
from tests.topology_gen import msccl_files
from topology_gen import graphs
from topology_gen.formats.mscclpp import write_plan
from topology_gen.formats.schedule_json import write_json
from topology_gen.schedules import bfb
from topology_gen.schedules.all_to_all_schedule import all_to_all_schedule

SCENARIO = """\
name: from_file
topology: {{family: flat, ranks: {ranks}, bandwidth: 100Gbps, latency: 1us, buffer: unlimited}}
workload: {{kind: collective, operation: {operation}, algorithm: {{file: {file}}}, bytes: 1MB}}
system: {{chunks: 2}}
"""


def write_scenario(folder: Path, operation: str, ranks: int, file: str) -> Path:
    path = folder / "scenario.yaml"
    path.write_text(SCENARIO.format(operation=operation, ranks=ranks, file=file))
    return path


@pytest.mark.parametrize(
    ("operation", "content"),
    [
        ("all_reduce", msccl_files.ring_all_reduce(4, 2)),
        ("all_gather", msccl_files.hierarchical_all_gather(2)),
        ("all_to_all", msccl_files.two_step_all_to_all(2, 2)),
        ("reduce_scatter", write_plan(bfb.reduce_scatter(graphs.ring(4)))),
        ("all_gather", write_json(bfb.all_gather(graphs.hypercube(4)))),
        ("all_to_all", write_json(all_to_all_schedule(graphs.ring(4)).schedule)),
    ],
)
def test_any_format_compiles(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, operation: str, content: str
) -> None:
    # The path is relative to the scenario's folder, not to the working directory.
    (tmp_path / "algorithms").mkdir()
    (tmp_path / "algorithms" / "one.file").write_text(content)
    path = write_scenario(tmp_path, operation, 4, "algorithms/one.file")
    scenario = load_scenario(path)
    (program,) = (r.program for r in records(resolve(scenario)) if r.HasField("program"))
    assert (program.operation, program.group_size) == (operation, 4)
    # The resolved scenario gives the same stream from every folder.
    monkeypatch.chdir(tmp_path)
    resolved = load_scenario("scenario.yaml").resolved()
    assert resolved == scenario.resolved()
    monkeypatch.chdir("/")
    again = load_scenario(resolved)
    assert compile_scenario(again) == compile_scenario(scenario)


def test_the_program_carries_what_the_algorithm_sends(tmp_path: Path) -> None:
    # Each rank sends 2·(N-1)/N of the buffer, as with the built-in ring.
    (tmp_path / "ring.xml").write_text(msccl_files.ring_all_reduce(4, 1))
    scenario = load_scenario(write_scenario(tmp_path, "all_reduce", 4, "ring.xml"))
    (program,) = (r.program for r in records(resolve(scenario)) if r.HasField("program"))
    assert not program.equal_units
    sent = [c for c, op in zip(program.count, program.op, strict=True) if op == collectives.Op.SEND]
    assert sum(sent) / program.units == 4 * 2 * 3 / 4


def test_overrides() -> None:
    base = {
        "topology": {"family": "flat", "ranks": 4, "bandwidth": "1Gbps", "latency": "1us"}
        | {"buffer": "1MB"},
        "workload": {"kind": "collective", "operation": "all_reduce", "algorithm": "ring"}
        | {"bytes": "1MB"},
    }
    scenario = load_scenario(base, ["workload.algorithm.file=here.xml"])
    assert scenario.resolved()["workload"]["algorithm"] == {"file": str(Path.cwd() / "here.xml")}
    scenario = load_scenario(scenario, ["workload.algorithm=dbt"])
    assert scenario.resolved()["workload"]["algorithm"] == "dbt"


def test_a_training_workload_with_files(tmp_path: Path) -> None:
    (tmp_path / "ring.xml").write_text(msccl_files.ring_all_reduce(4, 1))
    small = Path(__file__).parents[2] / "scenarios" / "dlrm_flat100_small.yaml"
    ranks = resolve(load_scenario(small)).ranks
    (tmp_path / "ring.xml").write_text(msccl_files.ring_all_reduce(ranks, 1))
    scenario = load_scenario(small, [f"collective.all_reduce.file={tmp_path / 'ring.xml'}"])
    programs = [r.program for r in records(resolve(scenario)) if r.HasField("program")]
    # All-reduces of all sizes share one program; the all-to-all has another one.
    assert sorted(program.operation for program in programs) == ["all_reduce", "all_to_all"]


@pytest.mark.parametrize(
    ("operation", "ranks", "content", "sentence"),
    [
        ("all_reduce", 4, None, "No such file or directory: expected an algorithm file"),
        ("all_reduce", 4, "?", "expected MSCCL XML or JSON"),
        (
            "all_reduce",
            8,
            msccl_files.ring_all_reduce(4, 1),
            "all_reduce over 4 ranks: expected all",
        ),
        (
            "all_gather",
            4,
            msccl_files.ring_all_reduce(4, 1),
            "all_reduce over 4 ranks: expected all",
        ),
        (
            "all_reduce",
            4,
            msccl_files.ring_all_reduce(4, 1).replace('type="rrs"', 'type="rcs"'),
            "in place, rank 0 ends without the contribution of rank",
        ),
    ],
)
def test_bad_files(
    tmp_path: Path, operation: str, ranks: int, content: str | None, sentence: str
) -> None:
    if content is not None:
        (tmp_path / "a.xml").write_text(content)
    scenario = load_scenario(write_scenario(tmp_path, operation, ranks, "a.xml"))
    with pytest.raises(ScenarioError, match=sentence) as caught:
        compile_scenario(scenario)
    assert str(caught.value).startswith(
        f"workload.algorithm.file: value {tmp_path / 'a.xml'}: {operation}: "
    )
