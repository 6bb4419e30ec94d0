"""Transfers and demand, compared with a count of every sample and byte."""

from __future__ import annotations

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from frontend.parallelization import (
    OperatorGraph,
    Placement,
    Strategy,
    bounds,
    data_parallel,
    demand,
    hybrid,
    transfer,
)
from tests.frontend.parallelization.graphs import dense, jobs, placements, small_dlrm


def owner(parts, index):
    """Return the part that contains an index, if `bounds` divides the total."""
    return next(part for part in range(len(parts) - 1) if parts[part] <= index < parts[part + 1])


def counted(operator, batch, source, target, servers):
    """Count the elements that each server needs and does not have, by the server that has them."""
    result = np.zeros((servers, servers), np.int64)
    pieces = len(source.servers)
    sample_cuts = bounds(batch, pieces)
    part_cuts = [
        operator.output_bytes * p // operator.parts for p in bounds(operator.parts, pieces)
    ]
    for sample in range(batch):
        for byte in range(operator.output_bytes):
            at = 0
            if source.kind == "data":
                at = owner(sample_cuts, sample)
            elif source.kind == "attribute":
                at = owner(part_cuts, byte)
            have = source.servers[at]
            if target.kind == "data":
                place = owner(bounds(batch, len(target.servers)), sample)
                needing = [target.servers[place]]
            else:
                needing = target.servers
            for server in needing:
                result[have, server] += server != have
    return result


@settings(max_examples=60, deadline=None)
@given(st.data(), st.integers(1, 9), st.integers(0, 12), st.integers(1, 6))
def test_every_byte_is_sent_once_from_where_it_is(data, batch, output, parts):
    servers = 4
    operator = dense("one", (), 4, 4)._replace(output_bytes=output, parts=parts)
    source, target = data.draw(placements(servers, parts)), data.draw(placements(servers, parts))
    moved = transfer(operator, batch, source, target)
    expected = counted(operator, batch, source, target, servers)
    assert moved.matrix(servers).tolist() == expected.tolist()
    assert moved.reversed.matrix(servers).tolist() == expected.T.tolist()


@settings(max_examples=60, deadline=None)
@given(st.data(), st.integers(1, 10**9), st.integers(1, 10**9))
def test_readers_get_exactly_what_they_need(data, batch, output):
    # With data parallelism, all samples arrive once in total, else once on each server.
    operator = dense("one", (), 4, 4)._replace(output_bytes=output)
    operator = operator._replace(parts=data.draw(st.integers(5, 100)))
    source, target = data.draw(placements(5, 5)), data.draw(placements(5, 5))
    moved = transfer(operator, batch, source, target)
    away = Placement(target.kind, tuple(server + 5 for server in target.servers))
    copies = 1 if target.kind == "data" else len(target.servers)
    assert transfer(operator, batch, source, away).bytes.sum() == batch * output * copies
    assert 0 <= moved.bytes.sum() <= batch * output * copies


def test_a_hybrid_dlrm_by_hand():
    # Two tables on servers 0 and 1, 16 columns of 4 bytes; 8 samples of each of 4 servers, which
    # read all of them: 3 servers · 8 samples · 64 B from each table, and as much back.
    graph = small_dlrm(tables=2, layers=2, batch=32, width=64, columns=16)
    found = demand(graph, hybrid(graph, 4))
    expected = np.zeros((4, 4))
    for table in (0, 1):
        expected[table] += 8 * 64
        expected[:, table] += 8 * 64
    np.fill_diagonal(expected, 0)
    assert found.mp.tolist() == expected.tolist()
    # bottom 64 × 16, top 48 × 64 and 64 × 64, in one all-reduce.
    assert [(g.members, g.bytes) for g in found.groups] == [
        ((0, 1, 2, 3), 4 * (64 * 16 + 48 * 64 + 64 * 64))
    ]


def test_groups_of_equal_members_are_one():
    layer = dense("a", (), 8, 8)
    graph = OperatorGraph(
        "four",
        (layer, *(layer._replace(name=name) for name in "bcd")),
        8,
    )
    placed = (
        Placement("data", (0, 1)),
        Placement("data", (1, 0)),
        Placement("data", (2,)),
        Placement("attribute", (0, 2)),
    )
    found = demand(graph, Strategy(3, placed))
    assert [(g.members, g.bytes) for g in found.groups] == [((0, 1), 2 * 256)]
    assert not found.mp.any()


@settings(max_examples=40, deadline=None)
@given(jobs())
def test_demand_is_symmetric_and_of_data_parallelism_alone_has_no_transfers(job):
    graph, strategy = job
    found = demand(graph, strategy)
    # The gradients go the same way back.
    assert found.mp.tolist() == found.mp.T.tolist()
    everywhere = demand(graph, data_parallel(graph, strategy.servers))
    assert not everywhere.mp.any()
    total = sum(operator.weight_bytes for operator in graph.operators)
    assert sum(group.bytes for group in everywhere.groups) == pytest.approx(total)
