"""Match the collective nodes of all ranks: the k-th of a group on each of its ranks is one.

Process groups are in a file, or in METADATA nodes of the trace.

What the traces of PyTorch's converter leave out. They lack nodes of the host, types of collectives,
and counterparts of sends and receives.
"""

from __future__ import annotations

import json
import re
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import numpy as np
from numpy.typing import NDArray

from frontend.errors import ScenarioError
from frontend.formats.chakra.decode import ChakraTrace
from frontend.formats.chakra.schema import OPERATIONS, ChakraType
from frontend.nodes import Wide
from topology_gen.files import read_bytes

Ints = NDArray[np.int64]
Groups = Mapping[str, tuple[int, ...]]
"""The ranks of each process group, by name."""

_EVERY_RANK = ("", "0")
"""Names of the group of all ranks, unless the names are given other ranks."""

_BARRIER = next(number for number, operation in OPERATIONS.items() if operation == "barrier")
_SHARDED = [n for n, operation in OPERATIONS.items() if operation in ("all_gather", "gather")]
_NUMBER = re.compile(r"(\d+)\.0*")
"""A number as programs write it that have read the name of the group as a floating-point number."""

_ROOT_ATTRIBUTE = {
    "broadcast": "comm_src",
    "scatter": "comm_src",
    "reduce": "comm_dst",
    "gather": "comm_dst",
}


def read_groups(path: Path, ranks: int) -> Groups:
    """Return the groups of ASTRA-sim's file of communicator groups.

    Parameters
    ----------
    path : Path
        A JSON object that maps names to lists of ranks.
    ranks : int
        Number of all ranks.

    Raises
    ------
    ScenarioError
        If the file cannot be read, or has something else.
    """
    try:
        content = json.loads(read_bytes(path))
    except OSError as error:
        raise ScenarioError(f"{path}: {error.strerror}: expected a readable file") from None
    except (ValueError, RecursionError) as error:
        raise ScenarioError(f"{path}: expected JSON ({error})") from None
    if not isinstance(content, dict):
        raise ScenarioError(f"{path}: expected an object that maps names of groups to ranks")
    return {
        name: _members(f"{path}: group {name}", value, ranks) for name, value in content.items()
    }


def groups_of(trace: ChakraTrace, ranks: int) -> Groups:
    """Return the groups that the METADATA nodes of a trace list.

    PyTorch's observer writes them as JSON, such as ``[{"pg_name": "1", "ranks": [0, 2]}]``, inside
    a list. An empty list of ranks means all ranks. Other metadata are skipped.

    Raises
    ------
    ScenarioError
        If a group has other members than ranks.
    """
    found: dict[str, tuple[int, ...]] = {}
    for node, values in trace.inputs:
        for one in _listed(values):
            place = f"{trace.describe(node)}: group {one['pg_name']}"
            found[str(one["pg_name"])] = _members(place, one["ranks"] or list(range(ranks)), ranks)
    return found


def descriptions_of(trace: ChakraTrace) -> Mapping[str, str]:
    """Return what the METADATA nodes of a trace say that its groups are for, by name."""
    return {
        str(one["pg_name"]): str(one["pg_desc"])
        for _, values in trace.inputs
        for one in _listed(values)
        if one.get("pg_desc")
    }


def _listed(values: str) -> Iterator[Mapping[str, Any]]:
    """Yield the descriptions of groups in the inputs of a node, however deep they are quoted."""
    for text in (values, values[2:-2]):
        try:
            content = json.loads(text)
        except (ValueError, RecursionError):
            continue
        for one in content if isinstance(content, list) else ():
            if isinstance(one, str):
                yield from _listed(one)
            elif isinstance(one, dict) and "pg_name" in one and "ranks" in one:
                yield one
        return


def _members(place: str, value: Any, ranks: int) -> tuple[int, ...]:
    whole = isinstance(value, list) and all(type(rank) is int for rank in value)
    if not whole or not value or len(set(value)) != len(value):
        raise ScenarioError(f"{place}: value {_short(value)}: expected a list of different ranks")
    for rank in value:
        if not 0 <= rank < ranks:
            raise ScenarioError(f"{place}: rank {rank}: expected a rank from 0 to {ranks - 1}")
    return tuple(value)


def _short(value: Any) -> str:
    text = repr(value)
    return text if len(text) <= 60 else text[:59] + "…"


