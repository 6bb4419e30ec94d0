"""``cosim topo list``, ``show``, ``plot``, ``export`` and ``all-to-all``: graphs and networks."""

from __future__ import annotations

import json
import os
import re
from collections.abc import Sequence
from dataclasses import replace
from itertools import groupby
from pathlib import Path
from typing import TYPE_CHECKING, Any, NamedTuple

import click
import numpy as np
from rich import box
from rich.table import Table
from rich.text import Text

from bridge.cli.console import output, print_answer
from bridge.cli.networks.wiring_options import Links, graph_options, read_graph, wiring_options
from bridge.cli.options import (
    allow_files_option,
    existing_file,
    json_option,
    out_file_option,
    set_option,
)
from bridge.errors import InputError
from bridge.files import write_whole
from bridge.present.pictures.graph_picture import draw_graph, draw_network
from bridge.present.quantities import scaled_text, time_text
from frontend.errors import ScenarioError, warn
from frontend.loading.load import ANY_WORKLOAD, load_scenario
from frontend.loading.overrides import Override
from frontend.resolve import resolve
from frontend.scenario import Scenario
from frontend.schema.files import read_yaml
from frontend.topologies.graph import GraphTopology, as_document, inline
from topology_gen.files import read_bytes, read_text
from topology_gen.formats.graphs.document import GraphDocument, LinkEntry, NodeEntry, merged
from topology_gen.formats.graphs.registry import WRITERS, omitted, read
from topology_gen.graphs.digraph import Digraph
from topology_gen.graphs.export import export
from topology_gen.networks.network import Network
from topology_gen.schedules.all_to_all import all_to_all
from topology_gen.schedules.bfb import moore_steps
from topology_gen.specs import FAMILIES, example

if TYPE_CHECKING:
    from topology_gen.bill import PriceList

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


def network_answer(found: NamedNetwork, prices: PriceList) -> dict[str, Any]:
    """Return the size of a network, the rates of its links, and what it is built of."""
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
    return answer | built_of(network, prices)


def built_of(network: Network, prices: PriceList) -> dict[str, Any]:
    """Return the switches by tier, cables, bisection and diameter of a network, and its parts."""
    # Imported here because scipy takes longer than other commands.
    from topology_gen.bill import bill
    from topology_gen.networks import inventory

    diameter, is_exact = inventory.diameter(network)
    bisection = inventory.bisection_bps(network)
    parts = bill(network, prices)
    answer: dict[str, Any] = {
        "diameter" if is_exact else "diameter_at_least": diameter,
        "tiers": [
            {
                "switches": tier.switches.size,
                "names": _ranges([network.node_names[node] for node in tier.switches]),
                "ports": tier.ports,
                "down_bps": tier.down_bps,
                "up_bps": tier.up_bps,
                "oversubscription": tier.oversubscription,
            }
            for tier in inventory.tiers(network)
        ],
        "cables": len(inventory.cables(network).ends),
        "bisection_bps": bisection,
        "bisection_per_rank_bps": round(2 * bisection / network.ranks),
        "parts": {
            f"{one.kind} {scaled_text(one.rate_bps, 'bit/s')}": one.count
            for one in sorted(parts, key=lambda one: (one.kind, one.rate_bps))
        },
    }
    for unit in ("dollars", "watts"):
        known = [one for one in parts if getattr(one.part, unit) is not None]
        amount = sum(one.count * getattr(one.part, unit) for one in known)
        lacking = sorted({one.kind for one in parts if one not in known})
        answer[unit] = None if lacking else amount
        if lacking:
            answer[f"{unit}_unknown"], answer[f"{unit}_of_the_others"] = lacking, amount
    return answer


def _for_people(answer: dict[str, Any]) -> dict[str, Any]:
    """Return the same answer with a line for each tier and each part."""
    shown: dict[str, Any] = {}
    for key, value in answer.items():
        if key == "tiers":
            for number, tier in enumerate(value, start=1):
                ratio = tier["oversubscription"]
                shown[f"tier {number}"] = f"{tier['switches']} switches, {tier['names']}" + (
                    f", oversubscription {ratio:.3g}:1" if ratio is not None else ""
                )
        elif key == "parts":
            shown |= value
        elif key.endswith(("_unknown", "_of_the_others")):
            continue
        elif value is None and f"{key}_unknown" in answer:
            parts = ", ".join(answer[f"{key}_unknown"])
            known = answer[f"{key}_of_the_others"]
            shown[key] = f"{known:,.0f} without {parts} (the list of prices has none for {parts})"
        elif key in ("dollars", "watts"):
            shown[key] = f"{value:,.0f}"
        else:
            shown[key] = value
    return shown


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


