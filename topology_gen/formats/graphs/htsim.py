"""Fat-trees as the .topo files of htsim describe them, which ASTRA-sim has a backend for.

A file has `Nodes`, `Tiers` and `Podsize`. Then, for each tier from the hosts up, it has the ports
of a switch (`Radix_Down`, `Radix_Up`), and rate, latency and number (`Bundle`) of its links
downwards.
"""

from __future__ import annotations

import re
from collections.abc import Iterator
from dataclasses import dataclass

from topology_gen.errors import FileFormatError
from topology_gen.formats.graphs.document import (
    MOST_LINKS,
    GraphDocument,
    LinkEntry,
    NodeEntry,
    merged,
)

_NETWORK_KEYS = ("nodes", "tiers", "podsize")
_TIER_KEYS = {
    "downlink_speed_gbps": 0,
    "downlink_latency_ns": 0,
    "switch_latency_ns": 0,
    "radix_down": 0,
    "radix_up": 0,
    "bundle": 1,
    "oversubscribed": 0,
}
"""Keys of a tier with their values where a file has none."""


@dataclass(frozen=True)
class _Tree:
    """The numbers of a file, of which each list has an entry for each tier."""

    hosts: int
    pod: int
    tiers: list[dict[str, int]]

    @property
    def pods(self) -> int:
        return self.hosts // self.pod

    def switches_of_pod(self, tier: int) -> int:
        """Return the switches of a tier in each pod; of three tiers, the third is above all."""
        if tier == 0:
            return self.pod // self.tiers[0]["radix_down"]
        return self.tiers[0]["radix_up"] // self.tiers[1]["bundle"]

    def cores_of_position(self) -> int:
        """Return the cores that each aggregation switch has links to."""
        return self.tiers[1]["radix_up"] // self.tiers[2]["bundle"]

    def pairs(self, tier: int) -> Iterator[tuple[str, str]]:
        """Yield the lower and the upper end of each link to a tier from below."""
        tors, aggs = self.switches_of_pod(0), self.switches_of_pod(1)
        for pod in range(self.pods):
            if tier == 0:
                below = range(pod * self.pod, (pod + 1) * self.pod)
                yield from ((f"host{n}", f"tor{n // self.tiers[0]['radix_down']}") for n in below)
            elif tier == 1:
                for tor in range(tors):
                    for agg in range(aggs):
                        yield f"tor{pod * tors + tor}", f"agg{pod * aggs + agg}"
            else:
                cores = self.cores_of_position()
                for agg in range(aggs):
                    for core in range(cores):
                        yield f"agg{pod * aggs + agg}", f"core{agg * cores + core}"


def is_htsim(text: str) -> bool:
    """Return whether the lines are names with numbers, with those of a network and of a tier."""
    words = {line.split()[0].lower() for line in text.splitlines() if line.strip()}
    return {*_NETWORK_KEYS, "tier"} <= words


def read_htsim(text: str, name: str) -> GraphDocument:
    """Return the fat-tree of a .topo file, in which hosts are ranks.

    A packet that leaves a switch waits for the latency of the switch, then for that of the link.

    Raises
    ------
    FileFormatError
        A line is not known, or the numbers of ports do not fit together.
    """
    tree = _checked(_numbers(text))
    links: list[LinkEntry] = []
    delays = [tier["switch_latency_ns"] for tier in tree.tiers]
    for number, tier in enumerate(tree.tiers):
        rate, latency = f"{tier['downlink_speed_gbps']}Gbps", tier["downlink_latency_ns"]
        up = f"{latency + (delays[number - 1] if number else 0)}ns"
        down = f"{latency + delays[number]}ns"
        for lower, upper in tree.pairs(number):
            for _ in range(tier["bundle"]):
                links.append(LinkEntry(lower, upper, rate, up, one_way=True))
                links.append(LinkEntry(upper, lower, rate, down, one_way=True))
    uppers = {link.target: None for link in links if not link.target.startswith("host")}
    nodes = [NodeEntry(f"host{host}", True) for host in range(tree.hosts)]
    nodes += [NodeEntry(switch, False) for switch in uppers]
    return GraphDocument(name, nodes, merged(links), "yaml")


