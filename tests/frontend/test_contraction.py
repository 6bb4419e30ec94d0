"""Nodes that only join dependencies leave a trace, and the order of the others stays."""

from __future__ import annotations

import numpy as np
from hypothesis import given
from hypothesis import strategies as st

from frontend.compiler.export import without_joins
from frontend.nodes import NodeColumns, NodeType, slices

JOIN, WORK = 0, 7


def columns(durations: list[int], waits: list[set[int]]) -> NodeColumns:
    size = len(durations)
    zeros = np.zeros(size, np.uint32)
    return NodeColumns(
        names=[str(node) for node in range(size)],
        type=np.full(size, NodeType.TIMER, np.uint32),
        duration_ps=np.array(durations, np.uint64),
        peer=zeros,
        bytes=zeros.astype(np.uint64),
        tag=zeros.astype(np.uint64),
        dep_begin=slices([len(one) for one in waits]),
        dep=np.array([dep for one in waits for dep in sorted(one)], np.uint32),
    )


def ends(nodes: NodeColumns) -> dict[str, int]:
    """Return when each node ends; a node waits only for earlier ones."""
    end: list[int] = []
    for node in range(nodes.size):
        after = nodes.dep[nodes.dep_begin[node] : nodes.dep_begin[node + 1]].tolist()
        end.append(max((end[dep] for dep in after), default=0) + int(nodes.duration_ps[node]))
    return dict(zip(nodes.names, end, strict=True))


@given(st.data())
def test_every_other_node_ends_at_the_same_time(data: st.DataObject) -> None:
    size = data.draw(st.integers(0, 12))
    durations = data.draw(st.lists(st.sampled_from([JOIN, WORK]), min_size=size, max_size=size))
    waits = [
        data.draw(st.sets(st.integers(0, node - 1))) if node else set() for node in range(size)
    ]
    before = columns(durations, waits)
    after = without_joins(before)
    assert after.names == [str(node) for node in range(size) if durations[node] != JOIN]
    times = ends(before)
    assert ends(after) == {name: times[name] for name in after.names}