@click.command("list")
@json_option
def list_command(as_json: bool) -> None:
    """List the families of topologies, each with an example of how to write it."""
    if as_json:
        families = {
            name: {"description": family.text, "example": example(name)}
            for name, family in FAMILIES.items()
        }
        click.echo(json.dumps(families, indent=2, ensure_ascii=False))
        return
    table = Table(box=box.SIMPLE_HEAD, pad_edge=False, show_edge=False)
    table.add_column("example", no_wrap=True)
    table.add_column("")
    for name, family in FAMILIES.items():
        # Text instead of str, so that rich does not read brackets as markup.
        table.add_row(Text(example(name)), Text(family.text))
    output().print(table)


@click.command("show")
@graph_options
@set_option
@allow_files_option
@click.option(
    "--prices",
    metavar="PRICES",
    type=existing_file,
    help="With a FILE: the prices of parts; `cosim topo prices` prints a list to edit.",
)
@json_option
def show_command(
    topology: str | None,
    edges: Path | None,
    overrides: list[Override],
    prices: Path | None,
    as_json: bool,
) -> None:
    """Show the size, the degree and the distances of a topology.

    SPEC is a family with its parameters, such as hypercube:n=1024, or a FILE: a scenario, or a
    network as YAML, CSV, GraphML, ASTRA-sim's or SimAI's text, or InfraGraph. Of a FILE, it also
    shows the switches by tier with their oversubscription, cables, bisection bandwidth, parts,
    dollars and watts."""
    file = named_file(topology) if edges is None else None
    if file is not None:
        from bridge.cli.networks.prices import read_prices  # only a file has links with rates

        answer = network_answer(read_network(file, overrides), read_prices(prices))
        print_answer(answer if as_json else _for_people(answer), as_json)
        return
    _refuse(overrides)
    if prices is not None:
        raise InputError(f"--prices {prices}: expected a FILE with a network, not a family")
    graph = read_graph(edges, topology)
    degree = graph.degree if graph.regular else None
    pairs = graph.nodes * (graph.nodes - 1)
    answer = {
        "name": graph.name,
        "n": graph.nodes,
        "links": graph.links,
        "degree": degree,
        "diameter": graph.diameter,
        "mean_distance": graph.distance_sum / pairs if pairs else 0.0,
        "moore_bound_steps": None if degree is None else moore_steps(graph.nodes, degree),
        "self_loops": graph.self_loops,
        "parallel_links": graph.parallel_links,
        "bidirectional": graph.bidirectional,
    }
    print_answer(answer, as_json)


@click.command("plot")
@graph_options
@set_option
@allow_files_option
@out_file_option(
    "The picture to write; the extension selects the format, such as .svg or .png.",
    required=True,
)
def plot_command(
    topology: str | None, edges: Path | None, overrides: list[Override], out: Path
) -> None:
    """Draw a topology.

    SPEC is a family with its parameters, such as hypercube:n=1024, or a FILE: a scenario, or a
    network as YAML, CSV, GraphML, ASTRA-sim's or SimAI's text, or InfraGraph."""
    file = named_file(topology) if edges is None else None
    graph, network = _exported(None if file else topology, edges, file, overrides)
    _draw(graph, network, out)


def _refuse(overrides: list[Override]) -> None:
    """Refuse --set without a file whose values it could set."""
    if overrides:
        raise InputError(f"{overrides[0]}: expected --scenario FILE with it")


def _draw(graph: Digraph, network: Network | None, out: Path) -> None:
    if network is None:
        draw_graph(graph, out)
    else:
        draw_network(network, graph.name, out)


