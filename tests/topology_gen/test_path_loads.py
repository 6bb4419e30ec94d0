"""The kernel that adds up what links carry."""

from __future__ import annotations

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from topology_gen.arrays import ids
from topology_gen.kernels import path_loads

LINKS = 7


@given(
    st.lists(st.lists(st.integers(0, LINKS - 1), max_size=5), min_size=1, max_size=8),
    st.lists(st.tuples(st.integers(0, 7), st.integers(0, 10**9)), max_size=12),
)
def test_every_link_carries_the_bytes_of_its_paths(paths, sent):
    sent = [(path % len(paths), size) for path, size in sent]
    wanted = [0] * LINKS
    for path, size in sent:
        for link in paths[path]:
            wanted[link] += size
    begin = ids(np.cumsum([0, *map(len, paths)]))
    links = ids([link for path in paths for link in path])
    used, sizes = ids([path for path, _ in sent]), np.array([size for _, size in sent], float)
    assert path_loads(begin, links, used, sizes, LINKS).tolist() == wanted


@pytest.mark.parametrize(
    ("begin", "links", "used", "sizes", "sentence"),
    [
        ([0, 1], [0], [1], [1.0], "path 1 does not exist"),
        ([0, 2], [0], [0], [1.0], "path 0 does not exist"),
        ([0, 1], [LINKS], [0], [1.0], "link 7 does not exist"),
        ([0, 1], [0], [0], [], "expected bytes for every path that is used"),
    ],
)
def test_refusals(begin, links, used, sizes, sentence):
    with pytest.raises(ValueError, match=sentence):
        path_loads(ids(begin), ids(links), ids(used), np.array(sizes, float), LINKS)
