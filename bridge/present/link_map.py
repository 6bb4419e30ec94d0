"""Places the nodes of a run's links in a picture, which shows hot links on the topology."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np

from bridge.present.graph_places import Places, circle, tiers
from bridge.results.result import Result
from frontend import load_scenario
from frontend.errors import RefusedError, ScenarioError
from frontend.resolve.layout import layout


@dataclass(frozen=True)
class LinkMap:
    """The links of a run, and where a picture shows their nodes."""

    ranks: int
    """Number of ranks; further nodes are switches."""
    places: Places
    """The x and y of every node."""
    links: tuple[Mapping[str, Any], ...]
    """The rows of links.csv."""

    def node_name(self, node: int) -> str:
        """Return the name of a node: ``rank 3`` or ``switch 16``."""
        return node_name(node, self.ranks)

    def link_name(self, link: Mapping[str, Any]) -> str:
        """Return the name of a link."""
        return f"{self.node_name(link['source'])} → {self.node_name(link['target'])}"


@dataclass(frozen=True)
class _Links:
    """What `tiers` asks of a network."""

    ranks: int
    nodes: int
    source: Any
    target: Any
    dimension: Any


def node_name(node: int, ranks: int | None) -> str:
    """Return the name of a node of a network with so many ranks; None if that is not known."""
    if ranks is None:
        return f"node {node}"
    return f"rank {node}" if node < ranks else f"switch {node}"


def rank_count(result: Result) -> int | None:
    """Return the number of ranks of a result; None if its scenario cannot be loaded any more."""
    try:
        return layout(load_scenario(result.scenario)).ranks
    except (ScenarioError, RefusedError):
        return None


def link_map(result: Result) -> LinkMap | None:
    """Return the links of a result with the places of their nodes.

    Parameters
    ----------
    result : Result
        A result with its links.csv.

    Returns
    -------
    LinkMap or None
        None if the result has no table of links, or its scenario cannot be loaded any more.
    """
    links = result.tables.rows("links")
    if not links:
        return None
    ranks = rank_count(result)
    if ranks is None:
        return None
    ends = np.array([(link["source"], link["target"]) for link in links])
    nodes = max(ranks, int(ends.max()) + 1)
    if nodes == ranks:
        return LinkMap(ranks, circle(ranks), tuple(links))
    names = sorted({link["dimension"] for link in links}, reverse=True)  # scale_up first
    dimension = np.array([names.index(link["dimension"]) for link in links])
    places = tiers(_Links(ranks, nodes, ends[:, 0], ends[:, 1], dimension))
    return LinkMap(ranks, places, tuple(links))


def hottest(links: Sequence[Mapping[str, Any]], number: int) -> list[Mapping[str, Any]]:
    """Return the links with the highest utilization, those with drops first among equals."""
    return sorted(links, key=lambda one: (-one["utilization"], -one["drops"]))[:number]
