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
    by_columns,
    by_samples,
    data_parallel,
    demand,
    hybrid,
    partial_sums,
    transfer,
)
from tests.frontend.parallelization.graphs import dense, jobs, placements, small_dlrm
from tests.frontend.parallelization.naive_estimate import coordinates


def cuts(total, parts, pieces):
    """Return the bounds of pieces of a total that consists of parts."""
    return [total * cut // parts for cut in bounds(parts, pieces)]


def owners(operator, batch, placement, output):
    """Return {(sample, byte): server} after the exchange of partial sums."""
    columns = cuts(output, operator.parts, placement.columns)
    found = {}
    for one, sample, column, row in coordinates(placement):
        mine = bounds(batch, placement.samples * placement.rows)
        place = sample * placement.rows + row
        for number in range(mine[place], mine[place + 1]):
            for byte in range(columns[column], columns[column + 1]):
                assert (number, byte) not in found
                found[number, byte] = one
    return found


def needed(reader, batch, placement, output, is_aligned):
    """Yield (server, sample, byte) of all elements that servers need."""
    if is_aligned:
        for (sample, byte), one in owners(reader, batch, placement, output).items():
            yield one, sample, byte
        return
    split = bounds(batch, placement.samples)
    by_rows = cuts(output, reader.rows, placement.rows)
    for one, part, _, row in coordinates(placement):
        for sample in range(split[part], split[part + 1]):
            for byte in range(by_rows[row], by_rows[row + 1]):
                yield one, sample, byte


@settings(max_examples=100, deadline=None)
@given(st.data(), st.integers(1, 9), st.integers(0, 12), st.integers(1, 6), st.booleans())
def test_every_byte_is_sent_once_from_where_it_is(data, batch, output, parts, is_aligned):
    servers = 4
    operator = dense("one", (), 4, 4)._replace(output_bytes=output, parts=parts, rows=3)
    reader = dense("two", (0,), 4, 4)._replace(
        parts=data.draw(st.integers(1, 5)),
        rows=data.draw(st.integers(1, 5)),
        aligned=(0,) if is_aligned else (),
    )
    source = data.draw(placements(servers, parts, 3))
    target = data.draw(placements(servers, reader.parts, reader.rows))
    has = owners(operator, batch, source, output)
    assert len(has) == batch * output
    expected = np.zeros((servers, servers), np.int64)
    for one, sample, byte in needed(reader, batch, target, output, is_aligned):
        expected[has[sample, byte], one] += has[sample, byte] != one
    moved = transfer(operator, batch, source, target, reader)
    assert moved.matrix(servers).tolist() == expected.tolist()
    assert moved.reversed.matrix(servers).tolist() == expected.T.tolist()


@settings(max_examples=60, deadline=None)
@given(st.data(), st.integers(1, 9), st.integers(0, 12), st.integers(1, 6), st.integers(1, 6))
def test_partial_sums_meet_where_the_sum_is(data, batch, output, parts, rows):
    """Each server sends what it computed for samples that another of its group sums."""
    servers = 4
    operator = dense("one", (), 4, 4)._replace(output_bytes=output, parts=parts, rows=rows)
    placed = data.draw(placements(servers, parts, rows))
    has = owners(operator, batch, placed, output)
    expected = np.zeros((servers, servers), np.int64)
    columns, split = cuts(output, parts, placed.columns), bounds(batch, placed.samples)
    for one, part, column, _ in coordinates(placed):
        for sample in range(split[part], split[part + 1]):
            for byte in range(columns[column], columns[column + 1]):
                expected[one, has[sample, byte]] += has[sample, byte] != one
    assert partial_sums(operator, batch, placed).matrix(servers).tolist() == expected.tolist()
    # Every element is the sum of as many parts as there are rows: all but one have to move.
    assert expected.sum() == batch * output * (placed.rows - 1)


def test_columns_then_rows_need_no_transfer():
    """Tensor parallelism: the second layer's rows are the first layer's columns."""
    up, down = dense("up", (), 8, 32), dense("down", (0,), 32, 8)._replace(rows=32)
    servers = (0, 1, 2, 3)
    first, second = Placement(servers, columns=2), Placement(servers, rows=2)
    assert not transfer(up, 8, first, second, down).matrix(4).any()
    assert transfer(up, 8, first, first, down).matrix(4).any()


@settings(max_examples=60, deadline=None)
@given(st.data(), st.integers(1, 10**9), st.integers(1, 10**9))
def test_readers_get_exactly_what_they_need(data, batch, output):
    # All samples arrive once on the servers of each part of the columns.
    operator = dense("one", (), 4, 4)._replace(output_bytes=output)
    operator = operator._replace(parts=data.draw(st.integers(5, 100)))
    source, target = data.draw(placements(5, 5)), data.draw(placements(5, 5))
    moved = transfer(operator, batch, source, target)
    away = target._replace(servers=tuple(server + 5 for server in target.servers))
    copies = target.columns
    assert transfer(operator, batch, source, away).matrix(10).sum() == batch * output * copies
    assert 0 <= moved.matrix(5).sum() <= batch * output * copies


def test_a_hybrid_dlrm_by_hand():
    # Two tables on servers 0 and 2, 16 columns of 4 bytes; 8 samples of each of 4 servers, which
    # read all of them: 3 servers · 8 samples · 64 B from each table, and as much back.
    graph = small_dlrm(tables=2, layers=2, batch=32, width=64, columns=16)
    found = demand(graph, hybrid(graph, 4))
    expected = np.zeros((4, 4))
    for table in (0, 2):
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
        by_samples((0, 1)),
        by_samples((1, 0)),
        by_samples((2,)),
        by_columns((0, 2)),
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
