"""The transfers of a training job in an iteration: all-reduces and model-parallel transfers."""

from __future__ import annotations

import math
from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any, NamedTuple

import numpy as np
from numpy.typing import NDArray

from topology_gen.errors import DemandError

GREATEST_NODES = 8192
"""Greatest number of servers, so that a matrix of all pairs fits into memory."""


class AllReduce(NamedTuple):
    """An all-reduce: the servers in the order of the group, and the bytes of each one's vector."""

    members: tuple[int, ...]
    bytes: float

    @property
    def traffic(self) -> float:
        """Bytes on all links of a ring together, 2(k-1)·X."""
        return 2 * (len(self.members) - 1) * self.bytes


@dataclass(frozen=True, eq=False)
class Demand:
    """The transfers of a job on the servers 0 … nodes-1.

    Attributes
    ----------
    nodes : int
        Number of servers, at least 2.
    groups : tuple of AllReduce
        The all-reduces.
    mp : float64 array, shape (nodes, nodes)
        Model-parallel bytes from each server (row) to each other (column); the diagonal is 0.

    Raises
    ------
    DemandError
        A group or the matrix is not valid.
    """

    nodes: int
    groups: tuple[AllReduce, ...]
    mp: NDArray[np.float64]

    def __post_init__(self) -> None:
        _check_size(self.nodes)
        for index, group in enumerate(self.groups):
            place = f"all-reduce {index}"
            if not group.members or len(set(group.members)) != len(group.members):
                raise DemandError(f"{place}: expected at least one member, and no member twice")
            for member in group.members:
                if not 0 <= member < self.nodes:
                    raise DemandError(
                        f"{place}: member {member}, expected servers 0 … {self.nodes - 1}"
                    )
            if not (math.isfinite(group.bytes) and group.bytes >= 0):
                raise DemandError(
                    f"{place}: {group.bytes} bytes, expected a finite number of at least 0"
                )
        mp = np.array(self.mp, dtype=np.float64)
        if mp.shape != (self.nodes, self.nodes):
            raise DemandError(
                f"a model-parallel matrix of shape {mp.shape}: expected {self.nodes} rows of "
                f"{self.nodes} numbers"
            )
        if not np.all(np.isfinite(mp)) or np.any(mp < 0):
            raise DemandError("model-parallel bytes: expected finite numbers of at least 0")
        np.fill_diagonal(mp, 0)  # a server's transfer to itself uses no link
        object.__setattr__(self, "mp", mp)


def data_parallel(nodes: int, total_bytes: float = 1.0) -> Demand:
    """Return the demand of one all-reduce over all servers, with a vector of `total_bytes`.

    Examples
    --------
    >>> data_parallel(4, 100).groups[0].traffic
    600
    """
    _check_size(nodes)
    group = AllReduce(tuple(range(nodes)), total_bytes)
    return Demand(nodes, (group,), np.zeros((nodes, nodes)))


def _check_size(nodes: int) -> None:
    if not 2 <= nodes <= GREATEST_NODES:
        raise DemandError(f"{nodes} servers: expected 2 … {GREATEST_NODES}")


def from_json(content: Any) -> Demand:
    """Return the demand that a JSON object describes.

    ``nodes`` is the number of servers. ``all_reduce`` is a list of objects with ``members`` (the
    numbers of servers, in the order of the ring of stride 1) and ``bytes`` (of each member's
    vector). ``mp`` is the matrix of model-parallel bytes from row to column. ``all_reduce`` and
    ``mp`` are optional.

    Raises
    ------
    DemandError
        A key or a value is not valid; the message names it and what is accepted.

    Examples
    --------
    >>> demand = from_json({"nodes": 2, "all_reduce": [{"members": [0, 1], "bytes": 8}]})
    >>> demand.groups[0].traffic, demand.mp.tolist()
    (16, [[0.0, 0.0], [0.0, 0.0]])
    """
    keys = ("nodes", "all_reduce", "mp")
    if not isinstance(content, Mapping):
        raise DemandError(f"expected a JSON object with the keys {', '.join(keys)}")
    for key in content:
        if key not in keys:
            raise DemandError(f"key {key!r}: expected one of {', '.join(keys)}")
    nodes = content.get("nodes")
    if type(nodes) is not int:
        raise DemandError(f"nodes: {nodes!r}, expected the number of servers")
    _check_size(nodes)
    listed = content.get("all_reduce", [])
    if not isinstance(listed, list):
        raise DemandError("all_reduce: expected a list of groups")
    groups = tuple(_group(index, entry) for index, entry in enumerate(listed))
    return Demand(nodes, groups, _matrix(content.get("mp"), nodes))


