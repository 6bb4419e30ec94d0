"""What kind of network a run had, and whether its buffers could overflow, from its tables."""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Iterable, Mapping, Sequence
from typing import Any

Rows = Sequence[Mapping[str, Any]]

#: Rates of links up and down a switch that differ by less than this are equal.
_ALMOST = 1.001


def network_class(links: Rows, flows: Rows) -> str:
    """Return the class of a network, as far as it decides how good an estimate is.

    Parameters
    ----------
    links, flows : sequence of mappings
        The tables ``links`` and ``flows`` of a result.

    Returns
    -------
    str
        ``direct``: links join ranks, which pass on what is not for them. ``one tier``: each path
        has one switch. ``tiers``: switches are linked to each other, with at least the rate of what
        is below them. ``oversubscribed``: some have less.
    """
    ranks = _ranks(flows)
    up: dict[int, float] = defaultdict(float)
    down: dict[int, float] = defaultdict(float)
    for link in links:
        source, target, rate = link["source"], link["target"], link["rate_bps"]
        if source < ranks and target < ranks:
            return "direct"
        if target < ranks:
            down[source] += rate
        elif source >= ranks:
            up[source] += rate
    if not up:
        return "one tier"
    leaves = [switch for switch in down if up[switch]]
    less = any(down[switch] > _ALMOST * up[switch] for switch in leaves)
    return "oversubscribed" if less else "tiers"


def scarce_buffer(links: Rows, flows: Rows, window: int) -> tuple[int, int] | None:
    """Return the need and the size of a buffer that could overflow.

    A connection has at most a window under way, and at most all of its bytes. If all connections to
    the ranks behind a switch send at once, their windows meet at its links to these ranks, and
    evenly spread at its links to other switches. ECN and the congestion control keep queues
    shorter; so this is a necessary condition for losses, not a sufficient one.

    Parameters
    ----------
    links, flows : sequence of mappings
        The tables ``links`` and ``flows`` of a result.
    window : int
        The most that the connections of a flow have under way [bytes].

    Returns
    -------
    tuple of int, optional
        Bytes that can arrive at once, and the size of the buffer, of the port that lacks most;
        None if there is none.
    """
    ranks = _ranks(flows)
    behind = {link["source"]: link["target"] for link in links if link["source"] < ranks}
    into_rank: dict[int, int] = defaultdict(int)
    out_of: dict[int, int] = defaultdict(int)
    into: dict[int, int] = defaultdict(int)
    for flow in flows:
        inside, outside = behind.get(flow["source"]), behind.get(flow["target"])
        bytes_ = min(window, flow["payload_bytes"])
        into_rank[flow["target"]] += bytes_
        if inside != outside and inside is not None and outside is not None:
            out_of[inside] += bytes_
            into[outside] += bytes_
    inner = [link for link in links if link["source"] >= ranks and link["target"] >= ranks]
    leaving = _count(link["source"] for link in inner)
    entering = _count(link["target"] for link in inner)
    worst: tuple[int, int] | None = None
    for link in links:
        source, target, buffer = link["source"], link["target"], link["buffer_bytes"]
        if not buffer:
            continue
        if target < ranks:
            need = into_rank[target]
        elif source >= ranks:
            need = max(out_of[source] // leaving[source], into[target] // entering[target])
        else:
            continue
        if need > buffer and (worst is None or need - buffer > worst[0] - worst[1]):
            worst = (int(need), int(buffer))
    return worst


def _ranks(flows: Rows) -> int:
    return 1 + int(max((max(flow["source"], flow["target"]) for flow in flows), default=-1))


def _count(nodes: Iterable[int]) -> dict[int, int]:
    counts: dict[int, int] = defaultdict(int)
    for node in nodes:
        counts[node] += 1
    return counts
