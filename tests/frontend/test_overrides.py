"""Overrides: values are YAML, later ones win, and error messages name the override."""

from pathlib import Path

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from frontend import ScenarioError, compile_scenario, load_scenario
from frontend.loading.problems import key_paths
from frontend.resolve import resolve
from frontend.topologies.flat import HierarchicalTopology
from frontend.topologies.graph import GraphTopology

ROOT = Path(__file__).parents[2]
COLLECTIVE = ROOT / "scenarios" / "collective.yaml"
SMALL = ROOT / "scenarios" / "collective_small.yaml"
HIERARCHICAL = ROOT / "scenarios" / "dlrm_hier_small.yaml"


@pytest.mark.parametrize(
    ("override", "read"),
    [
        ("topology.ranks=16", lambda s: s.topology.ranks == 16),
        ("topology.bandwidth=800Gbps", lambda s: s.topology.bandwidth == 800 * 10**9),
        ("topology.bandwidth=1e9bps", lambda s: s.topology.bandwidth == 10**9),
        ("topology.latency=1us", lambda s: s.topology.latency == 10**6),
        ("topology.buffer=64MB", lambda s: s.topology.buffer == 64 * 10**6),
        ("topology.buffer=unlimited", lambda s: s.topology.buffer == 2**48),
        ("workload.operation=all_gather", lambda s: s.workload.operation == "all_gather"),
        ("workload.algorithm=dbt", lambda s: s.workload.algorithm == "dbt"),
        ("workload.peer_order=random", lambda s: s.workload.peer_order == "random"),
        ("workload.bytes=1GiB", lambda s: s.workload.bytes == 2**30),
        ("system.chunks=32", lambda s: s.system.chunks.all_to_all == 32),
        ("system.chunks={all_reduce: 4}", lambda s: s.system.chunks.all_reduce == 4),
        ("system.chunks.all_reduce=4", lambda s: s.system.chunks.all_reduce == 4),
        ("system.concurrent_chunks=8", lambda s: s.system.concurrent_chunks.scale_out == 8),
        ("system.scheduling=fifo", lambda s: s.system.scheduling == "fifo"),
        ("links.mtu=1500B", lambda s: (s.links.mtu, resolve(s).payload_bytes) == (1500, 1460)),
        ("transport.timestamps=true", lambda s: resolve(s).payload_bytes == 8948),
        ("transport.window=0.1MB", lambda s: s.transport.window == 100_000),
        ("transport.min_rto=1ms", lambda s: s.transport.min_rto == 10**9),
        ("fabric=native", lambda s: s.fabric == "native"),
        ("description=a=b", lambda s: s.description == "a=b"),
        ("simulation.time_limit=null", lambda s: s.simulation.time_limit is None),
    ],
)
def test_every_key_of_the_contract_can_be_set(override, read):
    assert read(load_scenario(COLLECTIVE, [override]))
    name, _, value = override.partition("=")
    assert read(load_scenario(COLLECTIVE, {name: value}))


def test_scale_out_bandwidth_of_a_hierarchy_can_be_set():
    scenario = load_scenario(HIERARCHICAL, {"topology.scale_out.bandwidth": "800Gbps"})
    assert isinstance(scenario.topology, HierarchicalTopology)
    assert scenario.topology.scale_out.bandwidth == 800 * 10**9


def test_the_last_one_counts_and_values_need_not_be_text():
    scenario = load_scenario(COLLECTIVE, ["seed=2", "seed=3"])
    assert scenario.seed == 3
    assert load_scenario(COLLECTIVE, {"seed": 4, "transport.ecn": False}).seed == 4


def test_an_item_of_a_list_can_be_set():
    """As for a sweep over the time of a failure."""
    flap = ROOT / "scenarios" / "link_flap_small.yaml"
    before, after = (load_scenario(flap, o).events for o in ([], ["events.0.at=7us"]))
    assert after[0] == before[0].model_copy(update={"at": 7_000_000})
    assert after[1:] == before[1:]
    with pytest.raises(ScenarioError, match=r"events\.9\.at=7us: events\.9\.at: unknown key"):
        load_scenario(flap, ["events.9.at=7us"])


