"""Scenarios that earlier versions have written: sizes without a unit counted bytes."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

import pytest

from frontend import ScenarioError, load_scenario
from frontend.loading.moved import MOVED
from frontend.loading.stored import REMOVED, SIZES, with_units
from frontend.schema.quantities import Size
from frontend.units import SIZE

SCENARIOS = Path(__file__).parents[2] / "scenarios"


def without_units(content: Any) -> Any:
    """Return a scenario as an earlier version could have written it."""
    if isinstance(content, dict):
        return {
            key: bare(value) if key in SIZES else without_units(value)
            for key, value in content.items()
        }
    return [without_units(one) for one in content] if isinstance(content, list) else content


def bare(value: Any) -> Any:
    if isinstance(value, list):
        return [bare(one) for one in value]
    whole = isinstance(value, str) and value.endswith("B") and value[:-1].isdigit()
    return int(value[:-1]) if whole and value != "0B" else without_units(value)


@pytest.mark.parametrize(
    "file",
    sorted(SCENARIOS.glob("*_small.yaml")),
    ids=lambda file: file.stem,
)
def test_a_result_of_an_earlier_version_gives_its_scenario(file, tmp_path):
    scenario = load_scenario(file)
    old = without_units(json.loads(json.dumps(scenario.resolved())))
    assert old["links"]["mtu"] == 9000
    assert load_scenario(with_units(old)).resolved() == scenario.resolved()
    if any(work.kind.files for work in scenario.work):
        return  # whose paths are those of this folder
    result = tmp_path / "result.json"
    result.write_text(json.dumps({"simulator": {}, "scenario": old}))
    assert load_scenario(result).resolved() == scenario.resolved()
    # What a person writes needs units.
    with pytest.raises(ScenarioError, match="expected a size with a unit, such as 9000B"):
        load_scenario({**scenario.resolved(), "links": {"mtu": 9000}})


def test_sizes_and_counts_in_lists():
    stored = {
        "events": [{"sizes": [[1000, 0.5], ["1MB", 1.0]], "bytes": 8}],
        "workload": {"matrix": [[0, 7], ["1kB", 0]], "strategy": {"bytes": 8}},
        "topology": {"nodes": [{"name": 3, "memory": 5}], "demand": {"bytes": 9}},
    }
    assert with_units(stored) == {
        "events": [{"sizes": [["1000B", 0.5], ["1MB", 1.0]], "bytes": "8B"}],
        "workload": {"matrix": [[0, "7B"], ["1kB", 0]], "strategy": {"bytes": 8}},
        "topology": {"nodes": [{"name": 3, "memory": "5B"}], "demand": {"bytes": 9}},
    }


def test_the_keys_are_those_of_the_schema():
    """A key that is added later has always needed a unit, and need not be here."""
    schema = json.loads((SCENARIOS.parent / "frontend" / "scenario.schema.json").read_text())
    found = {
        key
        for definition in schema["$defs"].values()
        for key, value in definition.get("properties", {}).items()
        if f'"{SIZE.example}"' in json.dumps(value)
    }
    names = {old[-1]: new[-1] for old, new in MOVED.items()}
    later = {"ack_interval", "byte_counter", "frame", "headroom", "kmax", "kmin", "payload"}
    later |= {"gather_element", "reserve", "resume_offset"}
    assert found - later == {names.get(key, key) for key in SIZES - {key for _, key in REMOVED}}


def test_keys_that_are_gone(tmp_path):
    """A result without an effect of such a key is read as before; another one says what is gone."""
    scenario = load_scenario(SCENARIOS / "collective_small.yaml")
    old = json.loads(json.dumps(scenario.resolved()))
    old["system"] |= {"min_chunk": "1B", "estimator_chunks": None, "negotiation_latency": "0ns"}
    old["transport"] |= {"initial_rto": "50ms", "clock_granularity": "1us", "data_retries": 15}
    old["simulation"] |= {"repeat": "exact", "repeat_tolerance": 0.1, "check_interval": 20}
    result = tmp_path / "result.json"
    result.write_text(json.dumps({"simulator": {}, "scenario": old}))
    assert load_scenario(result).resolved() == scenario.resolved()
    for path, value, expected in (
        ("system.min_chunk", "1KiB", "expected only system.chunks"),
        ("system.estimator_chunks", 8, "expected only system.chunks"),
        ("system.negotiation_latency", "1us", "it is always 0"),
        ("transport.initial_rto", "1ms", "expected only transport.min_rto"),
        ("transport.clock_granularity", "1ms", "it is always 1us"),
        ("simulation.repeat", "approximate", "on express, simulation.replay"),
        ("simulation.repeat_tolerance", 0.1, "on express, simulation.replay"),
        ("simulation.check_interval", 20, "on express, simulation.replay"),
        ("transport.data_retries", 9, "it is always 15"),
    ):
        block, key = path.split(".")
        with pytest.raises(ScenarioError, match=f"{path}.*no longer has this key: {expected}"):
            load_scenario({**scenario.resolved(), block: {key: value}})


def test_a_size_is_written_with_its_unit():
    assert Size(8960).written() == "8960B"
    assert Size(2**20).written() == "1MiB"
    assert Size.parse(0).written() == 0
    assert load_scenario(SCENARIOS / "first.yaml").resolved()["links"]["mtu"] == "9000B"
