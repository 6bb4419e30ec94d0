"""`cosim search`: estimates against the fabrics, what it writes, and what it refuses."""

from __future__ import annotations

import json
from io import StringIO
from pathlib import Path

import numpy as np
import pytest
from click.testing import CliRunner
from rich.console import Console

import bridge
from bridge.batch.strategy_search import Search, Settings
from bridge.batch.training_job import Job
from bridge.cli.main import main
from bridge.cli.runs.search import _print
from bridge.errors import InputError
from frontend import load_scenario
from frontend.parallelization import (
    StrategyError,
    by_samples,
    data_parallel,
    on_server,
    pipeline,
    propose,
)
from tests.bridge.searched import (
    FAT_TREE,
    MODEL,
    OCS,
    SWITCH,
    TOPOOPT,
    estimated,
    scenario,
    settings,
    simulated,
)


@pytest.mark.parametrize("fabric", ["analytical", "flow"])
@pytest.mark.parametrize("topology", [TOPOOPT, SWITCH, FAT_TREE], ids=lambda one: one["family"])
def test_exact_where_nothing_overlaps(topology, fabric):
    job = Job(load_scenario(scenario(topology)))
    names = [operator.name for operator in job.graph.operators]
    # Everything on server 0, but an operator or two elsewhere: one message after the other,
    home = data_parallel(job.graph, 8)._replace(
        placements=(on_server(0),) * len(job.graph.operators)
    )
    assert estimated(job, home) == pytest.approx(simulated(job, home, fabric), rel=1e-6)
    for server in (1, 4, 7):
        there = on_server(server)
        alone = [["table_0"], ["feature_1"]]
        # Flows that are under way together share the links: there one is not after the other.
        behind = [["dense_1", "feature_1"], ["feature_0"]] if fabric == "analytical" else []
        for moved in alone + behind:
            away = home
            for name in moved:
                away = away.replaced(names.index(name), there)
            assert estimated(job, away) == pytest.approx(simulated(job, away, fabric), rel=1e-6)
    # or the first layer, whose gradients are all-reduced when everything else is done.
    spread = home.replaced(names.index("dense_0"), by_samples(tuple(range(8))))
    expected = simulated(job, spread, fabric)
    assert estimated(job, spread) == pytest.approx(expected, rel=0.1)


@pytest.mark.parametrize("fabric", ["analytical", "flow"])
@pytest.mark.parametrize("microbatches", [1, 16])
def test_exact_for_pipelines_of_whole_operators(microbatches, fabric):
    # Messages that begin together share packets there, and not in the estimate.
    job = Job(load_scenario(scenario(SWITCH)))
    stages = pipeline(job.graph, 8, 8, microbatches)
    assert estimated(job, stages) == pytest.approx(simulated(job, stages, fabric), rel=1e-5)


@pytest.mark.parametrize("topology", [TOPOOPT, SWITCH], ids=lambda one: one["family"])
def test_near_the_fabrics_where_transfers_overlap(topology):
    # Links carry transfers one after the other here, and side by side there.
    job = Job(load_scenario(scenario(topology)))
    random = np.random.default_rng(3)
    strategy, times = job.start, []
    for _ in range(8):
        times.append((estimated(job, strategy), simulated(job, strategy, "flow")))
        for index, placement in propose(job.graph, 8, random, job.workload.gpus).items():
            strategy = strategy.replaced(index, placement)
    fast, flow = np.array(times).T
    # Of 120 strategies, the estimate of one is 23 % too slow (docs/parallelization.md).
    assert fast == pytest.approx(flow, rel=0.25)
    assert np.corrcoef(fast, flow)[0, 1] > 0.98


@pytest.mark.parametrize("topology", [TOPOOPT, SWITCH, OCS], ids=lambda one: one["family"])
def test_what_is_written_is_what_was_found(tmp_path, topology):
    file = tmp_path / "searched.json"
    file.write_text(json.dumps(scenario(topology)))
    arguments = ["search", str(file), "--budget", "150", "--rounds", "2", "--out", str(tmp_path)]
    answer = CliRunner().invoke(main, [*arguments, "--json"], catch_exceptions=False)
    assert answer.exit_code == 0, answer.output
    found = json.loads(answer.stdout)
    seconds = found["seconds"]
    assert seconds["estimate"] < seconds["start"]
    assert seconds["flow"] == pytest.approx(seconds["estimate"], rel=0.2)
    assert seconds["express"] == pytest.approx(seconds["flow"], rel=0.2)
    assert ("topology" in found) == (topology is TOPOOPT)
    # The scenario that it wrote needs nothing else than what lies beside it.
    again = bridge.run(tmp_path / "scenario.yaml")
    assert again.iterations[0].time_ns / 1e9 == seconds["flow"]
    written = load_scenario(tmp_path / "scenario.yaml")
    strategy = json.loads((tmp_path / "strategy.json").read_text())
    assert written.resolved()["workload"]["strategy"] == strategy
    job = Job(written)
    assert sum(found["placements"].values()) == len(job.graph.operators)
    if topology is SWITCH:
        assert estimated(job, job.start) == seconds["estimate"]


