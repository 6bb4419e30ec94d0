"""The study direct-connect: its models against closed forms and other ways to compute them."""

from __future__ import annotations

from math import gcd
from types import SimpleNamespace
from typing import Any

import pytest

from bridge.studies.direct_connect import clusters, generation, large, optimality, pareto
from bridge.studies.direct_connect.data_parallel import busy_ns
from bridge.studies.direct_connect.experts import breakdown
from bridge.studies.direct_connect.large import cut_bound
from bridge.studies.framework.figure import Statement
from frontend.collectives.choices import CollectiveAlgorithms
from frontend.workloads.plan import Plan
from topology_gen import specs
from topology_gen.schedules import bfb
from topology_gen.schedules.throughput import exact_throughput

M = 2**20


def test_cost_of_an_all_reduce() -> None:
    """C(12,{2,3}) has 2 steps a half, ShiftedRing 11, the torus 3×3 by rings 4; T_B is (N-1)/N."""
    for spec, algorithm, steps, nodes in (
        ("circulant:n=12,offsets=2+3", "bfb", 4, 12),
        ("shifted_ring:n=12", "superposed_rings", 22, 12),
        ("torus:dims=3x3", "torus_rings", 8, 9),
    ):
        cost = clusters.all_reduce_cost(spec, algorithm)
        assert cost.steps == steps
        assert cost.bandwidth_time == pytest.approx(2 * (nodes - 1) / nodes)
        # M/B is 83.9 µs.
        expected = 10 * steps + cost.bandwidth_time * M * 8e6 / 100e9
        assert cost.time_us(M) == pytest.approx(expected)


def test_trees_take_the_best_number_of_segments() -> None:
    for nodes in (12, 256, 1024):
        hops = 2 * (nodes.bit_length() - 1)
        link_us = M / 2 * 8e6 / 25e9
        by_trial = min(
            (hops + segments - 1) * (10 + link_us / segments) for segments in range(1, 500)
        )
        assert large.tree_all_reduce_us(nodes, M) == pytest.approx(by_trial, rel=1e-3)


@pytest.mark.parametrize("nodes", range(6, 17))
def test_cuts_bound_the_all_to_all_of_trees(nodes: int) -> None:
    """No flow exceeds the bound; the best one comes within 7 %, and mostly attains it."""
    graph = specs.parse(f"double_binary_tree:n={nodes}")
    exact = exact_throughput(graph)
    bound = float(cut_bound(graph))
    assert bound >= exact.least * (1 - 1e-9)
    assert bound <= exact.greatest * 1.07
    if nodes not in (12, 14):
        assert bound == pytest.approx(exact.least)


@pytest.mark.parametrize("spec", ["ring:n=9", "torus:dims=3x4", "hypercube:n=16", "circulant:n=13"])
def test_cuts_bound_the_all_to_all_of_other_graphs(spec: str) -> None:
    graph = specs.parse(spec)
    assert float(cut_bound(graph)) >= exact_throughput(graph).least * (1 - 1e-9)


def test_cut_through_both_trees() -> None:
    """1024 nodes: 4 links of 25 Gb/s connect the halves: 512·512·1 KiB / 100 Gb/s = 21.5 ms."""
    assert large.tree_all_to_all_us(1024, M) == pytest.approx(512 * 512 * 1024 * 8e6 / 100e9)


def test_strides_that_the_paper_implies() -> None:
    """1024 nodes: 26 times the all-to-all of the generalized Kautz graph; TopoOpt's strides 3.3."""
    ours = pareto.choice("generalized_kautz:d=4,n=1024").rate.least
    far = pareto.choice(large.fitted_shifted_ring(1024)).rate.least
    near = pareto.choice(large.shifted_ring(1024)).rate.least
    assert large.fitted_shifted_ring(1024) == "circulant:n=1024,offsets=1+511"
    assert specs.parse(large.shifted_ring(1024)).name == "ShiftedRing(1024,{1,31})"
    assert far == pytest.approx(2 / 65537)
    assert near == pytest.approx(1 / 4168)
    assert ours / far == pytest.approx(26, rel=0.02)
    assert ours / near == pytest.approx(3.3, rel=0.02)


