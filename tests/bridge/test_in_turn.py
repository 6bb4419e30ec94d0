"""Jobs that take turns on the same ranks, over the fabrics: times, links, and estimates."""

from __future__ import annotations

import math
from io import StringIO
from typing import Any

import pytest
from rich.console import Console

import bridge
from bridge.batch.cluster import estimate
from bridge.batch.interference import interference, points
from bridge.present.report import print_report
from frontend import load_scenario

FABRICS = ["express", "native", "flow", "analytical"]
LINKS = {"bandwidth": "100Gbps", "latency": "1us", "buffer": "unlimited"}
DLRM = {"name": "dlrm", "dense_features": 16, "dense_layers": 1, "dense_width": 64, "tables": 4}
DLRM |= {"feature_layers": 2, "feature_width": 128, "rows": 1000, "dimension": 16}
CANDLE = {"name": "candle", "features": [64], "feature_layers": 2, "feature_width": 128}
CANDLE |= {"dense_layers": 1, "dense_width": 128}
RINGS = {"all_reduce": "multi_ring"}


def kind(name: str, **workload: Any) -> dict[str, Any]:
    work = {"kind": "training"} | workload
    return {"name": name, "ranks": 6, "collective": RINGS, "workload": work}


MIX = [
    kind("dlrm", iterations=3, batch_per_gpu=8, model=DLRM),
    kind("candle", iterations=2, batch_per_gpu=4, model=CANDLE),
]
TOPOOPT = {"family": "topoopt", "d": 4, "n": 18, "demand": "workload"}
FAT_TREE = {"family": "fat_tree", "ranks": 18, "oversubscription": 2}
REST = {"links": {"mtu": "9000B"}, "system": {"injection_latency": "0ns"}}
LLM = {
    "kind": "llm",
    "model": {"card": "llama3_8b", "layers": 2, "hidden": 512, "heads": 4, "kv_heads": 4}
    | {"feed_forward": 1024, "vocabulary": 4096, "sequence": 256},
    "layout": {"tp": 2},
    "global_batch": 4,
    "compute": {"accelerator": "h100"},
}


def content(topology: dict[str, Any], fabric: str, count: int = 6, **keys: Any) -> dict[str, Any]:
    given = {"topology": LINKS | topology, "fabric": fabric, "jobs": MIX, "seed": 2}
    return given | {"mix": {"count": count}, "queueing": "in_turn"} | REST | keys


def times(job: Any) -> list[float]:
    return [iteration.time_ns for iteration in job.iterations]


def ends(job: Any) -> float:
    end: float = job.iterations[-1].end_ns
    return end


@pytest.mark.parametrize("paths", [1, 2, 3])
@pytest.mark.parametrize("fabric", ["analytical", "flow", "express"])
def test_a_shard_is_as_fast_as_a_cluster_of_its_own(fabric: str, paths: int) -> None:
    """Two jobs in turn on each of three shards; none feels another, before it or beside it.

    The forwarding delay keeps packets of different paths from arriving at the same picosecond,
    where the ranks' numbers would decide which is first.
    """
    topology = TOPOOPT | {"paths": paths, "forwarding_delay": "1ns"}
    result = bridge.run(content(topology, fabric))
    expected = {
        entry["name"]: times(
            bridge.run(
                {
                    "topology": LINKS | topology | {"n": 6},
                    "fabric": fabric,
                    "workload": entry["workload"],
                    "collective": RINGS,
                    **REST,
                }
            )
        )
        for entry in MIX
    }
    assert result.jobs is not None
    assert [job.name.rpartition("_")[0] for job in result.jobs].count("dlrm") == 3
    for job in result.jobs:
        assert times(job) == pytest.approx(expected[job.name.rpartition("_")[0]], abs=0.01)


@pytest.mark.parametrize("latency_us", [10, 100_000])
@pytest.mark.parametrize("look_ahead", [True, False])
@pytest.mark.parametrize("fabric", FABRICS)
def test_provisioning(fabric: str, look_ahead: bool, latency_us: int) -> None:
    """With look-ahead: max(end before, start before + latency) + switch; else end + latency.

    The patch panel takes less than a job, or much longer; all jobs have arrived.
    """
    given = {"latency": f"{latency_us}us", "look_ahead": look_ahead, "switch": "3us"}
    result = bridge.run(content(TOPOOPT | {"provisioning": given}, fabric))
    latency = latency_us * 1000
    assert result.jobs is not None
    for first, second in zip(result.jobs[:3], result.jobs[3:], strict=True):
        if look_ahead:
            assert first.start_ns == latency + 3000
            expected = max(ends(first), first.start_ns + latency) + 3000
        else:
            assert first.start_ns == latency
            expected = ends(first) + latency
        assert second.start_ns == pytest.approx(expected, abs=0.01)


