"""The network of a scenario or of a network file, as `cosim topo` shows, draws and exports it."""

from __future__ import annotations

import json
import os
import re
from collections.abc import Sequence
from dataclasses import replace
from itertools import groupby
from pathlib import Path
from typing import Any, NamedTuple

import numpy as np

from bridge.errors import InputError
from bridge.present.quantities import scaled_text, time_text
from frontend.errors import ScenarioError
from frontend.loading.load import ANY_WORKLOAD, load_scenario
from frontend.loading.overrides import Override
from frontend.resolve import resolve
from frontend.scenario import Scenario
from frontend.schema.files import read_yaml
from frontend.schema.graph import GraphTopology, as_document, inline
from topology_gen.files import read_bytes, read_text
from topology_gen.formats.graphs.document import GraphDocument, LinkEntry, NodeEntry, merged
from topology_gen.formats.graphs.registry import WRITERS, omitted, read
from topology_gen.graphs.digraph import Digraph
from topology_gen.networks.network import Network

_MOST_RANGES = 16
_MOST_PAIRS = 2**13  # whose paths are measured; they may be long

NETWORK_FORMATS = ("csv", "yaml", "graphml", "astra-sim", "simai", "infragraph")
"""Formats that have the rates of the links."""


class NamedNetwork(NamedTuple):
    """A network and what it was made of."""

    name: str
    network: Network
    scenario: Scenario
    super_node: int | None
    graph: Digraph | None
    """The links between ranks, if there are no switches."""
    form: str = ""
    """The format of the file; empty if it is a scenario."""
    hardware: str = ""
    """The name of the ranks' hardware, if the file has one."""


def named_file(spec: str | None) -> Path | None:
    """Return the file that an argument names; None if it names a family.

    Raises
    ------
    InputError
        The argument is the name of a file, which does not exist.
    """
    if spec is None:
        return None
    path = Path(spec)
    # The specification of a family may be too long for a name, which `os.path` lets pass.
    is_file = os.path.exists(spec) and not os.path.isdir(spec)
    if not is_file and ":" not in spec and (path.suffix or path.name != spec):
        raise InputError(
            f"{spec}: no such file: expected a scenario, a network, or a family such as "
            "hypercube:n=1024"
        )
    return path if is_file else None


def read_network(path: Path, overrides: Sequence[Override] = ()) -> NamedNetwork:
    """Return the network of a scenario, or of a file in one of the formats of `family: graph`.

    Raises
    ------
    ScenarioError, InputError
        The file is neither, or is not valid.
    """
    if _is_scenario(path):
        scenario = load_scenario(path, overrides)
    else:
        topology = {"family": "graph", "file": str(path.resolve()), "buffer": "unlimited"}
        try:
            scenario = load_scenario(
                {"name": "network", "topology": topology, "workload": ANY_WORKLOAD}, overrides
            )
        except ScenarioError as error:
            raise InputError(str(error).replace(str(path.resolve()), str(path))) from None
    resolved = resolve(scenario)
    network = resolved.network
    graph = resolved.layout.graph if network.nodes == network.ranks else None
    if _is_scenario(path):
        return NamedNetwork(scenario.name, network, scenario, resolved.layout.super_node, graph)
    file = _document(path)
    return NamedNetwork(
        file.name, network, scenario, resolved.layout.super_node, graph, file.form, file.hardware
    )


def _document(path: Path) -> GraphDocument:
    """Return what the file of a network says besides nodes and links, which may be missing."""
    document = read(read_bytes(path), path.name, read_yaml)
    if isinstance(document, GraphDocument):
        return document
    return GraphDocument(path.stem, [], form="yaml")


def _is_scenario(path: Path) -> bool:
    """Return whether a YAML file has a topology with a family."""
    if path.suffix not in (".yaml", ".yml", ".json"):
        return False
    try:
        content = read_yaml(read_text(path))
    except OSError as error:
        raise InputError(f"{path}: {error.strerror}: expected a readable file") from None
    except ValueError:
        return False
    scenario = content.get("scenario", content) if isinstance(content, dict) else {}
    topology = scenario.get("topology") if isinstance(scenario, dict) else None
    return isinstance(topology, dict) and "family" in topology


