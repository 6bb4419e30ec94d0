"""What kind of network a run had, from its tables."""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Mapping, Sequence
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


def _ranks(flows: Rows) -> int:
    return 1 + int(max((max(flow["source"], flow["target"]) for flow in flows), default=-1))
