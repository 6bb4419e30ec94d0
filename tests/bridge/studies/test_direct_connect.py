"""The study direct-connect: its models against closed forms and other ways to compute them."""

from __future__ import annotations

from types import SimpleNamespace
from typing import Any

import pytest

from bridge.studies.direct_connect import clusters, large, pareto
from bridge.studies.direct_connect.data_parallel import busy_ns
from bridge.studies.direct_connect.timeline import breakdown
from frontend.workloads.plan import Plan
from topology_gen import specs

M = 2**20


def test_keys_of_every_family_give_its_digraph() -> None:
    for family in specs.FAMILIES:
        spec = specs.example(family)
        keys = clusters.keys_of(spec)
        assert keys["family"] == family
        assert set(keys) - {"family"} == set(specs.read(spec)[1])


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


def test_strides_that_the_paper_implies() -> None:
    """1024 nodes: 26 times the all-to-all of the generalized Kautz graph; TopoOpt's strides 3.3."""
    ours = pareto.choice("generalized_kautz:d=4,n=1024").rate.least
    far = pareto.choice(large.far_shifted_ring(1024)).rate.least
    near = pareto.choice("circulant:n=1024,offsets=1+31").rate.least
    assert large.far_shifted_ring(1024) == "circulant:n=1024,offsets=1+511"
    assert ours / far == pytest.approx(26, rel=0.02)
    assert ours / near == pytest.approx(3.3, rel=0.02)


def test_the_published_all_to_all_below_the_bound_of_its_graph() -> None:
    """404.8 µs by distances alone; the published 403.5 µs cannot be."""
    row = next(row for row in pareto.TABLE_4 if row.name.startswith("L³"))
    assert row.spec is not None
    statement = pareto.row_statements(row)[1]
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
    options: Any = None
    first = plan.compute("a", "layer", 0, 3_000_000_000)
    reduced = plan.collective("r", "layer", 0, "all_reduce", "bfb", options, 100, [first])
    moved = plan.collective("m", "layer", 0, "all_to_all", "direct", options, 9, [first, reduced])
    plan.compute("b", "layer", 0, 2_000_000_000, [moved])
    times = {("all_reduce", 100): 7000.0, ("all_to_all", 9): 5000.0}
    found = breakdown(plan, lambda collective, size: times[collective, size])
    assert (found.iteration, found.compute, found.all_to_all) == (17, 5, 5)
    assert found.all_reduce == 7
    assert found.all_to_all_share == pytest.approx(5 / 17)