def to_json(demand: Demand) -> dict[str, Any]:
    """Return a demand as a JSON object that `from_json` reads; whole numbers stay integers.

    Examples
    --------
    >>> to_json(data_parallel(2, 8))["all_reduce"]
    [{'members': [0, 1], 'bytes': 8}]
    """
    return {
        "nodes": demand.nodes,
        "all_reduce": [
            {"members": list(group.members), "bytes": _whole(group.bytes)}
            for group in demand.groups
        ],
        "mp": [[_whole(value) for value in row] for row in demand.mp.tolist()],
    }


def _whole(value: float) -> float:
    return int(value) if value == int(value) else value


def _group(index: int, entry: Any) -> AllReduce:
    place = f"all_reduce[{index}]"
    if not isinstance(entry, Mapping) or set(entry) != {"members", "bytes"}:
        raise DemandError(f'{place}: expected an object such as {{"members": [0, 1], "bytes": 8}}')
    members, total = entry["members"], entry["bytes"]
    if not isinstance(members, list) or any(type(member) is not int for member in members):
        raise DemandError(f"{place}.members: expected a list of server numbers")
    if not _is_number(total):
        raise DemandError(f"{place}.bytes: {total!r}, expected a number of bytes")
    return AllReduce(tuple(members), total)


def _matrix(rows: Any, nodes: int) -> NDArray[np.float64]:
    if rows is None:
        return np.zeros((nodes, nodes))
    if not isinstance(rows, list) or len(rows) != nodes:
        raise DemandError(f"mp: expected {nodes} rows of {nodes} numbers")
    for index, row in enumerate(rows):
        if not isinstance(row, list) or len(row) != nodes or not all(map(_is_number, row)):
            raise DemandError(f"mp[{index}]: expected {nodes} numbers")
    return np.array(rows, dtype=np.float64)


def _is_number(value: Any) -> bool:
    return isinstance(value, int | float) and not isinstance(value, bool)


def between_servers(demand: Demand, gpus: int) -> Demand:
    """Return what servers transfer to each other if GPUs have a demand.

    A group of GPUs is one of their servers: the GPUs of a server reduce their vectors first. Groups
    of the same servers become one, with their bytes together. What stays inside a server is left
    out.

    Parameters
    ----------
    demand : Demand
        The transfers of GPUs, which are numbered server by server.
    gpus : int
        GPUs of a server, a divisor of the demand's nodes.

    Examples
    --------
    Two rails of two servers, each with an all-reduce of its own:

    >>> import numpy as np
    >>> rails = (AllReduce((0, 2), 8), AllReduce((1, 3), 8))
    >>> between_servers(Demand(4, rails, np.ones((4, 4))), 2).groups
    (AllReduce(members=(0, 1), bytes=16),)
    """
    servers = demand.nodes // gpus
    groups: dict[tuple[int, ...], float] = {}
    for members, total in demand.groups:
        joined = tuple(dict.fromkeys(member // gpus for member in members))
        if len(joined) > 1:
            groups[joined] = groups.get(joined, 0) + total
    blocks = demand.mp.reshape(servers, gpus, servers, gpus).sum(axis=(1, 3))
    return Demand(servers, tuple(AllReduce(*group) for group in groups.items()), blocks)
