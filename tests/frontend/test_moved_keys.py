"""Keys at the places of the version before: they mean the same, and `cosim convert` moves them."""

from __future__ import annotations

import copy
import json
from io import StringIO
from pathlib import Path
from typing import Any

import pytest
from ruamel.yaml import YAML

from frontend import ScenarioError, load_scenario
from frontend.errors import ScenarioWarning, name_of
from frontend.loading.convert import converted
from frontend.loading.load import read_scenario
from frontend.loading.moved import MOVED, in_new_places
from frontend.yaml_document import read
from topology_gen import specs

SCENARIOS = Path(__file__).parents[2] / "scenarios"
BEGIN = """\
name: x
topology: {family: flat, ranks: 4, bandwidth: 100Gbps, latency: 1us, buffer: 1MB}
workload: {kind: collective, operation: all_reduce, algorithm: ring, bytes: 1MB}
"""
OLD = """
# How ranks send.
transport:
  variant: dctcp        # as in the paper
  mtu: 1500B            # no jumbo frames
  ecn: {enabled: true, threshold: 30KB}
  link_header: 38B

# Shared by all ports.
switch_memory:
  sharing: dynamic
"""
NEW = """
links:
  mtu: 1500B            # no jumbo frames
  header: 38B

# How ranks send.
transport:
  variant: dctcp        # as in the paper
  ecn: true

switches:
  buffer_sharing: dynamic
  ecn_threshold: 30KB

# Shared by all ports.
"""
TEXTS = {
    "flow": (
        "{transport: {mtu: 1500B, ecn: {threshold: 3KB, enabled: true}}, name: x}",
        "{links: {mtu: 1500B}, switches: {ecn_threshold: 3KB}, transport: {ecn: true}, name: x}\n",
    ),
    "JSON": (
        '{"transport": {"sack": true, "mtu": "1500B"}, "links": {"header": "2B"}}',
        '{"transport": {"sack": true}, "links": {"header": "2B", "mtu": "1500B"}}\n',
    ),
    "last key": ("transport: {mtu: 1500B}", "links:\n  mtu: 1500B\n"),
    "comments": (
        "transport:\n  ecn: {threshold: 3KB}  # a\n  # b\n  sack: false\nlinks: {mtu: 2KB}\n",
        "switches:\n  ecn_threshold: 3KB  # a\ntransport:\n  # b\n  sack: false\n"
        "links: {mtu: 2KB}\n",
    ),
    "known blocks": (
        "links: {mtu: 2KB}\nswitches:\n    buffer_alpha: 2.0  # c\n\ntransport:\n"
        "  link_header: 38B\n  mtu: 2KB\n  buffer_unit: 'bytes'\n  # d\n",
        "links: {mtu: 2KB, header: 38B}\nswitches:\n    buffer_alpha: 2.0  # c\n"
        "    buffer_unit: 'bytes'\n\n  # d\n",
    ),
}


def at_old_places(scenario: dict[str, Any]) -> dict[str, Any]:
    """Return a whole scenario as the version before wrote it."""
    result = copy.deepcopy(scenario)
    values = {old: result[new[0]].pop(new[1]) for old, new in MOVED.items()}
    del result["links"], result["switches"]
    for old, value in values.items():
        part = result
        for key in old[:-1]:
            part = part.setdefault(key, {})
        part[old[-1]] = value
    return result


OF_TCP = [
    file
    for file in sorted(SCENARIOS.glob("*_small.yaml"))
    if load_scenario(file).transport.protocol == "tcp"
]
"""The version before had no other transport."""


@pytest.mark.parametrize("file", OF_TCP, ids=lambda file: file.stem)
def test_a_scenario_of_the_version_before_means_the_same(file):
    scenario = load_scenario(file).resolved()
    with pytest.warns(ScenarioWarning) as caught:
        loaded = load_scenario(at_old_places(scenario))
    assert loaded.resolved() == scenario
    (warning,) = caught
    for old, new in MOVED.items():
        assert f"{name_of(old)} is now {name_of(new)}" in str(warning.message)


