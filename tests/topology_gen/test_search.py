"""Groups, the search for Cayley digraphs, and the stored results."""

import random
from dataclasses import replace
from fractions import Fraction

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from topology_gen import graphs
from topology_gen.errors import ParameterError
from topology_gen.graphs.digraph import from_edges
from topology_gen.schedules import bfb
from topology_gen.search import anneal, store
from topology_gen.search.anneal import DuplexLifts
from topology_gen.search.groups import generated, named_groups, random_generators
from topology_gen.search.store import Found


@pytest.mark.parametrize("order", [6, 12, 20, 24, 32, 48, 56, 60])
def test_named_groups(order):
    """Each is a group of its order: a Latin square, associative, with inverses."""
    source = random.Random(order)
    names = []
    for name, generators in named_groups(order):
        names.append(name)
        group = generated(name, generators, order)
        assert group is not None, name
        table = group.products
        every = np.arange(order)
        assert (np.sort(table, axis=0) == every[:, None]).all()
        assert (np.sort(table, axis=1) == every).all()
        assert (table[0] == every).all()
        assert (table[:, 0] == every).all()
        # products[g][x] is x·g.
        for _ in range(20):
            x, g, h = (source.randrange(order) for _ in range(3))
            assert table[h][table[g][x]] == table[table[h][g]][x]
            assert group.elements[table[g][x]] == tuple(
                group.elements[g][image] for image in group.elements[x]
            )
    assert len(set(names)) == len(names)
    assert len(names) >= 5


def test_known_groups():
    """SL(2,5) and PSL(2,5) have 120 and 60 elements, and the affine group over 8 has 56."""
    assert "SL(2,5)" in dict(named_groups(120))
    assert "PSL(2,5)" in dict(named_groups(60))
    assert "AGL(1,8)/1" in dict(named_groups(56))
    # PSL(2,5) is simple: no element but the identity commutes with all.
    group = generated("PSL(2,5)", dict(named_groups(60))["PSL(2,5)"], 60)
    assert group is not None
    central = (group.products == group.products.T).all(axis=1)
    assert central.sum() == 1


@pytest.mark.parametrize("order", [8, 12, 32, 54])
def test_random_groups(order):
    source = random.Random(1)
    groups = (generated("", random_generators(order, source), order) for _ in range(300))
    assert sum(group is not None for group in groups) > 3


def test_generated_refuses_another_order():
    cycle = (1, 2, 3, 0)
    assert generated("Z4", [cycle], 4) is not None
    assert generated("Z4", [cycle], 3) is None
    assert generated("Z4", [cycle], 8) is None


@pytest.mark.parametrize(("nodes", "degree", "orbits"), [(8, 2, 1), (12, 3, 2), (10, 4, 5)])
def test_search(nodes, degree, orbits):
    """What is found costs what is said of it, and nothing found before was better."""
    front: list[Found] = []
    for found in anneal.search(nodes, degree, orbits, 0.3, seed=1):
        assert not any(found.beaten_by(other) for other in front)
        front.append(found)
        graph = graphs.lift(found.arcs)
        assert (graph.nodes, graph.degree, graph.orbits) == (nodes, degree, orbits)
        check(found, graph)
    assert front


@pytest.mark.parametrize(
    ("nodes", "degree", "orbits"),
    [(8, 3, 1), (12, 4, 1), (12, 4, 2), (18, 5, 2), (15, 4, 3), (16, 3, 4), (20, 6, 4)],
)
def test_search_duplex(nodes, degree, orbits):
    """Every link of what is found has an opposite link."""
    front: list[Found] = []
    for found in anneal.search(nodes, degree, orbits, 0.4, seed=1, duplex=True):
        front.append(found)
        graph = graphs.lift(found.arcs)
        assert (graph.nodes, graph.degree, graph.orbits) == (nodes, degree, orbits)
        assert graph.bidirectional
        check(found, graph)
    assert front


def test_no_duplex_digraph():
    """A group of odd order has no involution, which an odd degree needs."""
    assert not list(anneal.search(9, 3, 1, 0.1, seed=1, duplex=True))


