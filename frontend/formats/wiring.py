"""Checks over the traces of all ranks: every message has two ends, and no nodes wait in a cycle."""

from __future__ import annotations

from collections.abc import Callable, Sequence

import numpy as np
from numpy.typing import NDArray

from frontend.errors import ScenarioError
from frontend.nodes import NodeColumns, NodeType

Ints = NDArray[np.int64]
Describe = Callable[[int, int], str]
"""Function of a rank and the index of a node in its trace. It names the file and the node."""

_SHOWN = 4


class Messages:
    """The SEND or the RECV nodes of all ranks.

    Parameters
    ----------
    traces : sequence of NodeColumns
        The trace of each rank.
    kind : NodeType
        SEND or RECV.
    """

    def __init__(self, traces: Sequence[NodeColumns], kind: NodeType) -> None:
        where = [np.flatnonzero(trace.type == kind) for trace in traces]
        own = np.repeat(np.arange(len(traces)), [part.size for part in where])
        peer = _joined([trace.peer[part] for trace, part in zip(traces, where, strict=True)])
        tag = _joined([trace.tag[part] for trace, part in zip(traces, where, strict=True)])
        ends = (own, peer) if kind == NodeType.SEND else (peer, own)
        self.rank = own
        self.node = _joined(where)
        self.bytes = _joined([trace.bytes[part] for trace, part in zip(traces, where, strict=True)])
        self.key = np.stack([*ends, tag], axis=1)

    def describe(self, index: int, describe: Describe) -> str:
        """Return the file and node of a message."""
        return describe(int(self.rank[index]), int(self.node[index]))


def check_messages(traces: Sequence[NodeColumns], describe: Describe) -> None:
    """Check that every SEND has its RECV with the same size, and that both ends are ranks.

    Raises
    ------
    ScenarioError
        For the first message that is wrong.
    """
    sends, receives = Messages(traces, NodeType.SEND), Messages(traces, NodeType.RECV)
    for messages in (sends, receives):
        source, target = messages.key[:, 0], messages.key[:, 1]
        wrong = (source >= len(traces)) | (target >= len(traces))
        if wrong.any():
            first = int(np.argmax(wrong))
            other = int(max(messages.key[first, :2]))
            raise ScenarioError(
                f"{messages.describe(first, describe)}: its peer is rank {other}: expected a rank "
                f"from 0 to {len(traces) - 1}"
            )
        if (source == target).any():
            first = int(np.argmax(source == target))
            raise ScenarioError(
                f"{messages.describe(first, describe)}: a message of rank {int(source[first])} to "
                "itself: expected another rank as its peer"
            )
    _check_ends(sends, receives, describe)


def _check_ends(sends: Messages, receives: Messages, describe: Describe) -> None:
    both = np.concatenate([sends.key, receives.key])
    keys, number = np.unique(both, axis=0, return_inverse=True)
    of_send, of_receive = np.split(number.reshape(-1), [len(sends.key)])
    surplus = np.bincount(of_send, minlength=len(keys)) - np.bincount(
        of_receive, minlength=len(keys)
    )
    if surplus.any():
        key = int(np.argmax(surplus != 0))
        source, target, tag = keys[key].tolist()
        if surplus[key] > 0:
            place = sends.describe(int(np.flatnonzero(of_send == key)[-1]), describe)
            what = f"sends to rank {target} with tag {tag}, but rank {target} has no receive for it"
        else:
            place = receives.describe(int(np.flatnonzero(of_receive == key)[-1]), describe)
            what = f"receives from rank {source} with tag {tag}, but rank {source} has no such send"
        raise ScenarioError(f"{place}: {what}")
    send_order = np.lexsort((sends.bytes, of_send))
    receive_order = np.lexsort((receives.bytes, of_receive))
    differs = sends.bytes[send_order] != receives.bytes[receive_order]
    if differs.any():
        first = int(np.argmax(differs))
        send, receive = int(send_order[first]), int(receive_order[first])
        raise ScenarioError(
            f"{receives.describe(receive, describe)}: receives {receives.bytes[receive]} bytes, "
            f"but {sends.describe(send, describe)} sends {sends.bytes[send]}"
        )


