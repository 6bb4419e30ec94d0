"""Places the nodes of a run's links in a picture, which shows hot links on the topology."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from functools import cached_property
from typing import Any

import numpy as np

from bridge.present.graph_places import Places, circle, tiers
from bridge.results.result import Result
from frontend import load_scenario
from frontend.errors import RefusedError, ScenarioError
from frontend.resolve import resolve
from frontend.resolve.layout import layout
from frontend.scenario import Scenario


class NodeNames:
    """The names of the nodes of a network: ``rank 3``, and switches as the topology names them.

    Parameters
    ----------
    scenario : Scenario
        The scenario of a run.
    """

    def __init__(self, scenario: Scenario) -> None:
        self._scenario = scenario
        self.ranks = layout(scenario).ranks

    @cached_property
    def _names(self) -> Sequence[str]:
        """The names of all nodes; none if the network cannot be made any more."""
        try:
            return resolve(self._scenario).network.node_names
        except (ScenarioError, RefusedError):
            return ()

    def __getitem__(self, node: int) -> str:
        if node < self.ranks:
            return f"rank {node}"
        return self._names[node] if node < len(self._names) else f"switch {node}"


@dataclass(frozen=True)
class LinkMap:
    """The links of a run, and where a picture shows their nodes."""

    names: NodeNames
    places: Places
    """The x and y of every node."""
    links: tuple[Mapping[str, Any], ...]
    """The rows of links.csv."""

    def link_name(self, link: Mapping[str, Any]) -> str:
        """Return the name of a link."""
        return f"{self.names[link['source']]} → {self.names[link['target']]}"


@dataclass(frozen=True)
class _Links:
    """What `tiers` asks of a network."""

    ranks: int
    nodes: int
    source: Any
    target: Any
    dimension: Any


def node_names(result: Result) -> NodeNames | None:
    """Return the names of a result's nodes; None if its scenario cannot be loaded any more."""
    try:
        return NodeNames(load_scenario(result.scenario))
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
    names = node_names(result)
    if names is None:
        return None
    ranks = names.ranks
    ends = np.array([(link["source"], link["target"]) for link in links])
    nodes = max(ranks, int(ends.max()) + 1)
    if nodes == ranks:
        return LinkMap(names, circle(ranks), tuple(links))
    levels = sorted({link["dimension"] for link in links}, reverse=True)  # scale_up first
    dimension = np.array([levels.index(link["dimension"]) for link in links])
    places = tiers(_Links(ranks, nodes, ends[:, 0], ends[:, 1], dimension))
    return LinkMap(names, places, tuple(links))


def hottest(links: Sequence[Mapping[str, Any]], number: int) -> list[Mapping[str, Any]]:
    """Return the links with the highest utilization, those with drops first among equals."""
    return sorted(links, key=lambda one: (-one["utilization"], -one["drops"]))[:number]
