"""Training over the fabrics: closed forms, bytes, and strategies that must not deadlock."""

from __future__ import annotations

import itertools

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

import bridge
from frontend import load_scenario
from frontend.models import operator_graph
from frontend.parallelization import data_parallel, to_json
from frontend.schema.training import TrainingWorkload
from frontend.workloads import training
from tests.frontend.parallelization.graphs import placements

RATE_BPS, LATENCY_S = 100e9, 1e-6
LINKS = {"bandwidth": "100Gbps", "latency": "1us", "buffer": "unlimited"}
OVERHEAD = (9000 + 2) / (9000 - 40)
WIDE = {"name": "candle", "features": [512], "feature_layers": 3, "feature_width": 512}
WIDE |= {"dense_layers": 1, "dense_width": 2048}


def workload(loaded):
    assert isinstance(loaded.workload, TrainingWorkload)
    return loaded.workload


def scenario(topology, fabric, **workload):
    work = {"kind": "training", "model": WIDE, "batch_per_gpu": 1000} | workload
    return {
        "topology": LINKS | topology,
        "fabric": fabric,
        "workload": work,
        "system": {"injection_latency": "0ns"},
        "links": {"mtu": "9000B"},
        "transport": {"window": "4MB"},
    }


def compute_ns(gpus, batch):
    """Forward and backward of WIDE's layers on A100s: 156 TFLOPS, 1555 GB/s, NVLink 300 GB/s."""
    total = 0.0
    widths = [512, 512, 512, 512, 2048, 1]
    for layer, (inputs, outputs) in enumerate(itertools.pairwise(widths)):
        weights = 4 * outputs * (inputs + 1)
        flop, moved = 2 * batch * inputs * outputs, 4 * batch * (inputs + outputs)
        passes = 1 if layer == 0 else 2
        total += max(flop / 156e3, (moved + weights) / 1555)
        total += max(passes * flop / 156e3, (passes * moved + 2 * weights) / 1555)
        total += 2 * (gpus - 1) / gpus * weights / 300
    return total


def weights_bytes():
    widths = [512, 512, 512, 512, 2048, 1]
    return sum(4 * o * (i + 1) for i, o in itertools.pairwise(widths))


@pytest.mark.parametrize("fabric", ["analytical", "flow", "express"])
@pytest.mark.parametrize(("gpus", "iterations"), [(1, 1), (4, 2)])
def test_data_parallel_is_compute_and_then_the_all_reduce(fabric, gpus, iterations):
    """With one bucket nothing overlaps: T = compute + 2(k-1)(latency + W/(2k)/B), both ways round.

    Eight servers with two interfaces are a duplex ring, each direction of which takes W/2.
    """
    ring = {"family": "topoopt", "d": 2, "n": 8, "demand": "workload"}
    given = scenario(ring, fabric, gpus=gpus, iterations=iterations, bucket="1GB")
    result = bridge.run(given)
    part = weights_bytes() / 2 / 8
    rounds = 2 * 7 * (LATENCY_S + part * 8 * OVERHEAD / RATE_BPS)
    computing = compute_ns(gpus, 1000)
    for iteration in result.iterations:
        # a rank begins the next iteration a few nanoseconds before the last one ends this one
        assert iteration.compute_ns == pytest.approx(computing, rel=1e-3)
        assert iteration.time_ns == pytest.approx(computing + rounds * 1e9, rel=0.01)
        assert iteration.exposed_comm_ns == pytest.approx(rounds * 1e9, rel=0.01)
    computed = sum(iteration.compute_ns for iteration in result.iterations)
    assert computed == pytest.approx(iterations * computing, rel=1e-6)
    assert result.network.payload_bytes == iterations * 2 * 7 * weights_bytes()


def test_all_reduces_hide_behind_the_backward_pass():
    """A large batch computes longer than the gradients of all layers but the first take."""
    flat = {"family": "flat", "ranks": 4}
    result = bridge.run(scenario(flat, "flow", batch_per_gpu=200_000))
    (iteration,) = result.iterations
    first = next(c for c in result.collectives if c.name == "feature_0.all_reduce")
    last = max(c.end_ns for c in result.collectives)
    assert first.end_ns == last == iteration.end_ns
    assert iteration.exposed_comm_ns == pytest.approx(first.time_ns, rel=1e-6)


SMALL = {"name": "dlrm", "dense_features": 16, "dense_layers": 1, "dense_width": 16}
SMALL |= {"feature_layers": 2, "feature_width": 32, "tables": 3, "rows": 100, "dimension": 8}
SERVERS = 6


@st.composite
def strategies(draw):
    given = scenario({"family": "flat", "ranks": SERVERS}, "flow", model=SMALL, batch_per_gpu=3)
    graph = operator_graph(workload(load_scenario(given)), SERVERS)
    strategy = data_parallel(graph, SERVERS)
    for index, operator in enumerate(graph.operators):
        if draw(st.booleans()):
            strategy = strategy.replaced(index, draw(placements(SERVERS, operator.parts)))
    return to_json(strategy, graph)


@settings(max_examples=30, deadline=None)
@given(strategies(), st.sampled_from(["analytical", "flow", "express"]))
def test_every_strategy_runs_and_its_bytes_arrive(strategy, fabric):
    """Delivered: the model-parallel bytes, and 2(k-1)·W for each all-reduce of k servers."""
    topology = {"family": "topoopt", "d": 4, "n": SERVERS, "demand": "workload"}
    work = {"model": SMALL, "batch_per_gpu": 3, "strategy": strategy, "iterations": 2}
    given = load_scenario(scenario(topology, fabric, **work))
    result = bridge.run(given)
    assert result.status == "complete"
    demand = training.transfers(workload(given), SERVERS)
    once = demand.mp.sum() + sum(group.traffic for group in demand.groups)
    assert result.network.payload_bytes == 2 * once
    assert result.iterations[1].time_ns > 0


def test_native_and_express_agree_to_the_picosecond():
    topology = {"family": "topoopt", "d": 4, "n": 8, "demand": "workload"}
    times = [
        bridge.run(scenario(topology, fabric, model=SMALL, batch_per_gpu=8)).iterations
        for fabric in ("native", "express")
    ]
    assert times[0] == times[1]