def test_the_new_places_exist():
    scenario = load_scenario(SCENARIOS / "first.yaml").resolved()
    for block, key in MOVED.values():
        assert key in scenario[block]


def test_a_file_is_read_and_converted(tmp_path):
    file = tmp_path / "x.yaml"
    file.write_text(BEGIN + OLD)
    with pytest.warns(ScenarioWarning, match="x.yaml: transport.mtu is now links.mtu, .* convert"):
        before = load_scenario(file).resolved()
    assert before["links"] == {"mtu": "1500B", "header": "38B"}
    assert before["switches"]["buffer_sharing"] == "dynamic"
    text, found = converted(BEGIN + OLD, str(file))
    assert text == BEGIN + NEW
    assert len(found) == 5
    file.write_text(text)
    assert load_scenario(file).resolved() == before
    assert converted(text, str(file)) == (text, [])


@pytest.mark.parametrize("case", TEXTS)
def test_only_the_text_of_keys_moves(case):
    old, new = TEXTS[case]
    assert converted(old, "x.yaml")[0] == new


def test_an_error_names_the_new_key_and_the_line_of_the_old_one(tmp_path):
    file = tmp_path / "x.yaml"
    file.write_text(BEGIN + OLD.replace("1500B", "60B"))
    with (
        pytest.warns(ScenarioWarning),
        pytest.raises(ScenarioError, match=r"x\.yaml:8: links\.mtu: value 60B: expected a size"),
    ):
        load_scenario(file)


def test_both_places_need_the_same_value(tmp_path):
    file = tmp_path / "x.yaml"
    file.write_text(BEGIN + "links: {mtu: 9000B}\ntransport: {mtu: 1500B}\n")
    expected = (
        f"{file}:5: transport.mtu: value 1500B: expected only the new key links.mtu, which is 9000B"
    )
    with pytest.raises(ScenarioError) as caught:
        load_scenario(file)
    assert str(caught.value) == expected
    file.write_text(BEGIN + "links: {mtu: 9000B}\ntransport: {mtu: 9000B}\n")
    with pytest.warns(ScenarioWarning):
        assert load_scenario(file).links.mtu == 9000


@pytest.mark.parametrize("begin", ["links: {mtu: 9000B}\n", "transport: {mtu: 9000B}\n", ""])
@pytest.mark.filterwarnings("ignore::frontend.errors.ScenarioWarning")
def test_an_override_of_an_old_key_sets_the_new_one(tmp_path, begin):
    file = tmp_path / "x.yaml"
    file.write_text(BEGIN + begin)
    document = read_scenario(file)  # which a sweep loads with other values for each point
    for value in ("1500B", "4000B"):
        for overrides in (
            [f"transport.mtu={value}"],
            {"transport.mtu": value},
            {"transport": {"mtu": value}},
        ):
            scenario = load_scenario(document, overrides)
            assert scenario.links.mtu == int(value[:-1])
            assert "mtu" not in scenario.resolved()["transport"]


def test_a_new_place_in_a_part_that_is_no_mapping():
    with pytest.raises(ScenarioError) as caught:
        in_new_places({"outputs": ["timeline"], "measurement": {"rtt_interval": "1us"}})
    assert str(caught.value) == (
        "measurement.rtt_interval: value 1us: expected only the new key outputs.rtt_interval, "
        "and outputs as a mapping"
    )


def test_an_override_of_an_old_part():
    with pytest.warns(ScenarioWarning, match="transport.ecn.threshold is now switches.ecn"):
        scenario = load_scenario(
            SCENARIOS / "first.yaml", ["transport.ecn={enabled: true, threshold: 30KB}"]
        )
    assert (scenario.transport.ecn, scenario.switches.ecn_threshold) == (True, 30_000)
    with pytest.warns(ScenarioWarning), pytest.raises(ScenarioError) as caught:
        load_scenario(SCENARIOS / "first.yaml", ["transport.mtu=60B"])
    assert str(caught.value).startswith("override transport.mtu=60B: links.mtu: value 60B: ")