@pytest.mark.parametrize("look_ahead", [True, False])
def test_jobs_with_ranks_of_their_own_are_provisioned(look_ahead: bool) -> None:
    """max(arrival, latency) + switch with look-ahead; else arrival + latency."""
    given = {"latency": "20us", "look_ahead": look_ahead, "switch": "3us"}
    jobs = [MIX[0] | {"name": f"j{at}", "arrival": f"{at}us"} for at in (0, 5, 50)]
    topology = TOPOOPT | {"provisioning": given}
    result = bridge.run(content(topology, "flow", jobs=jobs, mix=None, queueing="none"))
    starts = [23_000, 23_000, 53_000] if look_ahead else [20_000, 25_000, 70_000]
    assert [job.start_ns for job in result.jobs or ()] == starts


@pytest.mark.parametrize("fabric", FABRICS)
def test_jobs_start_once_they_have_arrived_and_the_one_before_is_done(fabric: str) -> None:
    """Of six jobs on three parts, at intervals shorter than a job: max(arrival, end before)."""
    result = bridge.run(content(FAT_TREE, fabric, mix={"count": 6, "interval": "20us"}))
    assert result.jobs is not None
    assert result.schedule is not None
    arrived = [job.arrival_ns for job in result.schedule.jobs]
    assert arrived == sorted(arrived)
    before = [0.0] * 3 + [ends(job) for job in result.jobs[:3]]
    for job, arrival, end in zip(result.jobs, arrived, before, strict=True):
        assert job.start_ns == pytest.approx(max(arrival, end), abs=0.01)
    assert any(end > arrival for arrival, end in zip(arrived, before, strict=True))
    assert [job.ranks for job in result.schedule.jobs[3:]] == [
        job.ranks for job in result.schedule.jobs[:3]
    ]


@pytest.mark.parametrize("fabric", FABRICS)
def test_without_waiting_a_mix_is_a_list_of_jobs(fabric: str) -> None:
    """Jobs of a mix that all have ranks give what the same jobs give one by one."""
    mixed = content(FAT_TREE, fabric, mix={"count": 3, "interval": "20us"}, queueing="none")
    listed = [
        MIX[work.entry] | {"name": work.job.name, "arrival": f"{int(work.job.arrival)}ps"}
        for work in load_scenario(mixed).work
        if work.job is not None
    ]
    single = bridge.run(mixed | {"mix": None, "jobs": listed})
    for queueing in ("none", "in_turn"):
        result = bridge.run(mixed | {"queueing": queueing})
        assert result.jobs == single.jobs
        assert result.iteration_times == single.iteration_times
        assert result.network == single.network


@pytest.mark.parametrize("fabric", FABRICS)
def test_jobs_of_one_part_run_one_after_another(fabric: str) -> None:
    """Language models in turn on the only part: each takes what it takes alone."""
    topology = {"family": "leaf_spine", "servers": 4, "radix": 4}
    jobs = [{"name": "llm", "ranks": 4, "iterations": 2, "workload": LLM}]
    result = bridge.run(content(topology, fabric, 3, jobs=jobs))
    (alone,) = bridge.run(content(topology, fabric, 1, jobs=jobs)).jobs or ()
    assert result.jobs is not None
    assert len(result.jobs) == 3
    for job in result.jobs:
        assert times(job) == pytest.approx(times(alone), rel=1e-4)