@dataclass
class Matched:
    """One collective of a group.

    Attributes
    ----------
    operation, bytes : str, int
        The operation, and the buffer of one rank.
    group, ranks : str, tuple of int
        Name and ranks of the group.
    root : int
        The rank at which a rooted operation starts or ends.
    priority : int
        Of the collectives that wait, those with the greatest priority start first.
    first : tuple of int
        Rank and index of the node on the group's first rank.
    """

    operation: str
    bytes: int
    group: str
    ranks: tuple[int, ...]
    root: int
    priority: int
    first: tuple[int, int]


class Matching:
    """The collectives of all ranks.

    Attributes
    ----------
    collectives : list of Matched
        The collectives, in the order of their nodes on the lowest rank that takes part.
    groups : list
        Name and ranks of each group.
    group : array of int
        For each collective, the index of its group. A last entry stands for no collective.
    number : list of array of int
        For each rank and node, the index of its collective; -1 for other nodes.

    Raises
    ------
    ScenarioError
        If a node names an unknown group, or the ranks of a group disagree.
    """

    def __init__(self, traces: Sequence[ChakraTrace], groups: Sequence[Groups]) -> None:
        self.traces = traces
        self.groups: list[tuple[str, tuple[int, ...]]] = []
        self.number = [np.full(trace.size, -1, np.int64) for trace in traces]
        self._index: dict[tuple[str, tuple[int, ...]], int] = {}
        parts = [self._nodes(rank, groups[rank]) for rank in range(len(traces))]
        rows = np.concatenate(parts)
        turn = _turns(rows[:, 0], rows[:, 2])
        order = np.lexsort((rows[:, 0], turn, rows[:, 2]))
        rank, node, group, kind, size, root, priority = rows[order].T
        turn = turn[order]
        new = np.ones(rank.size, np.bool_)
        new[1:] = (group[1:] != group[:-1]) | (turn[1:] != turn[:-1])
        begin = np.flatnonzero(new)
        which = np.cumsum(new) - 1
        self._check_members(rank, node, group, turn, begin)
        agreed = {"type": kind, "size": size, "root": root, "priority": priority}
        for what, column in agreed.items():
            differs = column != column[begin[which]]
            if differs.any():
                self._disagree(rank, node, int(np.argmax(differs)), begin[which], what)
        # number the collectives in the order of their first nodes
        ordered = np.lexsort((node[begin], rank[begin]))
        renumbered = np.empty(begin.size, np.int64)
        renumbered[ordered] = np.arange(begin.size)
        for one, trace_number in enumerate(self.number):
            own = rank == one
            trace_number[node[own]] = renumbered[which[own]]
        self.group = np.append(group[begin[ordered]], -1)
        self.collectives = [self._matched(row) for row in rows[order][begin[ordered]].tolist()]

    def _matched(self, row: list[int]) -> Matched:
        rank, node, group, kind, size, root, priority = row
        name, ranks = self.groups[group]
        return Matched(OPERATIONS[kind], size, name, ranks, root, priority, (rank, node))

    def _nodes(self, rank: int, groups: Groups) -> Ints:
        """Return the rows of a rank: rank, node, group, type, size, root and priority."""
        trace = self.traces[rank]
        where = trace.type == ChakraType.COMM_COLL
        nodes = np.flatnonzero(where)
        kind = trace.number("comm_type", where)
        if (where & (kind > max(OPERATIONS))).any():
            node = int(np.argmax(where & (kind > max(OPERATIONS))))
            raise trace.fail(node, f"comm_type {kind[node]}: expected 0 to {max(OPERATIONS)}")
        size = trace.number("comm_size", where & (kind != _BARRIER))
        buffer = trace.number("buffer_bytes", where, 0)
        group = self._groups_of(rank, trace, groups, nodes)
        self._check_dimensions(trace, where & (self._names(trace) < 0))
        root = np.array([self.groups[one][1][0] for one in group.tolist()], np.int64)
        for number, operation in OPERATIONS.items():
            if operation in _ROOT_ATTRIBUTE:
                attribute = _ROOT_ATTRIBUTE[operation]
                given = where & (kind == number)
                values = trace.number(attribute, given & trace.has(attribute), 0)[nodes]
                has = (given & trace.has(attribute))[nodes]
                root[has] = values[has].astype(np.int64)
                root[given[nodes]] = self._checked_roots(trace, nodes, group, root, given[nodes])
        members = np.array([len(ranks) for _, ranks in self.groups], np.int64)[group]
        brought = np.isin(kind[nodes], _SHARDED)  # comm_size is what a rank brings along
        total = size[nodes].astype(np.int64) * np.where(brought, members, 1)
        total[kind[nodes] == _BARRIER] = members[kind[nodes] == _BARRIER]  # a byte for each rank
        total = np.where(trace.has("buffer_bytes")[nodes], buffer[nodes].astype(np.int64), total)
        priority = trace.number("comm_priority", where, 0)[nodes]
        columns = (np.full(nodes.size, rank), nodes, group, kind[nodes], total, root, priority)
        return np.stack([column.astype(np.int64) for column in columns], axis=1)

    def _checked_roots(
        self, trace: ChakraTrace, nodes: Ints, group: Ints, root: Ints, rooted: NDArray[np.bool_]
    ) -> Ints:
        for at in np.flatnonzero(rooted).tolist():
            if int(root[at]) not in self.groups[int(group[at])][1]:
                raise trace.fail(
                    int(nodes[at]), f"its root is rank {root[at]}: expected a rank of its group"
                )
        return root[rooted]

    def _check_dimensions(self, trace: ChakraTrace, where: NDArray[np.bool_]) -> None:
        some = where & trace.has("involved_dim") & (trace.numbers["involved_dim"][0] == 0)
        if some.any():
            raise trace.fail(
                int(np.argmax(some)),
                "attribute involved_dim excludes a dimension: expected the process group of these "
                "ranks (pg_name)",
            )

    def _groups_of(self, rank: int, trace: ChakraTrace, groups: Groups, nodes: Ints) -> Ints:
        """Return the number of the group of each collective node."""
        named = self._names(trace)[nodes]
        result = np.empty(nodes.size, np.int64)
        for text in np.unique(named).tolist():
            name = trace.table[text] if text >= 0 else ""
            node = int(nodes[np.argmax(named == text)])
            result[named == text] = self._group(rank, trace, groups, name, node)
        return result

    def _names(self, trace: ChakraTrace) -> Ints:
        """Return the index of the text that names the group of each node; -1 for none."""
        named = trace.texts["pg_name"].astype(np.int64)
        return np.where(named < 0, trace.texts["comm_group"], named)

    def _group(self, rank: int, trace: ChakraTrace, groups: Groups, name: str, node: int) -> int:
        if name not in groups and (number := _NUMBER.fullmatch(name)):
            name = number[1]
        if name in groups:
            ranks = groups[name]
        elif name in _EVERY_RANK:
            name, ranks = "", tuple(range(len(self.traces)))
        else:
            known = ", ".join(groups) or "none"
            raise trace.fail(
                node,
                f"process group {name} is not known: expected one of workload.groups or of a "
                f"METADATA node ({known})",
            )
        if rank not in ranks:
            raise trace.fail(node, f"process group {name} has the ranks {_few(ranks)}, not {rank}")
        key = name, ranks
        if key not in self._index:
            self._index[key] = len(self.groups)
            self.groups.append(key)
        return self._index[key]

    def _check_members(self, rank: Ints, node: Ints, group: Ints, turn: Ints, begin: Ints) -> None:
        """Check that every rank of a group has a node for each of its collectives."""
        wanted = np.array([len(ranks) for _, ranks in self.groups], np.int64)
        present = np.diff(np.append(begin, rank.size))
        missing = present != wanted[group[begin]]
        if not missing.any():
            return
        at = int(begin[np.argmax(missing)])
        name, ranks = self.groups[int(group[at])]
        there = set(rank[at : at + int(present[np.argmax(missing)])].tolist())
        absent = next(one for one in ranks if one not in there)
        trace = self.traces[int(rank[at])]
        raise trace.fail(
            int(node[at]),
            f"collective {int(turn[at]) + 1} of {_named(name)}, but rank {absent} has only "
            f"{int(turn[at])}: expected the same collectives on all of its ranks",
        )

    def _disagree(self, rank: Ints, node: Ints, at: int, first: Ints, what: str) -> None:
        other = int(first[at])
        mine, theirs = self.traces[int(rank[at])], self.traces[int(rank[other])]
        raise mine.fail(
            int(node[at]),
            f"another {what} than {theirs.describe(int(node[other]))}, which is the same "
            "collective of the group: expected the same on all of its ranks",
        )


