"""The network of an ASTRA-sim run: of the analytical backend, or a topology text."""

from __future__ import annotations

import re
from collections.abc import Mapping, Sequence
from pathlib import Path
from types import MappingProxyType
from typing import Any, NamedTuple

from frontend.errors import ScenarioError
from frontend.formats.astra_sim.system import Imported
from frontend.formats.readable import read_json, read_text
from frontend.schema.files import read_yaml
from topology_gen import TopologyError
from topology_gen.formats.graphs.astra_sim import (
    KEYS,
    Dimension,
    dimensions,
    is_astra_sim,
    is_dimensions,
    read_astra_sim,
)
from topology_gen.formats.graphs.htsim import is_htsim, read_htsim

_MOST_RANKS = 1 << 20
_NS3_CONFIGURATION = re.compile(r"^TOPOLOGY_FILE\s+(\S+)", re.MULTILINE)


class ImportedNetwork(NamedTuple):
    """A network as a scenario has it."""

    fabric: str
    topology: dict[str, Any]
    sizes: tuple[int, ...]
    """Number of ranks in each dimension that the system file has entries for; empty if there is one
    dimension whose size the files do not say."""
    kinds: tuple[str, ...] = ()
    """Ring, FullyConnected or Switch for each dimension of the analytical backend."""
    settings: Mapping[str, Mapping[str, str]] = MappingProxyType({})
    """Further blocks of the scenario: `links` and `transport`."""

    @property
    def dimensions(self) -> int:
        """Number of dimensions."""
        return max(1, len(self.sizes))


def network_of(path: Path, logical: Path | None, made: Imported) -> ImportedNetwork:
    """Return the network in a file of either backend.

    Parameters
    ----------
    path : Path
        YAML of the analytical backend, or a topology text of the ns-3 or htsim backend or of SimAI.
    logical : Path, optional
        JSON with the logical dimensions of a topology text.
    made : Imported
        Receives notes, and the file if the scenario names it.

    Raises
    ------
    ScenarioError
        If a file is none of these.
    """
    text = read_text(path)
    if is_astra_sim(text) or is_htsim(text):
        return ImportedNetwork("express", _from_text(path, text, made), _logical(logical))
    if found := _NS3_CONFIGURATION.search(text):
        raise ScenarioError(
            f"{path}: a configuration of the ns-3 backend: expected the topology text that its "
            f"TOPOLOGY_FILE names ({found[1]})"
        )
    try:
        content = read_yaml(text)
    except ValueError:
        content = None
    if not is_dimensions(content):
        raise ScenarioError(
            f"{path}: expected the network of ASTRA-sim's analytical backend (YAML with the lists "
            f"{', '.join(KEYS)}) or a topology text of its ns-3 or htsim backend"
        )
    try:
        parts = dimensions(content)
    except TopologyError as error:
        raise ScenarioError(f"{path}: {error}") from None
    for key in content.keys() - {*KEYS}:
        made.notes.append(f"{path}: {key} has no equivalent")
    if len(parts) > 1:
        made.notes.append(
            f"{path}: for several dimensions, ASTRA-sim has only its backend without contention; "
            "the scenario's messages share the bandwidth of the links that they meet on. On 4 x 4 "
            "rings, an all-reduce takes 1.4 times as long with two chunks in flight, 2.1 times as "
            "long with four, and 2.4 times as long with direct"
        )
        if any(part.kind == "Switch" for part in parts):
            made.notes.append(
                f"{path}: each packet of the scenario is sent anew by a switch, which takes 167 ns "
                "at 50 GB/s; ASTRA-sim adds only latencies. On rings and switches of four, an "
                "all-reduce takes up to 1.1 times as long"
            )
    elif parts[0].kind == "Switch":
        made.notes.append(
            f"{path}: the switch forwards whole messages, as in ASTRA-sim's congestion-aware "
            "backend; for the other backend, set links.mtu to 9000B"
        )
    sizes, kinds = tuple(one.size for one in parts), tuple(one.kind for one in parts)
    topology = _topology(path, parts, made)
    settings = _without_acknowledgements(len(parts))
    return ImportedNetwork("analytical", topology, sizes, kinds, settings)


def _topology(path: Path, found: Sequence[Dimension], made: Imported) -> dict[str, Any]:
    """Return the family of one dimension or of a torus, or else a graph of all links.

    Parameters
    ----------
    path : Path
        The network file, which a graph reads.
    found : sequence of Dimension
        The dimensions in it.
    made : Imported
        Receives the file if the topology names it.
    """
    first = found[0]
    links = {"bandwidth": first.bandwidth, "latency": first.latency, "buffer": "unlimited"}
    if len(found) == 1 and first.kind == "Switch":
        return {"family": "flat", "ranks": first.size, **links}
    if len(found) == 1 and first.kind == "FullyConnected":
        return {"family": "direct_connect", "graph": f"complete:n={first.size}", **links}
    if len(found) == 1 and first.size > 2:
        return {"family": "direct_connect", "graph": f"ring:n={first.size},d=2", **links}
    rings = all(one == ("Ring", one.size, first.bandwidth, first.latency) for one in found)
    if rings and len(found) > 1 and min(one.size for one in found) > 2:
        # the last of our dimensions changes fastest with the number of the rank
        lengths = "x".join(str(one.size) for one in reversed(found))
        return {"family": "direct_connect", "graph": f"torus:dims={lengths}", **links}
    return {"family": "graph", "file": made.name(path), "buffer": "unlimited"}


def _without_acknowledgements(dimensions: int) -> dict[str, dict[str, str]]:
    """Return links and a transport on which messages do not wait for acknowledgements.

    The congestion-aware backend, which has one dimension, forwards a message when all of it has
    arrived. In the other one, a message takes the time of its bytes once and all latencies, nearly
    as packets do.
    """
    window = {"transport": {"window": "unlimited"}}
    return {"links": {"mtu": "unlimited"}} | window if dimensions == 1 else window


def _from_text(path: Path, text: str, made: Imported) -> dict[str, Any]:
    """Return the topology of a text with the nodes, the switches and the links."""
    made.notes.append(
        f"{path}: buffers, PFC and congestion control are settings of other files; the scenario "
        "has TCP and unlimited buffers"
    )
    try:
        network = (read_htsim if is_htsim(text) else read_astra_sim)(text, path.stem)
    except TopologyError as error:
        raise ScenarioError(f"{path}: {error}") from None
    ends = sorted(end for link in network.links for end in link[:2])
    star = sorted(network.ranks + network.switches * len(network.ranks))
    kinds = {link.properties for link in network.links}
    if len(network.switches) == len(kinds) == 1 and ends == star:
        link = network.links[0]
        if link.loss is None:
            given = {"bandwidth": link.bandwidth, "latency": link.latency, "buffer": "unlimited"}
            return {"family": "flat", "ranks": len(network.ranks), **given}
    return {"family": "graph", "file": made.name(path), "buffer": "unlimited"}


def _logical(path: Path | None) -> tuple[int, ...]:
    """Return the sizes of the logical dimensions; none if there is no file."""
    if path is None:
        return ()
    content = read_json(path)
    dimensions = content.get("logical-dims") if isinstance(content, dict) else None
    if not isinstance(dimensions, list) or not dimensions:
        raise ScenarioError(f'{path}: expected the key logical-dims with a list, such as ["8"]')
    sizes = [str(size) for size in dimensions]
    if not all(size.isdecimal() and 0 < int(size) <= _MOST_RANKS for size in sizes):
        raise ScenarioError(f"{path}: logical-dims: value {dimensions}: expected numbers of ranks")
    return tuple(map(int, sizes))