def network_answer(found: NamedNetwork) -> dict[str, Any]:
    """Return the size of a network and the rates of its links."""
    network = found.network
    answer: dict[str, Any] = {
        "name": found.name,
        "ranks": network.ranks,
        "switches": network.nodes - network.ranks,
        "rank_names": _ranges(network.node_names[: network.ranks]),
        "switch_names": _ranges(network.node_names[network.ranks :]),
        "links": network.links,
        "super_node": found.super_node,
    }
    for number, dimension in enumerate(network.dimensions):
        inside = network.dimension == number
        kinds, counts = np.unique(
            np.stack([network.rate_bps[inside], network.latency_ps[inside]], axis=1),
            axis=0,
            return_counts=True,
        )
        answer[dimension] = [
            f"{count} × {scaled_text(int(rate), 'bit/s')}, {time_text(int(latency) / 1000)}"
            for (rate, latency), count in zip(kinds.tolist(), counts.tolist(), strict=True)
        ]
    hops = _hops(network)
    answer["longest_path"] = int(hops.max())
    answer["mean_path"] = float(hops.mean())
    return answer


def _ranges(names: Sequence[str]) -> str:
    """Return the first and the last of consecutive names that begin with the same letters."""
    parts = []
    for _, group in groupby(names, key=lambda name: re.split(r"\d", name, maxsplit=1)[0]):
        first, *_, last = [*group] * 2
        parts.append(first if first == last else f"{first} … {last}")
    shown = parts if len(parts) <= _MOST_RANGES else [*parts[:_MOST_RANGES], "…"]
    return ", ".join(shown)


def _hops(network: Network) -> Any:
    """Return the links of the paths from some ranks to all others."""
    ranks = network.ranks
    count = max(1, min(ranks, 64, _MOST_PAIRS // ranks))
    some = np.unique(np.linspace(0, ranks - 1, count).astype(np.int64))
    source, target = np.repeat(some, ranks), np.tile(np.arange(ranks), some.size)
    apart = source != target
    return np.diff(network.paths(source[apart], target[apart]).begin.astype(np.int64))


def write_network(found: NamedNetwork, form: str) -> str:
    """Return the text of a network in one of `NETWORK_FORMATS`.

    Raises
    ------
    TopologyError
        The format cannot say what the network has, such as a link in one direction.
    """
    document = network_document(found)
    return _yaml(document) if form == "yaml" else WRITERS[form].write(document)


def omitted_properties(found: NamedNetwork, form: str) -> list[str]:
    """Return what a network has and one of `NETWORK_FORMATS` has no place for."""
    return [] if form == "yaml" else omitted(network_document(found), form)


def _yaml(document: GraphDocument) -> str:
    """Return nodes and links as YAML, one a line."""
    lines = []
    for key, given in inline(document).items():
        rows = given if isinstance(given, list) else []
        lines.append(f"{key}:" if rows else f"{key}: {json.dumps(given, ensure_ascii=False)}")
        lines += [f"- {json.dumps(row, ensure_ascii=False)}" for row in rows]
    return "\n".join(lines) + "\n"


def network_document(found: NamedNetwork) -> GraphDocument:
    """Return the nodes and links of a network as its file writes them.

    A network that was read from a file keeps its names, its order and how its quantities were
    written.
    """
    if isinstance(found.scenario.topology, GraphTopology):
        document = as_document(found.name, found.scenario.topology)
        return replace(document, hardware=found.hardware)
    network = found.network
    names = network.node_names
    up = [name == "scale_up" for name in network.dimensions]
    links = [
        LinkEntry(
            names[network.source[link]],
            names[network.target[link]],
            f"{network.rate_bps[link]}bps",
            f"{network.latency_ps[link]}ps",
            scale_up=up[network.dimension[link]],
            one_way=True,
        )
        for link in range(network.links)
    ]
    nodes = [NodeEntry(name, node < network.ranks) for node, name in enumerate(names)]
    settings = {}
    if network.ranks_forward and network.nodes > network.ranks:
        settings["forwarding"] = "ranks"
    if network.forwarding_delay_ps:
        settings["forwarding_delay"] = f"{network.forwarding_delay_ps}ps"
    return GraphDocument(found.name, nodes, merged(_paired(links)), settings=settings)


def _paired(links: list[Any]) -> list[Any]:
    """Return links in an order in which each is followed by its reverse, if there is one."""
    waiting: dict[Any, list[int]] = {}
    for number, link in enumerate(links):
        waiting.setdefault((link.source, link.target, link.properties), []).append(number)
    done = [False] * len(links)
    result = []
    for number, link in enumerate(links):
        if done[number]:
            continue
        done[number] = True
        result.append(link)
        back = waiting.get((link.target, link.source, link.properties), [])
        free = next((other for other in back if not done[other]), None)
        if free is not None:
            done[free] = True
            result.append(links[free])
    return result
