"""The content of a network's file: nodes and links as their text, before units are read."""

from __future__ import annotations

import re
from collections.abc import Iterable, Mapping
from dataclasses import dataclass, field
from typing import Any, NamedTuple

MOST_NODES = 2**20
"""Nodes that the simulator accepts; also the most links of an InfraGraph file."""

QUANTITIES = ("bandwidth", "latency", "buffer", "ecn_threshold", "loss")
"""The quantities of a `LinkEntry`."""

MOST_LINKS = 2**17
"""Greatest number of links of a network that a few numbers describe."""

_RANK = re.compile(r"(rank|gpu|xpu|npu|host|server)?[^a-z]*", re.IGNORECASE)
_DIGITS = re.compile(r"(\d+)")


class NodeEntry(NamedTuple):
    """A node: its name, whether it is a rank, and its packet memory if it has its own."""

    name: str
    is_rank: bool
    memory: str | None = None


class LinkEntry(NamedTuple):
    """A link between two nodes. Quantities are as they were written, such as 100Gbps; None: not
    given."""

    source: str
    target: str
    bandwidth: str | None = None
    latency: str | None = None
    buffer: str | None = None
    ecn_threshold: str | None = None
    loss: str | None = None
    scale_up: bool = False
    one_way: bool = False

    @property
    def properties(self) -> tuple[Any, ...]:
        """Everything but the ends and the direction."""
        return self[2:8]


@dataclass(frozen=True)
class GraphDocument:
    """Nodes and links of a network, with quantities as text.

    A link that is not `one_way` stands for two links, one in each direction. `form` is the format
    that the network was read from, and `hardware` the name of its ranks' hardware; both may be
    empty. `settings` are further keys of a scenario's `topology`: `forwarding` and
    `forwarding_delay`.
    """

    name: str
    nodes: list[NodeEntry]
    links: list[LinkEntry] = field(default_factory=list)
    form: str = ""
    hardware: str = ""
    settings: Mapping[str, str] = field(default_factory=dict)

    @property
    def switches(self) -> list[str]:
        """The names of the switches."""
        return [node.name for node in self.nodes if not node.is_rank]

    @property
    def ranks(self) -> list[str]:
        """The names of the ranks, in the order of their numbers."""
        return [node.name for node in self.nodes if node.is_rank]


def looks_like_rank(name: str) -> bool:
    """Return whether a name without a type is that of a rank.

    It is one if it is a number, or begins with rank, gpu, xpu, npu, host or server and has no
    other letters.

    Examples
    --------
    >>> [looks_like_rank(name) for name in ("7", "gpu0.3", "leaf1", "hostswitch0")]
    [True, True, False, False]
    """
    return _RANK.fullmatch(name) is not None and name != ""


def in_natural_order(names: Iterable[str]) -> list[str]:
    """Return names with the numbers in them in order.

    Examples
    --------
    >>> in_natural_order(["gpu10", "gpu9"])
    ['gpu9', 'gpu10']
    """

    def key(name: str) -> list[tuple[int, str]]:
        return [(int(p), "") if p.isdecimal() else (-1, p) for p in _DIGITS.split(name)]

    return sorted(names, key=key)


def named_nodes(links: Iterable[LinkEntry]) -> list[NodeEntry]:
    """Return the nodes that links name, ranks first, each kind in natural order."""
    names = in_natural_order({end for link in links for end in link[:2]})
    ranks = [NodeEntry(name, True) for name in names if looks_like_rank(name)]
    return ranks + [NodeEntry(name, False) for name in names if not looks_like_rank(name)]


def merged(links: Iterable[LinkEntry]) -> list[LinkEntry]:
    """Return one-way links with each adjacent pair of reverse, equal ones as a single entry."""
    result: list[LinkEntry] = []
    for link in links:
        last = result[-1] if result else None
        if (
            last is not None
            and last.one_way
            and (last.source, last.target) == (link.target, link.source)
            and last.properties == link.properties
        ):
            result[-1] = last._replace(one_way=False)
        else:
            result.append(link)
    return result