def test_an_anchor_is_left_to_its_owner():
    text = BEGIN + "x-tcp: &tcp {mtu: 1500B}\ntransport:\n  <<: *tcp\n  window: 1MB\n"
    with pytest.raises(ScenarioError, match=r"expected transport\.mtu outside of what anchors"):
        converted(text, "x.yaml")


LINKS = {"bandwidth": "25Gbps", "latency": "1us", "buffer": "1MB"}
WORK = {"kind": "collective", "operation": "all_gather", "algorithm": "ring", "bytes": "1MB"}


def as_family(name: str) -> dict[str, Any]:
    """Return the example of a graph as a family with keys of its own."""
    _, values = specs.read(specs.example(name))
    found: dict[str, Any] = {"family": name}
    for key, value in values.items():
        parser = specs.FAMILIES[name].parameters[key].parser
        if parser == specs.BASE:
            found[key] = specs.inner(value)
        elif parser == specs.BASES:
            found[key] = [specs.inner(part) for part in specs.split(value, "+")]
        else:
            found[key] = parser.read(value)
    return found


@pytest.mark.parametrize("name", specs.FAMILIES)
def test_a_family_of_the_version_before_is_a_graph(name):
    content = json.loads(json.dumps({"topology": as_family(name) | LINKS, "workload": WORK}))
    text = StringIO()
    YAML().dump(content, text)
    with pytest.warns(ScenarioWarning, match="topology.family, .* are now topology.graph: "):
        scenario = load_scenario(content)
    assert scenario.resolved()["topology"]["graph"] == specs.example(name)
    new, _ = converted(text.getvalue(), "x.yaml")
    assert read(new, "x.yaml").data["topology"] == {
        "family": "direct_connect",
        "graph": specs.example(name),
        **LINKS,
    }
    # The flow style of JSON needs quotes around a specification.
    assert json.loads(converted(json.dumps(content), "x.json")[0]) == read(new, "x.yaml").data


def test_edges_of_the_version_before_are_a_graph(tmp_path):
    edges = [[0, 1], [1, 0]]
    (tmp_path / "e.json").write_text(json.dumps(edges))
    for key, value in (("edges", edges), ("file", "e.json")):
        content = {"topology": {"family": "edges", key: value} | LINKS, "workload": WORK}
        (tmp_path / "x.yaml").write_text(json.dumps(content))
        with pytest.warns(ScenarioWarning, match=f"topology.family, {key} are now topology.graph"):
            scenario = load_scenario(tmp_path / "x.yaml")
        assert scenario.resolved()["topology"]["graph"] == edges
        text, _ = converted(json.dumps(content), "x.yaml")
        assert json.loads(text)["topology"]["graph"] == value


@pytest.mark.parametrize(
    ("overrides", "graph"),
    [
        (["topology.n=8"], "circulant:n=8,offsets=2+3"),
        (["topology.offsets=[1, 3]"], "circulant:n=12,offsets=1+3"),
        (["topology.family=directed_circulant"], "directed_circulant:n=12,offsets=2+3"),
        ({"topology": {"family": "kautz", "d": 2, "k": 3} | LINKS}, "kautz:d=2,k=3"),
        (["topology.edges=[[0, 1], [1, 0]]"], [[0, 1], [1, 0]]),
    ],
)
@pytest.mark.filterwarnings("ignore::frontend.errors.ScenarioWarning")
def test_an_override_of_a_parameter_changes_the_graph(overrides, graph):
    new = {"family": "direct_connect", "graph": "circulant:n=12,offsets=2+3"}
    old = {"family": "circulant", "n": 12, "offsets": [2, 3]}
    for topology in (new, old):
        content = {"topology": topology | LINKS, "workload": WORK}
        loaded = load_scenario(content, overrides).resolved()
        assert loaded["topology"]["graph"] == graph


def test_a_comment_of_each_parameter_stays():
    old = """\
topology:
  family: kautz         # the most nodes
  d: 2                  # ports
  bandwidth: 1Gbps
  k: 3
"""
    new = """\
topology:
  family: direct_connect
  graph: kautz:d=2,k=3  # the most nodes; ports
  bandwidth: 1Gbps
"""
    assert converted(old, "x.yaml")[0] == new