@click.command("export")
@graph_options
@click.option(
    "--scenario",
    metavar="FILE",
    type=click.Path(dir_okay=False, path_type=Path),
    help="A scenario, whose topology with its switches is exported. Ranks have the lowest numbers.",
)
@allow_files_option
@set_option
@click.option(
    "--format",
    "form",
    type=click.Choice(
        list(dict.fromkeys(["edges", "graphml", "node-link", "dot", *NETWORK_FORMATS, "picture"]))
    ),
    help="edges (the JSON that --edges reads), graphml, node-link (networkx's JSON), dot "
    "(Graphviz), or with the rates of the links: csv, yaml (for `family: graph`), astra-sim, "
    "simai, infragraph. Default: the format of a FILE with a network, edges otherwise.",
)
@out_file_option(
    "The file to write; stdout by default.",
)
def export_command(
    topology: str | None,
    edges: Path | None,
    scenario: Path | None,
    overrides: list[Override],
    form: str | None,
    out: Path | None,
) -> None:
    """Write a topology in a format that other tools read; `cosim topo plot` draws it.

    SPEC is a family with its parameters, such as hypercube:n=1024, or a FILE with a network. With
    --scenario, the topology is that of a scenario, with its switches. A network from a file keeps
    its names and quantities in the formats with rates, as far as these have a place for them."""
    file = named_file(topology) if scenario is None and edges is None else None
    if file is not None:
        topology, scenario = None, file
    if form == "picture":
        warn("`--format picture` is now `cosim topo plot`; use the new command")
        if out is None:
            raise InputError("expected --output FILE for a picture, such as --output graph.svg")
        _draw(*_exported(topology, edges, scenario, overrides), out)
        return
    wanted = form in (None, *NETWORK_FORMATS)
    if scenario is not None and edges is None and topology is None and wanted:
        found = read_network(scenario, overrides)
        form = form or found.form or "edges"
    else:
        found, form = None, form or "edges"
    if found is not None and form in NETWORK_FORMATS:
        text = write_network(found, form)
        for key in omitted_properties(found, form):
            click.echo(f"note: the format {form} has no place for {key}", err=True)
    elif form in NETWORK_FORMATS and form != "graphml":
        raise InputError(f"--format {form}: expected --scenario FILE or a FILE with a network")
    else:
        text = export(_exported(topology, edges, scenario, overrides)[0], form)
    if out is None:
        click.echo(text, nl=False)
    else:
        write_whole(out, text.encode())


def _exported(
    topology: str | None, edges: Path | None, scenario: Path | None, overrides: list[Override]
) -> tuple[Digraph, Network | None]:
    """Return the digraph that the options name, and its network if it has switches."""
    if scenario is None:
        _refuse(overrides)
        return read_graph(edges, topology), None
    if edges is not None or topology is not None:
        raise InputError(
            "expected exactly one topology: either --edges FILE, --scenario FILE or a SPEC"
        )
    found = read_network(scenario, overrides)
    network = found.network
    if found.graph is not None:
        return found.graph, None
    return Digraph(found.name, network.nodes, network.source, network.target), network


@click.command("all-to-all")
@wiring_options
@json_option
def all_to_all_command(links: Links, as_json: bool) -> None:
    """Compute the greatest all-to-all throughput f of a topology.

    f is the bandwidth at which every node can send to every other at the same time, in units of a
    link's bandwidth, or of fastest_bps if links differ; a flow attains it. No flow exceeds f_bound,
    and gap is f_bound / f - 1: 0 if f is exact. distance_bound is a simpler bound, the bandwidth of
    all links over the sum of all distances. f_fraction is f as an exact fraction, if the command
    could prove it. With N nodes of d links and bandwidth B,
    an all-to-all of M bytes takes (M/N)/(f·B/d); `degree` is d, the greatest number of links of a
    node. With --without, `slowdown` compares its time with that on the intact topology, for as much
    data of a node."""
    links.check_direct()
    graph = links.wiring.graph
    answer = all_to_all(graph, links.wiring.rate_bps)
    fraction = answer.fraction
    print_answer(
        {
            "name": graph.name,
            "n": graph.nodes,
            "degree": graph.ports,
            "f": answer.f,
            "f_fraction": None if fraction is None else str(fraction),
            "f_bound": answer.greatest,
            "gap": answer.gap,
            "distance_bound": float(answer.bound),
            "distance_bound_fraction": str(answer.bound),
            **links.fastest_bps,
            **links.all_to_all_slowdown(answer.f),
        },
        as_json,
    )