@settings(max_examples=30, deadline=None)
@given(st.integers(1, 4), st.integers(2, 5), st.randoms(use_true_random=False))
def test_changes_stay_duplex(orbits, degree, source):
    group = generated("D4", [(1, 2, 3, 0), (0, 3, 2, 1)], 8)
    assert group is not None
    lifts = DuplexLifts(group, degree, orbits)
    state = lifts.draw(source)
    for _ in range(20):
        rows = lifts.rows(state)
        assert len(rows) == degree
        arcs = [
            [(to, group.elements[by]) for to, by in zip(row.orbit, row.element, strict=True)]
            for row in rows
        ]
        # The group that the arcs generate can be smaller, but it has opposite arcs all the same.
        assert graphs.lift(arcs).bidirectional
        state = lifts.changed(state, source)


def test_search_finds_the_complete_graph():
    """The only digraph of 5 nodes and degree 4 with one step; T_B is 4/5."""
    keys = [found.key for found in anneal.search(5, 4, 1, 0.5, seed=3)]
    assert keys[-1] == (1, Fraction(8, 5), Fraction(4))


RECORDS = [record for records in store.packaged().values() for record in records]


def test_stored():
    """Every stored digraph has the size, steps, T_B and distances that are stored with it."""
    assert {32, 64, 128, 1024} <= {record.nodes for record in RECORDS if record.degree == 4}
    for record in RECORDS:
        graph = graphs.lift(record.found.arcs)
        assert (graph.nodes, graph.degree, graph.orbits) == (
            record.nodes,
            record.degree,
            record.orbits,
        )
        assert graph.bidirectional == record.duplex
        check(record.found, graph)


def test_duplex_records():
    """There are duplex digraphs for all sizes, and the commands that found them are known."""
    for degree in (4, 6, 8):
        for nodes in (32, 64, 128, 256, 512, 1024, 2048):
            records = [r for r in store.packaged()[nodes, degree] if r.duplex]
            assert records
            for record in records:
                assert record.command.startswith(
                    f"cosim topo find --n {nodes} --degree {degree} --duplex --cayley "
                )
                assert "--seed" in record.command


def check(found, graph):
    """Compare with BFB at all nodes, whatever is known of symmetries."""
    plain = from_edges(graph.edges())
    forward, back, distance = bfb.costs(plain)
    assert (forward, back) == bfb.costs(graph)[:2]
    assert found.steps == forward.steps == back.steps
    assert found.bandwidth_time == forward.bandwidth_time
    assert found.bandwidth_time_back == back.bandwidth_time
    assert found.distance == distance


def test_file(tmp_path):
    """What is written is read again; of two the better is kept; broken files are empty ones."""
    file = tmp_path / "found.json"
    file.write_text(store.text(RECORDS))
    assert sorted(store.read(file), key=lambda r: r.spec) == sorted(RECORDS, key=lambda r: r.spec)
    assert len(store.merged(RECORDS, RECORDS)) == len(RECORDS)
    assert store.merged([], RECORDS[:1]) == RECORDS[:1]
    # A one-way digraph may be better, but does not replace a duplex one.
    duplex = next(record for record in RECORDS if (record.nodes, record.duplex) == (1024, True))
    better = replace(duplex, duplex=False, found=replace(duplex.found, steps=1))
    assert store.merged([duplex], [better]) == [duplex, better]
    assert store.merged([replace(duplex, duplex=False)], [duplex]) == [duplex]
    for broken in ("", "{}", "[1]", '{"format": 0, "found": []}', '{"format": 1, "found": [{}]}'):
        file.write_text(broken)
        assert store.read(file) == []
    assert store.read(tmp_path / "missing.json") == []


def test_refused():
    with pytest.raises(ParameterError, match="7 nodes of degree 9: expected one of"):
        store.found(7, 9)
    with pytest.raises(ParameterError, match="index 99: expected 0"):
        store.found(32, 4, 99)
    with pytest.raises(ParameterError, match="arcs to 0, 0: expected one to each of 0 … 1"):
        graphs.lift([[(0, (0, 1)), (0, (1, 0))]])
    with pytest.raises(ParameterError, match=r"generator 0\.0: expected a permutation of 0 … 1"):
        graphs.lift([[(0, (0, 0))]])
    with pytest.raises(ParameterError, match="no generators"):
        graphs.lift([])
