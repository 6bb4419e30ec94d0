"""`cosim sensitivities`: a change in the stream does what the same change in the scenario does."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

import numpy as np
import pytest

import bridge
from bridge.batch.sensitivities import shared_by_several
from bridge.present.deciding import what_would_help
from frontend.network_api_pb2 import Topology
from frontend.stream import decode
from tests.bridge.command_line import answer_of, invoke

FLOW = {"fabric": "flow"}


def mean_ns(scenario: Any, overrides: dict[str, Any]) -> float:
    result = bridge.run(scenario, FLOW | overrides)
    return float(np.mean([one.time_ns for one in result.iterations]))


def found_in(scenario: Any) -> dict[str, float]:
    found = bridge.sensitivities(scenario)
    assert found.base.scenario["fabric"] == "flow"
    assert found.time_ns == pytest.approx(mean_ns(scenario, {}), rel=1e-12)
    for one in found.changes:
        assert one.relative == pytest.approx(one.time_ns / found.time_ns - 1)
    times = [one.time_ns for one in found.changes]
    assert times == sorted(times)
    return {one.name: one.time_ns for one in found.changes}


def test_each_change_is_that_of_a_key(small: dict[str, Any]) -> None:
    """Twice the rate of links is twice their bandwidth, to the picosecond; and so on."""
    small["topology"]["latency"] = "2us"
    small["system"] = {"injection_latency": "100ns", "send": {"message": "1us"}}
    changes = {
        "twice the rate of scale_out": {"topology.bandwidth": "200Gbps"},
        "half the latency of scale_out": {"topology.latency": "1us"},
        "half the time that ranks handle messages": {
            "system.injection_latency": "50ns",
            "system.send.message": "500ns",
        },
    }
    small["topology"]["bandwidth"] = "100Gbps"
    assert found_in(small) == {
        name: pytest.approx(mean_ns(small, keys), rel=1e-12) for name, keys in changes.items()
    }


def test_dimensions_and_computation_are_apart(scenarios: Path) -> None:
    scenario = scenarios / "llm_llama3_8b_small.yaml"
    found = found_in(scenario)
    changes = {
        "twice the rate of scale_up": {"topology.scale_up.bandwidth": "7200Gbps"},
        "twice the rate of scale_out": {"topology.scale_out.bandwidth": "800Gbps"},
        "half the latency of scale_up": {"topology.scale_up.latency": "0.25us"},
        "half the latency of scale_out": {"topology.scale_out.latency": "0.5us"},
    }
    for name, keys in changes.items():
        assert found[name] == pytest.approx(mean_ns(scenario, keys), rel=1e-12), name
    before = bridge.run(scenario, FLOW).iterations
    most = float(np.mean([one.compute_ns for one in before])) / 2
    saved = mean_ns(scenario, {}) - found["ranks that compute twice as fast"]
    assert saved > 0
    # Stages of a pipeline also wait for the computation of others.
    assert saved == pytest.approx(most, rel=0.25), "computation is on the critical path"


def topology_of(scenario: Path) -> Topology:
    stream = bridge.compile(scenario, FLOW)
    [topology] = [one.topology for one in decode(stream) if one.WhichOneof("kind") == "topology"]
    return topology


def test_links_between_switches_are_shared(scenarios: Path) -> None:
    """Of a leaf-spine network, exactly those are; of a single switch, none."""
    topology = topology_of(scenarios / "first_clos.yaml")
    source, target = np.asarray(topology.link_source), np.asarray(topology.link_target)
    between = (source >= topology.ranks) & (target >= topology.ranks)
    used = np.zeros(len(source), dtype=bool)
    used[np.asarray(topology.path_links)] = True
    assert between.any()
    assert (shared_by_several(topology) == between & used).all()
    assert not shared_by_several(topology_of(scenarios / "collective_small.yaml")).any()


def test_without_congestion_the_ports_of_ranks_are_the_limit(scenarios: Path) -> None:
    """With 2 to 1 oversubscription, an all-to-all waits for the uplinks; without, for the NICs."""
    scenario = scenarios / "first_clos.yaml"
    found = found_in(scenario)
    result = bridge.run(scenario, FLOW)
    [collective] = result.collectives
    ranks = result.scenario["topology"]["servers"]
    least = 8e9 * collective.bytes * (ranks - 1) / ranks / 100e9
    free = found["no congestion inside the network"]
    assert least < free < 0.8 * mean_ns(scenario, {})
    assert free < 1.25 * least


def test_circuits_are_links_too(scenarios: Path) -> None:
    scenario = scenarios / "ocs_reconfig_small.yaml"
    faster = {"topology.bandwidth": "200Gbps"}
    assert found_in(scenario)["twice the rate of all links"] == mean_ns(scenario, faster)


def test_an_estimator_of_the_scenario_stays(small: dict[str, Any]) -> None:
    found = bridge.sensitivities(small, {"fabric": "analytical", "outputs": ["critical_path"]})
    assert found.base.scenario["fabric"] == "analytical"
    assert found.base.critical_path is None


def test_the_command_prints_what_python_returns(small_file: Path) -> None:
    found = bridge.sensitivities(small_file)
    answer = answer_of("sensitivities", small_file)
    assert answer["changes"] == [vars(one) for one in found.changes]
    assert json.loads(json.dumps(answer)) == answer
    said = invoke("sensitivities", small_file).stdout
    assert all(one.name in said for one in found.changes)
    assert what_would_help([(one.name, one.relative) for one in found.changes]) in " ".join(
        said.split()
    )


def test_a_summary_names_the_command(small_file: Path, tmp_path: Path) -> None:
    said = invoke("run", small_file, "--out", tmp_path / "out").stdout
    assert "cosim sensitivities" in said