def test_one_number_for_all_spreads_before_one_of_them_is_changed():
    scenario = load_scenario(COLLECTIVE, ["system.chunks=8", "system.chunks.all_reduce=2"])
    assert (scenario.system.chunks.all_reduce, scenario.system.chunks.all_to_all) == (2, 8)


@pytest.mark.parametrize(
    ("short", "override", "whole"),
    [
        (
            {"server": "p5"},
            {"topology.server.nics": 16},
            {"server": {"model": "p5", "nics": 16}},
        ),
        (
            {"outputs": ["timeline"]},
            {"outputs.format": "parquet"},
            {"outputs": {"timeline": True, "format": "parquet"}},
        ),
        (
            {"model": "mixtral_8x7b"},
            {"workload.model.layers": 2, "workload.model.experts": {"count": 64}},
            {"model": {"card": "mixtral_8x7b", "layers": 2, "experts": {"count": 64}}},
        ),
    ],
)
def test_a_key_of_a_part_in_its_short_form(short, override, whole):
    def scenario(part):
        family = {"family": "rail_only", "servers": 2, "buffer": "64MB"}
        model = {"kind": "llm", "model": part.get("model", "llama3_8b"), "global_batch": 16}
        model["check_memory"] = False
        blocks = {"topology": family | {"server": part.get("server", "p5")}, "workload": model}
        return blocks | {key: part[key] for key in ("outputs",) if key in part}

    assert load_scenario(scenario(short), override) == load_scenario(scenario(whole))


def test_an_item_in_its_short_form():
    ends = [["gpu0", "s", "100Gbps"], ["gpu1", "s", "100Gbps"]]
    graph = {"family": "graph", "links": ends, "latency": "1us", "buffer": "64MB"}
    work = {"kind": "collective", "operation": "barrier", "algorithm": "direct"}
    loaded = load_scenario(
        {"topology": graph, "workload": work}, {"topology.links.1.latency": "2us"}
    )
    assert isinstance(loaded.topology, GraphTopology)
    second = loaded.topology.links[1]
    assert (second.ends, second.bandwidth, second.latency) == (("gpu1", "s"), 10**11, 2 * 10**6)


def test_a_part_that_no_mapping_stands_for_is_not_lost():
    with pytest.raises(ScenarioError) as caught:
        load_scenario({"outputs": ["timelines"]}, ["outputs.format=csv"])
    assert str(caught.value) == (
        "override outputs.format=csv: outputs: value ['timelines']: "
        "expected a list of timeline and critical_path"
    )


def test_a_scenario_keeps_its_derived_defaults_open():
    scenario = load_scenario(load_scenario(COLLECTIVE), {"links.mtu": "1500B"})
    assert resolve(scenario).payload_bytes == 1460


def test_a_family_and_its_keys_in_one_go():
    scenario = load_scenario(
        COLLECTIVE,
        [
            "topology={family: hierarchical, ranks: 16}",
            "topology.scale_up={bandwidth: 1200Gbps, latency: 1us, buffer: 64MB}",
            "topology.scale_out={bandwidth: 100Gbps, latency: 1us, buffer: 1GB}",
            "workload.algorithm=hierarchical_optimal",
        ],
    )
    assert isinstance(scenario.topology, HierarchicalTopology)
    assert scenario.topology.scale_up.switches == 7


def test_the_original_is_left_alone():
    data = load_scenario(COLLECTIVE).resolved()
    load_scenario(data, ["system.chunks.all_reduce=4"])
    assert data["system"]["chunks"]["all_reduce"] == 1