def _numbers(text: str) -> tuple[dict[str, int], list[dict[str, int]]]:
    """Return the numbers of the network, and of each tier."""
    network: dict[str, int] = {}
    tiers: list[dict[str, int]] = []
    for line in text.splitlines():
        words = line.split("#")[0].split()
        if not words:
            continue
        key = words[0].lower()
        known: tuple[str, ...] = (*_NETWORK_KEYS, "tier", *_TIER_KEYS)
        if len(words) != 2 or key not in known or not re.fullmatch(r"\d{1,9}", words[1]):
            raise FileFormatError(
                f"line {line.strip()!r:.60}: expected one of {', '.join(known)} and a whole number"
            )
        number = int(words[1])
        if key == "tier":
            if number != len(tiers):
                raise FileFormatError(f"Tier {number}: expected Tier {len(tiers)}")
            tiers.append(dict(_TIER_KEYS))
        elif key in _NETWORK_KEYS:
            network[key] = number
        elif not tiers:
            raise FileFormatError(f"{words[0]}: expected Tier 0 before it")
        else:
            tiers[-1][key] = number
    return network, tiers


def _checked(numbers: tuple[dict[str, int], list[dict[str, int]]]) -> _Tree:
    network, tiers = numbers
    for key in _NETWORK_KEYS:
        if not network.get(key):
            raise FileFormatError(f"{key.capitalize()}: expected a number, more than 0")
    if network["tiers"] not in (2, 3) or len(tiers) != network["tiers"]:
        raise FileFormatError(f"Tiers {network['tiers']}: expected 2 or 3, and a part for each")
    for number, tier in enumerate(tiers):
        positive = ["downlink_speed_gbps", "radix_down", "bundle"]
        positive += ["radix_up"] if number + 1 < len(tiers) else []
        for key in positive:
            if not tier[key]:
                raise FileFormatError(f"Tier {number}: {key}: expected a number, more than 0")
    tree = _Tree(network["nodes"], network["podsize"], tiers)
    _fits(tree.hosts % tree.pod == 0, f"Nodes {tree.hosts}: expected a multiple of Podsize")
    _fits(tiers[0]["bundle"] == 1, "Tier 0: bundle: expected 1, as a host has one link")
    for number, lower in enumerate(tiers[:-1]):
        even = lower["radix_up"] % tiers[number + 1]["bundle"] == 0
        _fits(even, f"Tier {number}: radix_up: expected a multiple of bundle of Tier {number + 1}")
        ratio = lower["oversubscribed"]
        same = not ratio or lower["radix_down"] == ratio * lower["radix_up"]
        _fits(same, f"Tier {number}: oversubscribed {ratio}: expected radix_down over radix_up")
    _fits(tree.pod % tiers[0]["radix_down"] == 0, "Podsize: expected a multiple of radix_down")
    if len(tiers) == 2:
        _fits(tree.pods == 1, "Podsize: expected the number of Nodes with 2 tiers")
    else:
        _ports(2, tree.pods * tiers[2]["bundle"], tiers[2]["radix_down"])
    _ports(1, tree.switches_of_pod(0) * tiers[1]["bundle"], tiers[1]["radix_down"])
    links = tree.hosts * (1 + len(tiers) * max(tier["radix_up"] for tier in tiers))
    _fits(links <= MOST_LINKS, f"about {links} links: expected at most {MOST_LINKS}")
    return tree


def _ports(tier: int, links: int, radix: int) -> None:
    _fits(links == radix, f"Tier {tier}: radix_down {radix}: expected {links}, its links downwards")


def _fits(condition: bool, sentence: str) -> None:
    if not condition:
        raise FileFormatError(sentence)