@pytest.mark.parametrize(
    ("used", "sentence"),
    [
        (1, "The best strategy puts the whole job on 1 of 8 servers, and sends nothing."),
        (3, "The best strategy uses 3 of 8 servers."),
    ],
)
def test_unused_servers_are_told(used, sentence):
    stream = StringIO()
    answer = {"name": "x", "rounds": [], "seconds": {"start": 1.0}, "placements": {}}
    counts = {"servers": 8, "used_servers": used, "microbatches": 4, "cpu_seconds": 61.25}
    _print(answer | counts, Console(file=stream, width=100))
    assert sentence in stream.getvalue()
    assert "4 micro-batches" in stream.getvalue()
    assert "x: 0 rounds in 61.2 s of CPU time" in stream.getvalue()


def test_without_a_folder_nothing_is_written(tmp_path, monkeypatch):
    monkeypatch.chdir(tmp_path)
    job = Job(load_scenario(scenario(TOPOOPT)))
    assert Search(job, settings(rounds=1, budget=20)).run().rounds == 1
    file = tmp_path / "searched.json"
    file.write_text(json.dumps(scenario(SWITCH)))
    arguments = ["search", "searched.json", "--rounds", "0", "--check", "none", "--json"]
    answer = CliRunner().invoke(main, arguments, catch_exceptions=False)
    found = json.loads(answer.stdout)
    assert found["seconds"]["start"] == found["seconds"]["estimate"]
    assert list(tmp_path.iterdir()) == [file]


def test_files_that_the_scenario_names_are_found_from_the_folder(tmp_path, monkeypatch):
    monkeypatch.chdir(tmp_path)
    schedule = ["schedule", "bfb", "--topology", "ring:n=8", "--operation", "all_reduce"]
    made = CliRunner().invoke(main, [*schedule, "-o", "ring.json"], catch_exceptions=False)
    assert made.exit_code == 0, made.output
    content = scenario(TOPOOPT) | {"collective": {"all_reduce": {"file": "ring.json"}}}
    Path("searched.json").write_text(json.dumps(content | {"hooks": "hook.py"}))
    arguments = ["search", "searched.json", "--rounds", "0", "--check", "none", "--out", "found"]
    answer = CliRunner().invoke(main, arguments, catch_exceptions=False)
    assert answer.exit_code == 0, answer.output
    written = load_scenario("found/scenario.yaml").resolved()
    assert written["collective"]["all_reduce"] == {"file": str(tmp_path / "found/ring.json")}
    assert Path("found/ring.json").read_bytes() == Path("ring.json").read_bytes()
    assert written["hooks"] == str(tmp_path / "hook.py")


def test_only_training_has_a_strategy(small):
    with pytest.raises(InputError, match=r"kind: value collective: expected training or llm"):
        Job(load_scenario(small))


def test_circuits_that_change_are_refused():
    circuits = {"family": "ocs", "n": 4, "d": 2, "demand": "workload", "reconfiguration": {}}
    links = {"bandwidth": "100Gbps", "latency": "1us", "buffer": "unlimited"}
    with pytest.raises(
        InputError,
        match=r"topology\.reconfiguration: expected a topology whose circuits do not change",
    ):
        Job(load_scenario(scenario(links | circuits)))


def test_what_does_not_fit_into_memory_is_refused():
    tight = load_scenario(scenario(SWITCH), {"workload.compute.memory": "1MB"})
    with pytest.raises(StrategyError, match=r"server \d would store .*: expected at most"):
        Search(Job(tight), settings())


TRANSFORMER = {
    "name": "bert",
    "blocks": 1,
    "hidden": 4096,
    "feed_forward": 16384,
    "sequence": 64,
    "heads": 32,
    "embedding": 4096,
    "vocabulary": 1000,
}
"""Its weights have far more bytes than its activations."""


@pytest.mark.parametrize(
    ("model", "batch", "faster"),
    [(TRANSFORMER, 1, 1.5), (MODEL | {"rows": 100_000}, 2048, 2.0)],
    ids=["transformer", "dlrm"],
)
def test_a_hybrid_beats_data_parallelism_where_it_should(model, batch, faster):
    """By the estimate and on `flow`: tensor beside data parallelism, or tables that do not move."""
    workload = {"kind": "training", "model": model, "batch_per_gpu": batch, "gpus": 1}
    workload |= {"strategy": "data_parallel", "compute": {"memory": "80GB"}}
    content = {"topology": TOPOOPT, "workload": workload}
    job = Job(load_scenario(content))
    best = Search(job, Settings(rounds=2, budget=250, beta=None, seed=1)).run().best
    alone = data_parallel(job.graph, 8)
    assert estimated(job, alone) > faster * best.seconds
    found = bridge.run(job.changed(best.strategy, best.demand), {"fabric": "flow"})
    assert simulated(job, alone, "flow") > faster * found.iterations[0].time_ns / 1e9
    placed = best.strategy.placements
    assert any(placement.weight_parts > 1 or placement.samples == 1 for placement in placed)
    if model is TRANSFORMER:
        assert any(placement.rows > 1 for placement in placed)