def check_order(traces: Sequence[NodeColumns], joint: Sequence[Ints], describe: Describe) -> None:
    """Check that no nodes wait for each other in a cycle, within a rank or over several ranks.

    A receive waits for its send, where tag and ranks determine it.

    Parameters
    ----------
    traces : sequence of NodeColumns
        The trace of each rank.
    joint : sequence of array of int
        For each rank and node, a number that nodes share which end together, such as those of one
        collective; -1 for none.
    describe : callable
        Names the file and a node.

    Raises
    ------
    ScenarioError
        If there is a cycle. The text names its first nodes.
    """
    # Imported here because commands that only list workloads need not wait for it.
    from scipy.sparse import coo_array
    from scipy.sparse.csgraph import connected_components

    first = np.concatenate([[0], np.cumsum([trace.size for trace in traces])]).astype(np.int64)
    total = int(first[-1])
    shared = np.concatenate([*joint, np.zeros(0, np.int64)])
    vertex = np.where(shared >= 0, total + shared, np.arange(total))
    before, after = [], []
    for base, trace in zip(first, traces, strict=False):
        earlier, later = trace.edges()
        before.append(base + earlier)
        after.append(base + later)
    sends, receives = Messages(traces, NodeType.SEND), Messages(traces, NodeType.RECV)
    send, receive = _unique_pairs(sends.key, receives.key)
    before.append(first[sends.rank[send]] + sends.node[send])
    after.append(first[receives.rank[receive]] + receives.node[receive])
    source, target = vertex[np.concatenate(before)], vertex[np.concatenate(after)]
    vertices = total + int(shared.max(initial=-1)) + 1
    graph = coo_array((np.ones(source.size, np.int8), (source, target)), (vertices, vertices))
    _, component = connected_components(graph, directed=True, connection="strong")
    inside = component[source] == component[target]
    if not inside.any():
        return
    # every edge inside a strong component is on a cycle
    chosen = component == component[source[np.argmax(inside)]]
    cycle = _walk(source[inside], target[inside], chosen)
    owner = np.zeros(vertices, np.int64)
    owner[vertex] = np.arange(total)
    names = []
    for one in cycle[:_SHOWN]:
        place = int(owner[one])
        rank = int(np.searchsorted(first, place, side="right")) - 1
        names.append(describe(rank, place - int(first[rank])))
    more = f" … ({len(cycle)} nodes in all)" if len(cycle) > _SHOWN else ""
    raise ScenarioError(
        f"{names[0]}: waits for itself in a cycle of dependencies: "
        f"{' ← '.join([*names, names[0]] if not more else names)}{more}"
    )


def _unique_pairs(sends: Ints, receives: Ints) -> tuple[Ints, Ints]:
    """Return the indices of the sends and receives that no other message could match."""
    both = np.concatenate([sends, receives])
    _, number, count = np.unique(both, axis=0, return_inverse=True, return_counts=True)
    of_send, of_receive = np.split(number.reshape(-1), [len(sends)])
    send = np.flatnonzero(count[of_send] == 2)
    receive = np.flatnonzero(count[of_receive] == 2)
    return (
        send[np.argsort(of_send[send], kind="stable")],
        receive[np.argsort(of_receive[receive], kind="stable")],
    )


def _walk(source: Ints, target: Ints, chosen: NDArray[np.bool_]) -> list[int]:
    """Return a cycle among the chosen vertices: each waits for the next one."""
    waits_for: dict[int, int] = {}
    for earlier, later in zip(source.tolist(), target.tolist(), strict=True):
        if chosen[later]:
            waits_for.setdefault(later, earlier)
    node = min(waits_for)
    position: dict[int, int] = {}
    path: list[int] = []
    while node not in position:
        position[node] = len(path)
        path.append(node)
        node = waits_for[node]
    return path[position[node] :]


def _joined(parts: Sequence[NDArray[np.generic]]) -> Ints:
    return np.concatenate([np.zeros(0, np.int64), *(part.astype(np.int64) for part in parts)])
