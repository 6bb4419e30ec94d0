"""Optimisers run when a scenario is resolved, not when it is loaded."""

import doctest

import pytest

from frontend import ScenarioError, compile_scenario, errors, load_scenario, validate_scenario
from frontend.resolve import resolve, resolved
from frontend.topologies import demand

LINKS = {"bandwidth": "100Gbps", "latency": "1us", "buffer": "unlimited"}
MODEL = {"name": "candle", "features": [8], "feature_layers": 1, "feature_width": 8}
MODEL |= {"dense_layers": 1, "dense_width": 8}
TRAINING = {"kind": "training", "batch_per_gpu": 1, "model": MODEL}
ALL_GATHER = {"kind": "collective", "operation": "all_gather", "algorithm": "bfb", "bytes": "1MB"}
PAIR = [[0, 9, 0, 0], [9, 0, 0, 0], [0, 0, 0, 0], [0, 0, 0, 0]]
UNEVEN = {"family": "topoopt", "d": 3, "demand": {"nodes": 4, "mp": PAIR}}


def load(topology, workload=None, **parts):
    return load_scenario({"topology": LINKS | topology, "workload": workload or TRAINING} | parts)


@pytest.fixture
def no_optimiser(monkeypatch):
    def refuse(*arguments, **options):
        raise AssertionError("an optimiser runs")

    monkeypatch.setattr(demand, "topology_finder", refuse)
    monkeypatch.setattr(demand, "ocs_reconfig", refuse)


@pytest.mark.parametrize("family", ["topoopt", "ocs"])
@pytest.mark.parametrize("demand", ["workload", None])
@pytest.mark.usefixtures("no_optimiser")
def test_loading_and_validating_run_no_optimiser(family, demand):
    scenario = load({"family": family, "d": 4, "n": 16, "demand": demand})
    validate_scenario(scenario)
    with pytest.raises(AssertionError, match="an optimiser runs"):
        compile_scenario(scenario)


def test_nothing_is_written_into_a_scenario():
    scenario = load({"family": "topoopt", "d": 4, "n": 8, "demand": "workload"})
    before = scenario.model_copy(deep=True)
    compile_scenario(scenario)
    for part in (scenario, scenario.topology, scenario.workload):
        assert set(part.__dict__) == set(type(part).model_fields)
    assert scenario == before


def test_what_only_the_optimiser_tells_is_found_by_validate_and_compile():
    scenario = load(UNEVEN, ALL_GATHER | {"algorithm": "superposed_rings"})
    graph = resolve(load(UNEVEN, ALL_GATHER | {"algorithm": "ring"})).layout.graph
    assert graph is not None
    assert not graph.regular
    for refuse in (validate_scenario, compile_scenario):
        with pytest.raises(ScenarioError) as caught:
            refuse(scenario)
        assert str(caught.value) == (
            "workload.algorithm: value superposed_rings: expected another algorithm: the links of "
            f"{graph.name} are not listed as rings through all 4 nodes"
        )


def test_validate_finds_what_compiling_would_without_a_program(monkeypatch):
    up = LINKS | {"ranks": 2, "switches": 1}
    topology = {"family": "hierarchical", "ranks": 4, "scale_up": up, "scale_out": LINKS}
    entries = {"dense_0": {"kind": "data", "servers": [0, 1, 2]}}
    strategy = {"format": "cosim.strategy.v1", "servers": 4, "operators": entries}
    content = {
        "topology": topology,
        "workload": TRAINING | {"gpus": 1, "strategy": strategy},
        "collective": {"all_reduce": "hierarchical"},
    }
    scenario = load_scenario(content)
    sentences = []
    for refuse in (validate_scenario, compile_scenario):
        with pytest.raises(
            ScenarioError, match="the 3 ranks of the group are not in super-nodes of equal parts"
        ) as caught:
            refuse(scenario)
        sentences.append(str(caught.value))
    assert sentences[0] == sentences[1]


@pytest.mark.parametrize("module", [errors, resolved])
def test_examples(module):
    result = doctest.testmod(module)
    assert (result.failed, result.attempted > 0) == (0, True)
