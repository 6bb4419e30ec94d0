"""The kernels that say what servers exchange, and what links carry of it."""

from __future__ import annotations

from itertools import product

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from topology_gen.arrays import ids
from topology_gen.kernels import add_loads, participants

SERVERS, LINKS = 5, 7
FIRST = 2  # server to which the first paths lead
RATES = np.array([1.0, 2.0, 4.0, 0.5, 8.0, 0.25, 1.0])


def arrays(boxes):
    """Return the columns of boxes."""
    return tuple(np.array(column, np.int64) for column in zip(*boxes, strict=True))


def boxes(servers):
    """Draw a box for some of the servers: samples and bytes from … to."""
    ranges = st.tuples(st.integers(0, 6), st.integers(0, 6)).map(sorted)

    def made(chosen):
        each = [st.tuples(st.just(one), ranges, ranges) for one in chosen]
        return st.tuples(*each).map(lambda all_: [(one, *a, *b) for one, a, b in all_])

    return st.lists(st.sampled_from(servers), min_size=1, unique=True).flatmap(made)


def exchanged(has, needs):
    """Yield source, target and bytes: the pairs of a sample and a byte that both have."""
    for (source, *mine), (target, *theirs) in product(has, needs):
        both = [set(product(range(a, b), range(low, high))) for a, b, low, high in (mine, theirs)]
        if source != target and both[0] & both[1]:
            yield source, target, len(both[0] & both[1])


@given(boxes(range(SERVERS)), boxes(range(SERVERS)))
def test_those_take_part_that_have_bytes_in_common(has, needs):
    messages, sends, receives = participants(arrays(has), arrays(needs))
    moved = list(exchanged(has, needs))
    assert messages == len(moved)
    assert {one[0] for one, flag in zip(has, sends, strict=True) if flag} == {a for a, *_ in moved}
    assert {one[0] for one, flag in zip(needs, receives, strict=True) if flag} == {
        b for _, b, _ in moved
    }


@st.composite
def networks(draw):
    """Draw the paths from all servers to those from FIRST on, and their latencies."""
    path = st.lists(st.integers(0, LINKS - 1), max_size=4)
    count = SERVERS * (SERVERS - FIRST)
    paths = draw(st.lists(path, min_size=count, max_size=count))
    return paths, draw(st.lists(st.integers(0, 9), min_size=count, max_size=count))


@given(
    boxes(range(SERVERS)),
    boxes(range(FIRST, SERVERS)),
    networks(),
    st.integers(1, 3).flatmap(
        lambda routes: st.tuples(st.integers(0, routes - 1), st.just(routes))
    ),
    st.integers(1, 40),
)
def test_every_link_carries_the_packets_of_its_paths(has, needs, network, share, segment):
    (paths, propagation), (route, routes), header = network, share, 3
    full = [sum((segment + header) / RATES[link] for link in path[1:]) for path in paths]
    wanted, latest = np.ones(LINKS), 0.0
    for source, target, whole in exchanged(has, needs):
        size = whole * (route + 1) // routes - whole * route // routes
        if size == 0:
            continue
        index = (target - FIRST) * SERVERS + source
        for link in paths[index]:
            wanted[link] += size + -(-size // segment) * header
        packet = min(size, segment) + header
        stored = sum(packet / RATES[link] for link in paths[index][1:])
        latest = max(latest, propagation[index] + stored)
    loads = np.ones(LINKS)
    reached = add_loads(
        arrays(has),
        arrays(needs),
        (
            ids(np.cumsum([0, *map(len, paths)])),
            ids([link for path in paths for link in path]),
            np.array(propagation, float),
            np.array(full, float),
        ),
        (SERVERS, FIRST),
        (segment, header, route, routes),
        RATES,
        loads,
    )
    assert loads.tolist() == wanted.tolist()
    assert reached == pytest.approx(latest)


@pytest.mark.parametrize(
    ("begin", "links", "place", "routes", "sentence"),
    [
        ([0, 1], [0], (1, 1), 1, "path 1 does not exist"),
        ([0, 2], [0], (1, 2), 1, "path 0 does not exist"),
        ([0, 1], [LINKS], (1, 2), 1, "link 7 does not exist"),
        ([0], [0], (1, 2), 1, "expected links and times for every path"),
        ([0, 1], [0], (1, 2), 0, "expected links and times for every path"),
    ],
)
def test_refusals(begin, links, place, routes, sentence):
    has, needs = arrays([(0, 0, 1, 0, 1)]), arrays([(2, 0, 1, 0, 1)])
    paths = (ids(begin), ids(links), np.zeros(1), np.zeros(1))
    with pytest.raises(ValueError, match=sentence):
        add_loads(has, needs, paths, place, (9, 1, 0, routes), RATES, np.zeros(LINKS))


def test_a_box_for_every_server():
    has, needs = arrays([(0, 0, 1, 0, 1)]), arrays([(2, 0, 1, 0, 1), (3, 0, 1, 0, 1)])
    with pytest.raises(ValueError, match="expected a box for every server"):
        participants(has, (needs[0], *has[1:]))