def test_steps_and_bandwidth_times_follow_from_the_published_times() -> None:
    """Table 4: 2·(α·steps + T_B) is the published time of an all-reduce, to its rounding."""
    for row in pareto.ROWS:
        cost = clusters.Cost(2 * row.steps, 2 * float(row.bandwidth_time))
        assert cost.time_us(M) == pytest.approx(row.all_reduce_us, abs=0.051)


def test_line_graphs_of_other_circulant_graphs_take_no_less() -> None:
    """What the page says beside the published 403.5 µs: at least 417.1 or 425.6 µs."""
    for offsets, expected in (("1+4", 417.1), ("1+6", 425.6)):
        rate = pareto.choice(f"line:of=[circulant:n=16,offsets={offsets}],k=3").rate
        least_us = M * 8e6 / 25e9 / (1024 * rate.greatest)
        assert least_us == pytest.approx(expected, abs=0.05)


def test_statements_about_generation_have_no_measured_seconds() -> None:
    """Two runs differ in CPU times, and give the same findings."""
    first, second = (list(generation.evaluate({}, "small")) for _ in range(2))
    assert first == second
    held = [one.holds for one in first if isinstance(one, Statement)]
    assert held == [True, True, None, True, None]


def test_least_steps_of_circulant_graphs() -> None:
    """No circulant graph of degree 4 beats Theorem 22; every pair of offsets is tried."""
    for nodes in range(5, 26):
        steps = [
            bfb.all_gather_performance(specs.parse(f"circulant:n={nodes},offsets={a}+{b}")).steps
            for a in range(1, (nodes + 1) // 2)
            for b in range(a + 1, (nodes + 1) // 2)
            if gcd(nodes, a, b) == 1
        ]
        assert min(steps) == optimality.circulant_steps(nodes)


def test_the_published_all_to_all_below_the_bound_of_its_graph() -> None:
    """404.8 µs by distances alone; the published 403.5 µs cannot be."""
    row = next(row for row in pareto.ROWS if row.name.startswith("L³"))
    assert row.spec is not None
    _, statement = pareto.row_statements(row)
    assert "distance bound 404.8 µs" in statement.evidence
    assert "below what any flow on this graph can reach" in statement.why


def test_overlapping_collectives_count_once() -> None:
    def one(start: float, time: float) -> Any:
        return SimpleNamespace(start_ns=start, time_ns=time)

    assert busy_ns([one(5, 10), one(0, 3), one(8, 2), one(14, 6)]) == 3 + 15


def test_timeline_overlaps_all_reduces_with_computation() -> None:
    """compute 3, all-to-all 5, compute 2, beside it an all-reduce of 7 after the first compute.

    The all-to-all waits for the all-reduce, as one stream carries both: 3 + 7 + 5 + 2 = 17.
    """
    plan = Plan(layers=("layer",))
    options = CollectiveAlgorithms(all_reduce="bfb")
    first = plan.compute("a", "layer", 0, 3_000_000_000)
    reduced = plan.collective("r", "layer", 0, "all_reduce", options, 100, [first])
    moved = plan.collective("m", "layer", 0, "all_to_all", options, 9, [first, reduced])
    plan.compute("b", "layer", 0, 2_000_000_000, [moved])
    times = {("all_reduce", 100): 7000.0, ("all_to_all", 9): 5000.0}
    found = breakdown(plan, lambda collective, size: times[collective, size])
    assert (found.iteration, found.compute, found.all_to_all) == (17, 5, 5)
    assert found.all_reduce == 7
    assert found.all_to_all_share == pytest.approx(5 / 17)
