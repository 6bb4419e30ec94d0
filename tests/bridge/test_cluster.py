"""Shared clusters over the fabrics: isolation on shards, provisioning and summary."""

from __future__ import annotations

import math
from io import StringIO

import pytest
from rich.console import Console

import bridge
from bridge.present.report import print_report

LINKS = {"bandwidth": "100Gbps", "latency": "1us", "buffer": "unlimited"}
DLRM = {"name": "dlrm", "dense_features": 16, "dense_layers": 1, "dense_width": 64, "tables": 4}
DLRM |= {"feature_layers": 2, "feature_width": 128, "rows": 1000, "dimension": 16}
CANDLE = {"name": "candle", "features": [64], "feature_layers": 2, "feature_width": 128}
CANDLE |= {"dense_layers": 1, "dense_width": 128}
MIX = [
    {"name": "dlrm", "iterations": 3, "batch_per_gpu": 8, "model": DLRM},
    {"name": "candle", "iterations": 2, "batch_per_gpu": 4, "model": CANDLE},
]
TOPOOPT = {"family": "topoopt", "d": 4, "n": 18, "demand": "workload"}
FAT_TREE = {"family": "fat_tree", "ranks": 18, "oversubscription": 2}
SYSTEM = {"injection_latency": "0ns"}


def run(topology, fabric, **changes):
    work = {
        "kind": "cluster",
        "servers": 6,
        "active": 3,
        "jobs": 6,
        "mix": MIX,
        "draw": 2,
    } | changes
    given = {"topology": LINKS | topology, "fabric": fabric, "workload": work, "system": SYSTEM}
    return bridge.run(given | {"links": {"mtu": "9000B"}})


def alone(kind, fabric, topology):
    """The iterations of a job that has a TopoOpt cluster of its own."""
    work = {key: value for key, value in kind.items() if key != "name"}
    given = {
        "topology": LINKS | topology | {"n": 6},
        "fabric": fabric,
        "workload": work | {"kind": "training"},
    }
    result = bridge.run(given | {"links": {"mtu": "9000B"}, "system": SYSTEM})
    return [iteration.time_ns for iteration in result.iterations]


def times(job):
    return [iteration.time_ns for iteration in job.iterations]


@pytest.mark.parametrize("paths", [1, 2, 3])
@pytest.mark.parametrize("fabric", ["analytical", "flow", "express"])
def test_a_shard_is_as_fast_as_a_cluster_of_its_own(fabric, paths):
    """Two jobs in turn on each of three shards; none feels another, before it or beside it.

    The forwarding delay keeps packets of different paths from arriving at the same picosecond,
    where the ranks' numbers would decide which is first.
    """
    topology = TOPOOPT | {"paths": paths, "forwarding_delay": "1ns"}
    result = run(topology, fabric)
    expected = {kind["name"]: alone(kind, fabric, topology) for kind in MIX}
    assert [job.name.rpartition("_")[0] for job in result.jobs].count("dlrm") == 3
    for job in result.jobs:
        assert times(job) == pytest.approx(expected[job.name.rpartition("_")[0]], abs=0.01)


def test_jobs_on_a_fat_tree_share_it():
    """Random places cross the core, so that the same jobs take longer than beside no other."""
    busy = run(FAT_TREE, "flow", placement="random")
    quiet = run(FAT_TREE, "flow", placement="random", active=1, jobs=6)
    assert busy.iteration_times is not None
    assert quiet.iteration_times is not None
    assert busy.iteration_times.count == quiet.iteration_times.count == 3 * 3 + 3 * 2
    assert busy.iteration_times.mean_ns > quiet.iteration_times.mean_ns


def test_mean_and_percentiles_are_those_of_all_iterations():
    result = run(FAT_TREE, "express", interval="10us")
    every = sorted(time for job in result.jobs for time in times(job))
    found = result.iteration_times
    assert found is not None
    assert found.count == len(every) == 15
    assert found.mean_ns == pytest.approx(sum(every) / len(every), abs=1e-3)
    assert found.p50_ns == every[math.ceil(0.5 * 15) - 1]
    assert found.p99_ns == found.max_ns == every[-1]
    text = StringIO()
    print_report(result, Console(file=text, width=80))
    for word in ("iterations of all jobs", "p99", *(job.name for job in result.jobs)):
        assert word in text.getvalue()


def ends(job):
    return job.iterations[-1].end_ns


@pytest.mark.parametrize("latency_us", [10, 100_000])
@pytest.mark.parametrize("look_ahead", [True, False])
def test_provisioning(look_ahead, latency_us):
    """With look-ahead: max(end before, start before + latency) + switch; else end + latency.

    The patch panel takes less than a job, or much longer; all jobs have arrived.
    """
    given = {"latency": f"{latency_us}us", "look_ahead": look_ahead, "switch": "3us"}
    result = run(TOPOOPT, "flow", provisioning=given)
    latency = latency_us * 1000
    for first, second in zip(result.jobs[:3], result.jobs[3:], strict=True):
        if look_ahead:
            assert first.start_ns == latency + 3000
            expected = max(ends(first), first.start_ns + latency) + 3000
        else:
            assert first.start_ns == latency
            expected = ends(first) + latency
        assert second.start_ns == pytest.approx(expected, abs=0.01)


def test_jobs_start_when_they_arrive():
    result = run(FAT_TREE, "flow", interval="1s", jobs=3)
    starts = [job.start_ns for job in result.jobs]
    assert starts[0] == 0
    assert 0 < starts[1] < starts[2]
    assert result.time_ns >= starts[2]
