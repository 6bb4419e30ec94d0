"""The compiler: streams are consistent, and the same scenario gives the same stream."""

import json
import os
import subprocess
import sys
from importlib import metadata
from pathlib import Path
from time import process_time
from typing import Any

import pytest

from frontend import compile_scenario, load_scenario
from frontend.collectives import Op
from frontend.compiler.compile import compile_network
from frontend.stream import VERSION, decode

ROOT = Path(__file__).parents[2]
# Leave out a scenario with 1024 ranks, and those that only `cosim cluster` can simulate.
LARGE = {ROOT / f"scenarios/{name}.yaml" for name in ("moe_switch_c", "jobs_thousand", "jobs_1024")}
LARGE.add(ROOT / "scenarios/jobs_failing.yaml")
SCENARIOS = sorted(set((ROOT / "scenarios").glob("*.yaml")) - LARGE)


def compiled(path, *overrides):
    """Return the records of a scenario by kind, as lists for kinds with several records."""
    stream = compile_scenario(load_scenario(path, list(overrides)))
    kinds: dict[str, Any] = {"program": [], "collective": [], "trace": []}
    for record in decode(stream):
        kind = record.WhichOneof("kind")
        if kind in ("program", "collective", "trace"):
            kinds[kind].append(getattr(record, kind))
        else:
            assert kind not in kinds
            kinds[kind] = getattr(record, kind)
    return kinds


@pytest.mark.parametrize("path", SCENARIOS, ids=lambda path: path.stem)
def test_references_hold(path):
    records = compiled(path)
    topology, traces = records["topology"], records["trace"]
    scenario = json.loads(records["header"].scenario_json)
    working = scenario.get("workload", {}).get("group") or range(topology.ranks)
    ranks = sorted(r for trace in traces for r in trace.ranks)
    if "jobs" in scenario:  # ranks without a job have nothing to do
        assert len(set(ranks)) == len(ranks)
        assert set(ranks) <= set(working)
    else:
        assert ranks == list(working)
    assert len(records["settings"].system.concurrent_chunks) == len(topology.dimensions)
    assert [program.id for program in records["program"]] == list(range(len(records["program"])))
    for number, collective in enumerate(records["collective"]):
        assert collective.id == number
        assert records["program"][collective.program].group_size == len(collective.ranks)
        assert collective.layer < len(traces[0].layers)
        assert collective.chunks >= 1
    for program in records["program"]:
        assert all(dimension < len(topology.dimensions) for dimension in program.phase_dimension)
        assert all(piece.program < program.id for piece in program.pieces)
        if program.pieces:
            assert not program.op
            continue
        members = 1 if program.offset_turn else program.group_size
        assert len(program.step_begin) == members + 1
        assert len(program.op) == program.step_begin[-1]
        assert len(program.dep) == program.dep_begin[-1]
    arrays = ("type", "layer", "iteration", "duration_ps", "collective", "peer", "bytes", "tag")
    for trace in traces:
        nodes = len(trace.names)
        assert trace.layers == traces[0].layers
        assert {len(getattr(trace, name)) for name in arrays} == {nodes}
        assert len(trace.dep_begin) == nodes + 1


def messages(programs, program):
    """Yield the sender and the receiver of each message of a program."""
    for piece in program.pieces:
        for source, target in messages(programs, programs[piece.program]):
            for group in range(piece.groups):
                first = piece.first + group * piece.group_step
                yield first + source * piece.member_step, first + target * piece.member_step
    turns = program.group_size if program.offset_turn else 1
    for member in range(len(program.step_begin) - 1):
        for step in range(program.step_begin[member], program.step_begin[member + 1]):
            if program.op[step] == Op.SEND:
                for turn in range(turns):
                    yield member + turn, (program.peer[step] + turn) % program.group_size


@pytest.mark.parametrize("name", ["collective_small", "dlrm_flat100_small", "dlrm_hier_small"])
def test_paths_are_those_of_the_pairs_that_talk_and_back(name):
    records = compiled(ROOT / "scenarios" / f"{name}.yaml")
    programs = records["program"]
    used = {collective.program for collective in records["collective"]}
    there = {pair for number in used for pair in messages(programs, programs[number])}
    talking = there | {(target, source) for source, target in there}
    topology = records["topology"]
    pairs = list(zip(topology.path_source, topology.path_target, strict=True))
    assert pairs == sorted(talking)
    for i, (source, target) in enumerate(pairs):
        links = topology.path_links[topology.path_begin[i] : topology.path_begin[i + 1]]
        nodes = [source, *(topology.link_target[link] for link in links)]
        assert nodes[:-1] == [topology.link_source[link] for link in links]
        assert nodes[-1] == target