def test_the_estimate_of_a_cluster_lets_jobs_take_turns() -> None:
    """On one switch nobody shares a link, so the estimate has the times of the simulation."""
    flat = {"family": "flat", "ranks": 18}
    scenario = load_scenario(content(flat, "flow", mix={"count": 8, "interval": "10us"}))
    found = estimate(scenario, bridge.run)
    result = bridge.run(scenario)
    assert result.schedule is not None
    assert [job.name for job in found.jobs] == [job.name for job in result.schedule.jobs]
    for job, other in zip(found.schedule.jobs, result.schedule.jobs, strict=True):
        assert job.ranks == other.ranks
        assert job.waiting_ns == pytest.approx(other.waiting_ns, abs=1)
        assert job.completion_ns == pytest.approx(other.completion_ns, abs=1)


def test_interference_is_between_jobs_that_run_at_the_same_time() -> None:
    """Jobs that share a fat tree slow each other down; those of one part meet nowhere."""
    scattered = [entry | {"placement": "random"} for entry in MIX]
    scenario = load_scenario(content(FAT_TREE, "flow", jobs=scattered))
    together = bridge.run(scenario)
    found = interference(
        together, [bridge.run(point.scenario) for point in points(scenario, together)]
    )
    assert len(found.jobs) == 6
    assert max(job.slowdown for job in found.jobs) > 1.01
    assert all(job.slowdown > 0.99 for job in found.jobs)
    part = {job.name: frozenset(job.ranks) for job in found.schedule.jobs}
    assert found.pairs
    assert all(part[pair.first] != part[pair.second] for pair in found.pairs)


def test_jobs_on_a_fat_tree_share_it() -> None:
    """Random places cross the core, so that the same jobs take longer than beside no other."""
    scattered = [entry | {"placement": "random"} for entry in MIX]
    busy = bridge.run(content(FAT_TREE, "flow", jobs=scattered))
    quiet = bridge.run(content(FAT_TREE | {"ranks": 6}, "flow", jobs=scattered))
    assert busy.iteration_times is not None
    assert quiet.iteration_times is not None
    assert busy.iteration_times.count == quiet.iteration_times.count == 3 * 3 + 3 * 2
    assert busy.iteration_times.mean_ns > quiet.iteration_times.mean_ns


def test_mean_and_percentiles_are_those_of_all_iterations() -> None:
    result = bridge.run(content(FAT_TREE, "express", mix={"count": 6, "interval": "10us"}))
    every = sorted(time for job in result.jobs or () for time in times(job))
    found = result.iteration_times
    assert found is not None
    assert found.count == len(every) == 15
    assert found.mean_ns == pytest.approx(sum(every) / len(every), abs=1e-3)
    assert found.p50_ns == every[math.ceil(0.5 * 15) - 1]
    assert found.p99_ns == found.max_ns == every[-1]
    text = StringIO()
    print_report(result, Console(file=text, width=80))
    for word in ("iterations of all jobs", "p99", *(job.name for job in result.jobs or ())):
        assert word in text.getvalue()


@pytest.mark.parametrize("topology", [TOPOOPT, FAT_TREE])
@pytest.mark.parametrize("fabric", ["express", "flow", "analytical"])
def test_a_job_that_fails_goes_on_before_the_next_one_on_its_ranks(
    fabric: str, topology: dict[str, Any]
) -> None:
    """Alone on its part, it ends as long after the repair as after its last checkpoint without
    failure, but for windows that open again; then the next one starts. On topoopt, it has the links
    that it had before."""
    mix = [entry | {"recovery": {"interval": 1}} for entry in MIX]
    given = content(topology, fabric, 2, jobs=mix)
    given["topology"] |= {"forwarding_delay": "1ns"} if topology is TOPOOPT else {}
    given["topology"] |= {"n": 6} if topology is TOPOOPT else {"ranks": 6}
    usual = bridge.run(given)
    assert usual.jobs is not None
    first = usual.jobs[0].iterations
    fails = round((first[0].end_ns + first[1].end_ns) / 2)
    repaired = round(first[-1].end_ns) + 1000
    down = {"event": "host_down", "ranks": [3], "at": f"{fails}ns", "until": f"{repaired}ns"}
    result = bridge.run(given | {"events": [down]})
    assert result.jobs is not None
    job, following = result.jobs
    assert [failure.iteration for failure in job.failures or ()] == [1]
    left = first[-1].end_ns - first[0].end_ns
    assert ends(job) == pytest.approx(repaired + left, rel=0.05)
    assert following.start_ns == pytest.approx(ends(job), abs=0.01)
    assert times(following) == pytest.approx(times(usual.jobs[1]), rel=0.01)
