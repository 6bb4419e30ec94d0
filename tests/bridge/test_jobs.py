"""Jobs that share a network: alone, side by side, on one link, later."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

import pytest
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st

import bridge
from frontend import load_scenario
from tests.bridge.job_parts import CLOS, DLRM, FLAT, RING

FABRICS = ["express", "flow", "analytical"]
TO_ALL = {"kind": "collective", "operation": "all_to_all", "algorithm": "direct", "bytes": "300KB"}
TREE = {"kind": "collective", "operation": "all_reduce", "algorithm": "dbt", "bytes": "200KB"}
LLM: dict[str, Any] = {
    "kind": "llm",
    "model": {
        "card": "llama3_8b",
        "layers": 2,
        "hidden": 256,
        "heads": 4,
        "kv_heads": 4,
        "feed_forward": 512,
        "vocabulary": 1024,
        "sequence": 128,
    },
    "layout": {"tp": 2, "pp": 2},
    "global_batch": 2,
    "compute": {"accelerator": "h100", "efficiency": 0.6},
}
KINDS = [RING, TO_ALL, TREE, LLM, DLRM]
ONE_LINK = {
    "family": "graph",
    "nodes": ["gpu0", "gpu1", "gpu2", "gpu3", "leaf0", "leaf1"],
    "links": [
        *[[f"gpu{rank}", f"leaf{rank // 2}", "100Gbps", "1us"] for rank in range(4)],
        ["leaf0", "leaf1", "10Gbps", "1us"],
    ],
    "buffer": "1MB",
}
CANDLE = {"name": "candle", "features": [64], "feature_layers": 2, "feature_width": 128}
CANDLE |= {"dense_layers": 1, "dense_width": 128}
TRAINING = {"kind": "training", "iterations": 2, "batch_per_gpu": 4, "model": CANDLE}


def run(jobs, fabric="express", topology=None, **more):
    return bridge.run({"topology": topology or FLAT, "fabric": fabric, "jobs": jobs, **more})


def job(name, workload, **keys):
    return {"name": name, "workload": workload, **keys}


def ps(time_ns):
    return round(time_ns * 1000)


def times(result, name):
    """The times of the iterations of a job in picoseconds."""
    found = next(one for one in result.jobs if one.name == name)
    return [ps(iteration.time_ns) for iteration in found.iterations]


def measured(result):
    """A result without what depends on the machine."""
    document = result.to_dict()
    for key in ("wall_s", "cpu_s", "peak_rss_bytes"):
        del document["simulator"][key]
    return json.dumps(document)


@pytest.mark.parametrize("fabric", FABRICS)
@pytest.mark.parametrize("name", ["llm_llama3_8b", "dlrm_hier", "moe", "chakra_transformer"])
def test_one_job_on_all_ranks_is_its_workload(repository: Path, name: str, fabric: str) -> None:
    """The same messages at the same times, to the picosecond; only names differ."""
    file = repository / "scenarios" / f"{name}_small.yaml"
    plain = load_scenario(file, {"fabric": fabric})
    own = plain.model_dump(mode="json", exclude_unset=True)
    whole = job("a", own.pop("workload"), placement="packed")
    if "collective" in own:
        whole["collective"] = own.pop("collective")
    expected = bridge.run(plain)
    whole["ranks"] = 1 + max(row["source"] for row in expected.tables.rows("flows"))
    result = bridge.run(own | {"jobs": [whole]})
    assert result.network == expected.network
    assert ps(result.time_ns) == ps(expected.time_ns)
    assert times(result, "a") == [ps(one.time_ns) for one in expected.iterations]
    assert [one.name for one in result.layers] == [f"a.{one.name}" for one in expected.layers]
    assert [one.compute_ns for one in result.layers] == [one.compute_ns for one in expected.layers]


@pytest.mark.parametrize("fabric", [*FABRICS, "native"])
@settings(
    max_examples=12, deadline=None, suppress_health_check=[HealthCheck.function_scoped_fixture]
)
@given(
    st.sampled_from(KINDS),
    st.sampled_from(KINDS),
    st.permutations(range(8)),
    st.integers(0, 50_000_000),
    st.integers(1, 3),
)
def test_jobs_that_share_nothing_take_what_they_take_alone(
    fabric, first, second, order, arrival_ps, iterations
):
    """On one switch, each rank has links and queues of its own."""
    jobs = [
        job("a", first, placement=order[:4], iterations=iterations),
        job("b", second, placement=order[4:], arrival=f"{arrival_ps}ps"),
    ]
    both = run(jobs, fabric)
    for one in jobs:
        alone = run([one], fabric)
        assert times(both, one["name"]) == times(alone, one["name"])


@pytest.mark.parametrize("fabric", FABRICS)
@settings(
    max_examples=12, deadline=None, suppress_health_check=[HealthCheck.function_scoped_fixture]
)
@given(st.sampled_from(KINDS), st.sampled_from(KINDS), st.integers(1, 10**12))
def test_a_later_arrival_shifts_all_times(fabric, first, second, arrival_ps):
    """Both jobs share the uplinks of two leaves, and arrive later by the same time."""
    jobs = [
        job("a", first, placement=[0, 5, 2, 7], iterations=2),
        job("b", second, placement=[4, 1, 6, 3]),
    ]
    soon = run(jobs, fabric, CLOS)
    late = run([one | {"arrival": f"{arrival_ps}ps"} for one in jobs], fabric, CLOS)
    assert ps(late.time_ns) == ps(soon.time_ns) + arrival_ps
    for one, other in zip(soon.jobs, late.jobs, strict=True):
        assert ps(other.start_ns) == ps(one.start_ns) + arrival_ps
        assert times(late, one.name) == times(soon, one.name)


ONLY_QUEUES = {"variant": "cubic", "window": "0.15MB"}  # a port has a third of the buffer
MARKS = {"variant": "dctcp", "window": "2MB", "ecn": True}


@pytest.mark.parametrize(
    ("fabric", "transport"), [("express", ONLY_QUEUES), ("express", MARKS), ("flow", ONLY_QUEUES)]
)
def test_two_equal_jobs_share_a_link_fairly(fabric: str, transport: dict[str, Any]) -> None:
    """They fill the link, alone it has gaps; none is faster than the other by more than 3 %."""
    work = {"kind": "collective", "operation": "all_to_all", "algorithm": "direct"}
    work |= {"bytes": "40MB"}
    jobs = [job("a", work, placement=[0, 2]), job("b", work, placement=[1, 3])]
    more = {"links": {"mtu": "9000B"}, "transport": transport}
    more |= {"switches": {"ecn_threshold": "100KB"}} if "ecn" in transport else {}
    both = run(jobs, fabric, ONE_LINK, **more)
    (alone,) = times(run(jobs[:1], fabric, ONE_LINK, **more), "a")
    shared = [times(both, one.name)[0] for one in both.jobs]
    assert both.network.drops == 0
    both_on_link_ps = 2 * 20_000_000 * 8 * 100  # of 10 Gb/s, in each direction
    assert both_on_link_ps < max(shared) < 1.03 * 2 * alone
    assert min(shared) > 0.97 * max(shared)


def test_whole_messages_take_turns_on_a_link_by_estimate() -> None:
    """`analytical` queues whole messages: one job is as fast as alone, the other waits for it."""
    work = {"kind": "collective", "operation": "all_to_all", "algorithm": "direct"}
    work |= {"bytes": "40MB"}
    jobs = [job("a", work, placement=[0, 2]), job("b", work, placement=[1, 3])]
    (alone,) = times(run(jobs[:1], "analytical", ONE_LINK), "a")
    both = run(jobs, "analytical", ONE_LINK)
    assert times(both, "a") == [alone]
    assert times(both, "b") == pytest.approx([2 * alone], rel=0.01)


@pytest.mark.parametrize("fabric", FABRICS)
def test_a_mix_of_six_kinds_is_the_same_twice(repository: Path, fabric: str) -> None:
    """Byte for byte, in one process, and from its stream."""
    file = repository / "scenarios" / "jobs_mix_small.yaml"
    first, second = (bridge.run(file, {"fabric": fabric}) for _ in range(2))
    assert measured(first) == measured(second)
    assert len({one.kind.name for one in load_scenario(file).work}) == 6
    assert all(one.iterations for one in first.jobs or ())


def test_a_stream_of_jobs_gives_the_same_result(repository: Path, tmp_path: Path) -> None:
    file = repository / "scenarios" / "jobs_mix_small.yaml"
    bridge.compile(file, out=tmp_path / "x.stream")
    again = bridge.replay(tmp_path / "x.stream", out=tmp_path / "again")
    assert measured(again) == measured(bridge.run(file))
    # and so does the scenario in the result
    assert load_scenario(tmp_path / "again" / "result.json") == load_scenario(
        load_scenario(file).resolved()
    )


@pytest.mark.parametrize("fabric", FABRICS)
def test_a_straggler_slows_its_own_job_only(fabric: str) -> None:
    jobs = [job("a", LLM, placement=[0, 1, 2, 3]), job("b", DLRM, placement=[4, 5, 6, 7])]
    slow = {"event": "straggler", "ranks": [2], "factor": 3, "at": "0s"}
    usual, slowed = run(jobs, fabric), run(jobs, fabric, events=[slow])
    assert times(slowed, "b") == times(usual, "b")
    assert min(times(slowed, "a")) > max(times(usual, "a"))


@pytest.mark.parametrize("work", [RING, TO_ALL], ids=lambda work: work["operation"])
def test_iterations_of_a_collective_take_the_same_time(work: dict[str, Any]) -> None:
    """All ranks are done at the same time on `flow`, so the next time is as the first."""
    once = times(run([job("a", work, ranks=4)], "flow"), "a")
    often = times(run([job("a", work, ranks=4, iterations=5)], "flow"), "a")
    assert often == once * 5


@pytest.mark.parametrize("fabric", FABRICS)
@pytest.mark.parametrize("name", ["goal_halo", "chakra_transformer"])
def test_a_file_runs_several_times(repository: Path, name: str, fabric: str) -> None:
    """Each time carries the same. Times differ, as a rank begins again when it is done itself."""
    data = load_scenario(repository / "scenarios" / f"{name}_small.yaml").model_dump(
        mode="json", exclude_unset=True
    )
    one = job("a", data.pop("workload"), ranks=4 if name == "goal_halo" else 8)
    if "collective" in data:
        one["collective"] = data.pop("collective")
    data["fabric"] = fabric
    once = bridge.run(data | {"jobs": [one]})
    often = bridge.run(data | {"jobs": [one | {"iterations": 4}]})
    assert len(times(often, "a")) == 4
    assert often.network.payload_bytes == 4 * once.network.payload_bytes
    assert len(often.collectives) == 4 * len(once.collectives)


def test_iterations_of_a_job_replace_those_of_its_workload() -> None:
    result = run([job("a", DLRM, ranks=4, iterations=4)], "analytical")
    assert len(times(result, "a")) == 4
    scenario = load_scenario(result.scenario)
    assert scenario.work[0].workload.iterations == 4
    assert load_scenario(scenario.resolved()) == scenario


@pytest.mark.parametrize("fabric", FABRICS)
def test_each_job_has_links_of_its_own_on_topoopt(fabric: str) -> None:
    """Links are made for each job, so a job is as fast as on a network of its own."""
    topoopt = {"family": "topoopt", "d": 4, "demand": "workload", "bandwidth": "100Gbps"}
    topoopt |= {"latency": "1us", "buffer": "unlimited", "forwarding_delay": "1ns"}
    jobs = [
        job("a", TRAINING, placement="random", ranks=6),
        job("b", TRAINING | {"batch_per_gpu": 9}, placement="random", ranks=4),
    ]
    both = run(jobs, fabric, topoopt | {"n": 12}, links={"mtu": "9000B"})
    for one in jobs:
        single = [one | {"placement": "packed"}]
        alone = run(single, fabric, topoopt | {"n": one["ranks"]}, links={"mtu": "9000B"})
        assert times(both, one["name"]) == pytest.approx(times(alone, one["name"]), abs=10)


@pytest.mark.parametrize("fabric", FABRICS)
@pytest.mark.parametrize("starts", [None, ["0us", "30us"]])
def test_a_collective_with_computation(fabric, starts) -> None:
    """The latest start, what is computed before, and the longer one of the collective and of what
    is computed beside it; then the next iteration begins."""
    work = RING | {"starts": starts}
    late = 30_000_000 if starts else 0
    (usual,) = times(run([job("a", work, placement=[0, 1])], fabric), "a")
    for before, beside in ((100, 0), (100, 5), (50, 9000)):
        own = work | {"compute_before": f"{before}us", "compute_beside": f"{beside}us"}
        found = times(run([job("a", own, placement=[0, 1], iterations=2)], fabric), "a")
        whole = late + max(usual - late, beside * 1_000_000) + before * 1_000_000
        assert found[0] == pytest.approx(whole, rel=1e-3)