def test_only_needed_paths():
    records = compiled(ROOT / "scenarios" / "collective.yaml", "workload.algorithm=ring")
    assert len(records["topology"].path_source) == 2 * 128  # each neighbour, in both directions


def paths_of_a_network(pairs):
    scenario = load_scenario(ROOT / "scenarios" / "collective_small.yaml")
    records = list(decode(compile_network(scenario, pairs)))
    assert [record.WhichOneof("kind") for record in records] == ["header", "settings", "topology"]
    topology = records[2].topology
    return list(zip(topology.path_source, topology.path_target, strict=True))


def test_a_network_without_a_workload():
    assert paths_of_a_network([(0, 3), (5, 3)]) == [(0, 3), (3, 0), (3, 5), (5, 3)]
    assert paths_of_a_network([]) == []
    assert paths_of_a_network(None) == [(s, d) for s in range(16) for d in range(16) if s != d]


@pytest.mark.parametrize(("pair", "text"), [((0, 16), r"\(0, 16\)"), ((3, 3), r"\(3, 3\)")])
def test_a_network_of_impossible_pairs(pair, text):
    with pytest.raises(ValueError, match=f"{text}: expected two different ranks from 0 to 15"):
        paths_of_a_network([pair])


def test_settings_are_the_scenarios():
    records = compiled(
        ROOT / "scenarios" / "collective.yaml",
        "system.reduction_bandwidth=900GB/s",
        "system.scheduling=fifo",
        "transport.variant=dctcp",
        "transport.ecn=true",
        "switches.ecn_threshold=200KB",
        "simulation.time_limit=1s",
        "seed=7",
    )
    settings, tcp = records["settings"], records["settings"].tcp
    assert (records["header"].version, records["header"].seed) == (VERSION, 7)
    assert records["header"].name == "collective"
    assert records["header"].producer == f"cosim {metadata.version('cosim')}"
    assert (settings.fabric, settings.time_limit_ps) == ("express", 10**12)
    assert settings.rtt_sample_interval_ps == 10**9
    assert settings.system.scheduling == settings.system.FIFO
    assert settings.system.injection_latency_ps == 10_000
    assert settings.system.reduction_bytes_per_s == 900 * 10**9
    assert list(settings.system.concurrent_chunks) == [64]
    assert (tcp.congestion_control, tcp.ecn) == ("Dctcp", True)
    assert (tcp.mtu_bytes, tcp.segment_bytes, tcp.link_header_bytes) == (9000, 8960, 2)
    assert (tcp.send_buffer_bytes, tcp.receive_buffer_bytes) == (500_000, 500_000)
    assert (tcp.min_rto_ps, tcp.initial_rto_ps) == (50 * 10**9, 50 * 10**9)
    # Switch ports mark, hosts do not; 1 GB over 128 ports.
    assert list(records["topology"].link_ecn_threshold_bytes) == [0] * 128 + [200_000] * 128
    assert list(records["topology"].link_buffer_bytes) == [0] * 128 + [7_812_500] * 128


def test_all_to_alls_go_first():
    classes = {
        records.name.split(".")[1].removeprefix("forward_").removeprefix("backward_"): (
            records.priority_class
        )
        for records in compiled(ROOT / "scenarios" / "dlrm_flat100.yaml")["collective"]
    }
    assert classes == {"all_to_all": 0, "all_reduce": 1}


def test_the_header_keeps_the_resolved_scenario():
    scenario = load_scenario(ROOT / "scenarios" / "dlrm_hier.yaml")
    header = compiled(ROOT / "scenarios" / "dlrm_hier.yaml")["header"]
    assert json.loads(header.scenario_json) == scenario.resolved()


def test_the_same_bytes_in_another_process():
    path = ROOT / "scenarios" / "dlrm_hier_small.yaml"
    code = (
        "import sys, frontend\n"
        f"scenario = frontend.load_scenario({str(path)!r})\n"
        "sys.stdout.buffer.write(frontend.compile_scenario(scenario))"
    )
    streams = {
        subprocess.run(
            [sys.executable, "-c", code],
            cwd=ROOT,
            env=os.environ | {"PYTHONHASHSEED": seed},
            check=True,
            stdout=subprocess.PIPE,
        ).stdout
        for seed in ("1", "2")
    }
    assert streams == {compile_scenario(load_scenario(path))}


@pytest.mark.parametrize(
    ("name", "overrides", "seconds"),
    [
        ("dlrm_hier", [], 2),
        ("dlrm_flat100", [], 2),
        ("collective", ["topology.ranks=1024", "workload.operation=all_to_all"], 20),
    ],
)
def test_compile_time(name, overrides, seconds):
    scenario = load_scenario(ROOT / "scenarios" / f"{name}.yaml", overrides)
    start = process_time()
    compile_scenario(scenario)
    assert process_time() - start < seconds
