"""Replay: what was simulated once gives the same result as if it were simulated again.

`tests/ns3_scratch/test_replay.py` compares random traffic.
"""

from __future__ import annotations

from pathlib import Path
from typing import Any

import pytest

import bridge

SMALL = sorted(path.stem for path in (Path(__file__).parents[2] / "scenarios").glob("*_small.yaml"))

#: Models, layouts and networks as in published runs, cut to a size that runs without replay.
CUT: dict[str, dict[str, Any]] = {
    "dense": {"workload.layout": {"tp": 2, "pp": 2, "zero": 1}},
    "sharded data parallel": {"workload.layout": {"tp": 2, "zero": 3}},
    "sequence parallel": {"workload.layout": {"tp": 4, "cp": 2, "zero": 1}},
    "unequal stages": {"workload.layout": {"tp": 4, "pp": 2, "chunks": 2, "layers": [0, 1, 3, 0]}},
    "with losses": {
        "workload.layout": {"tp": 4, "pp": 2},
        "topology.scale_out.buffer": "400kB",
    },
    "with timestamps": {"transport.timestamps": True},
    "with delayed acknowledgments": {
        "transport.delayed_ack": {"segments": 2, "timeout": "100us"},
        "transport.min_rto": "1ms",
    },
    "with cubic": {"transport.variant": "cubic"},
    "with stragglers and other traffic": {
        "events": [
            {"event": "straggler", "ranks": [3, 9], "factor": 1.01, "at": "0.3ms"},
            {"event": "traffic", "load": "1Gbps", "sizes": [["10KB", 0.5], ["1MB", 1]], "at": "0"},
            {"event": "incast", "target": 2, "sources": [9, 12], "bytes": "1MB", "at": "0.7ms"},
        ]
    },
}


def both(scenario: Path, changes: dict[str, Any]) -> tuple[bridge.Result, bridge.Result]:
    """Run a scenario with and without replay; compare all that is simulated."""
    results = [
        bridge.run(scenario, {**changes, "simulation.replay": mode}) for mode in ("auto", "off")
    ]
    documents = [result.to_dict() for result in results]
    for document in documents:
        del document["simulator"], document["scenario"]
        document.pop("replay", None)
    assert documents[0] == documents[1]
    assert results[1].replay is None
    return results[0], results[1]


@pytest.mark.parametrize("name", SMALL)
def test_scenarios(name: str, repository: Path) -> None:
    both(repository / "scenarios" / f"{name}.yaml", {})


@pytest.mark.parametrize("name", CUT)
def test_language_models(name: str, repository: Path) -> None:
    changes = {"topology.scale_up.switches": 4, **CUT[name]}  # four zones in a server
    played, _ = both(repository / "scenarios" / "llm_llama3_8b_small.yaml", changes)
    if name == "with cubic":
        assert played.replay is None
    else:
        assert played.replay is not None
        assert played.replay.packets > played.network.packets / 4


@pytest.mark.parametrize("outputs", [["timeline"], ["critical_path"]])
def test_outputs(outputs: list[str], repository: Path, tmp_path: Path) -> None:
    """What an output shows does not depend on replay."""
    scenario = repository / "scenarios" / "dlrm_hier_opt_small.yaml"
    texts = []
    for mode in ("auto", "off"):
        changes = {"simulation.replay": mode, "outputs": outputs}
        bridge.run(scenario, changes, out=tmp_path / mode)
        files = sorted((tmp_path / mode).iterdir())
        texts.append({file.name: file.read_bytes() for file in files if file.stem != "result"})
    assert texts[0] == texts[1]


def test_samples_need_packets(repository: Path) -> None:
    scenario = repository / "scenarios" / "dlrm_hier_opt_small.yaml"
    assert bridge.run(scenario).replay is not None
    assert bridge.run(scenario, {"outputs.series.interval": "10us"}).replay is None


def test_the_time_limit_cuts_a_run_that_is_played(repository: Path) -> None:
    """The counters of a run that ends early are those of its packets until then."""
    scenario = repository / "scenarios" / "llm_llama3_8b_small.yaml"
    partial = []
    for mode in ("auto", "off"):
        changes = {"simulation.replay": mode, "simulation.time_limit": "1ms"}
        with pytest.raises(bridge.SimulationError) as caught:
            bridge.run(scenario, changes)
        assert caught.value.result is not None
        document = caught.value.result.to_dict()
        del document["simulator"], document["scenario"]
        document.pop("replay", None)
        partial.append(document)
    assert partial[0] == partial[1]