def _turns(rank: Ints, group: Ints) -> Ints:
    """Return how many nodes of the same rank and group stand before each node."""
    order = np.lexsort((group, rank))
    code = rank[order] * (int(group.max(initial=0)) + 1) + group[order]
    begins = np.flatnonzero(np.append(True, code[1:] != code[:-1])) if code.size else code
    turn = np.empty(rank.size, np.int64)
    lengths = np.diff(np.append(begins, code.size))
    turn[order] = np.arange(code.size) - np.repeat(begins, lengths)
    return turn


def _named(name: str) -> str:
    return f"process group {name}" if name else "all ranks"


def _few(ranks: Sequence[int]) -> str:
    text = ", ".join(map(str, ranks[:8]))
    return f"{text} …" if len(ranks) > 8 else text


Where = NDArray[np.bool_]

_NO_RANK = 2**32 - 1


def check_dependencies(trace: ChakraTrace) -> None:
    """Check that every node that another one depends on is in the file.

    Raises
    ------
    ScenarioError
        For the first node that depends on another one.
    """
    for node, missing in trace.dangling:
        raise trace.fail(node, f"depends on node {missing}, which the file does not have")


def dangling(trace: ChakraTrace) -> Where:
    """Return which nodes depend on nodes that the file does not have."""
    where = np.zeros(trace.size, np.bool_)
    where[[node for node, _ in trace.dangling]] = True
    return where