@pytest.mark.parametrize(
    ("override", "sentence"),
    [
        ("topology.bandwith=1", "unknown key: did you mean topology.bandwidth?"),
        ("topology.scale_out.bandwidth=1", "unknown key: did you mean topology.bandwidth?"),
        ("bandwidth=1", "unknown key: did you mean topology.bandwidth?"),
        (
            "topology.qq=1",
            "unknown key: expected one of family, ranks, bandwidth, latency, buffer, in_network",
        ),
        ("seed.x=1", "unknown key: seed has one value, without keys inside"),
        (
            "topology.qq.zz=1",
            "unknown key: expected one of family, ranks, bandwidth, latency, buffer, in_network",
        ),
        ("topology.ranks=x", "value x: expected a whole number"),
        (
            "workload={}",
            "missing key: expected one of collective, dlrm, moe, training, llm, chakra, goal; "
            "the override replaces all of workload",
        ),
        ("transport.window=1KB", "value 1KB: expected at least one segment (transport.mss, 8960)"),
    ],
)
def test_refusals_name_the_override_and_the_key(override, sentence):
    with pytest.raises(ScenarioError) as caught:
        load_scenario(COLLECTIVE, [override])
    key = "workload.kind" if override == "workload={}" else override.partition("=")[0]
    assert str(caught.value) == f"override {override}: {key}: {sentence}"


@pytest.mark.parametrize("override", ["workload.bytes", "=3", ""])
def test_what_is_no_override(override):
    with pytest.raises(ScenarioError) as caught:
        load_scenario(COLLECTIVE, [override])
    assert str(caught.value) == f"override {override}: expected key.path=value"


@pytest.mark.parametrize("value", ["[1", "!!set {a}", "{a: 1, a: 2}", "*x"])
def test_a_value_that_is_no_plain_yaml(value):
    with pytest.raises(ScenarioError) as caught:
        load_scenario(COLLECTIVE, [f"seed={value}"])
    assert str(caught.value).startswith(f"override seed={value}: ")
    assert ": expected " in str(caught.value)


ANY_VALUE = st.one_of(
    st.none(),
    st.booleans(),
    st.integers(-1, 40),
    st.sampled_from([2**31, 2**63, 2**64, 10**30, -(2**70), float("nan"), float("inf"), 1e308]),
    st.floats(),
    st.sampled_from(["1Gbps", "1us", "1MB", "1e3", "1e300", "auto", "unlimited", "dbt", "direct"]),
    st.text(max_size=5),
    st.lists(st.integers(0, 9), max_size=3),
    st.dictionaries(st.text(max_size=3), st.integers(), max_size=2),
)


@settings(deadline=None, max_examples=150)
@given(data=st.data(), count=st.integers(1, 3))
def test_any_values_give_a_stream_or_one_sentence(data, count):
    source = data.draw(st.sampled_from([SMALL, HIERARCHICAL]))
    keys = [".".join(map(str, key)) for key in key_paths(load_scenario(source).resolved())]
    values = data.draw(
        st.dictionaries(st.sampled_from(keys), ANY_VALUE, min_size=count, max_size=count)
    )
    try:
        compile_scenario(load_scenario(source, values))
    except ScenarioError as error:
        assert len(str(error).splitlines()) == 1


def test_numbers_of_numpy() -> None:
    """A script computes values with numpy: they mean the same as Python's."""
    with_numpy = {
        "topology.ranks": np.int64(8),
        "seed": np.float64(3.0),
        "system.chunks": np.uint32(2),
    }
    plain = {"topology.ranks": 8, "seed": 3, "system.chunks": 2}
    assert load_scenario(SMALL, with_numpy) == load_scenario(SMALL, plain)
    wrong = {"topology.ranks": np.float64(1.5)}
    with pytest.raises(ScenarioError, match=r"value 1\.5: expected a whole number"):
        load_scenario(SMALL, wrong)
    torus = {
        "family": "direct_connect",
        "graph": np.array([[0, 1], [1, 0]]),
        "bandwidth": "1Gbps",
        "latency": "1us",
    }
    work = {"kind": "collective", "operation": "all_gather", "algorithm": "ring"}
    scenario = load_scenario(
        {"topology": torus | {"buffer": "1MB"}, "workload": work | {"bytes": "8B"}}
    )
    assert scenario.resolved()["topology"]["graph"] == [[0, 1], [1, 0]]