def launches(trace: ChakraTrace) -> Where:
    """Return which collectives are only their start on the CPU.

    The converter marks the operator of PyTorch on the CPU as a collective too, without a type. The
    collective itself is another node, on the accelerator.
    """
    where = trace.type == ChakraType.COMM_COLL
    on_cpu: Where = where & (trace.number("is_cpu_op", where, 0) != 0) & ~trace.has("comm_type")
    return on_cpu


def peers(trace: ChakraTrace) -> Wide:
    """Return the other rank of each send and receive, where the trace names it."""
    return np.where(
        trace.type == ChakraType.COMM_SEND,
        trace.numbers["comm_dst"][0],
        trace.numbers["comm_src"][0],
    )


def check_ends(rank: int, trace: ChakraTrace) -> None:
    """Check that every send and receive has a peer and a size, and belongs to its rank.

    Raises
    ------
    ScenarioError
        For the first node that does not.
    """
    for kind, peer, own in (
        (ChakraType.COMM_SEND, "comm_dst", "comm_src"),
        (ChakraType.COMM_RECV, "comm_src", "comm_dst"),
    ):
        where = trace.type == kind
        trace.number(peer, where)
        trace.number("comm_size", where)
        trace.number("comm_tag", where, 0)
        _check_own(rank, trace, where, own)


def _check_own(rank: int, trace: ChakraTrace, where: Where, own: str) -> None:
    foreign = where & (trace.number(own, where, rank) != rank)
    if foreign.any():
        node = int(np.argmax(foreign))
        raise trace.fail(
            node, f"{own} {trace.numbers[own][0][node]}: expected {rank}, the rank of the file"
        )


def unmatched(traces: Sequence[ChakraTrace]) -> list[Where]:
    """Return which sends and receives of each rank have no peer, no size or no counterpart.

    If a pair of ranks has more sends than receives with the same tag and size, or the other way
    round, the last ones have none.
    """
    rows, places = [], []
    lacking = [np.zeros(trace.size, np.bool_) for trace in traces]
    for rank, trace in enumerate(traces):
        send = trace.type == ChakraType.COMM_SEND
        message = send | (trace.type == ChakraType.COMM_RECV)
        peer = np.where(send, trace.has("comm_dst"), trace.has("comm_src"))
        usable = message & peer & trace.has("comm_size")
        lacking[rank] = message & ~usable
        node = np.flatnonzero(usable)
        other = np.minimum(peers(trace), _NO_RANK)[node].astype(np.int64)
        sends = send[node]
        size = trace.numbers["comm_size"][0][node].astype(np.int64)
        tag = trace.number("comm_tag", usable, 0)[node].astype(np.int64)
        source, target = np.where(sends, rank, other), np.where(sends, other, rank)
        rows.append(np.stack([source, target, tag, size], axis=1))
        places.append(np.stack([np.full(node.size, rank), node, sends], axis=1))
    key = np.unique(np.concatenate(rows), axis=0, return_inverse=True)[1].reshape(-1)
    place = np.concatenate(places)
    _, turn = np.unique(np.stack([key, place[:, 2]], axis=1), axis=0, return_inverse=True)
    order = np.argsort(turn.reshape(-1), kind="stable")
    number = np.empty(key.size, np.int64)
    sorted_turn = turn.reshape(-1)[order]
    begin = np.searchsorted(sorted_turn, sorted_turn)
    number[order] = np.arange(key.size) - begin
    keys = int(key.max(initial=-1)) + 1
    sends = np.bincount(key[place[:, 2] == 1], minlength=keys)
    receives = np.bincount(key[place[:, 2] == 0], minlength=keys)
    alone = number >= np.minimum(sends, receives)[key]
    alone |= np.concatenate(rows)[:, 0] == np.concatenate(rows)[:, 1]
    for rank, node, _ in place[alone].tolist():
        lacking[rank][node] = True
    return lacking
