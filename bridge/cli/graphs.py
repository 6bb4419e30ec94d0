"""``cosim topo list``, ``show``, ``plot``, ``export`` and ``all-to-all``: graphs and networks."""

from __future__ import annotations

import json
from pathlib import Path

import click
from rich import box
from rich.table import Table
from rich.text import Text

from bridge.cli.console import output, print_answer
from bridge.cli.graph_options import graph_options, read_graph
from bridge.cli.network_options import (
    NETWORK_FORMATS,
    named_file,
    network_answer,
    omitted_properties,
    read_network,
    write_network,
)
from bridge.cli.options import allow_files_option, json_option, out_file_option, set_option
from bridge.cli.wiring_options import Links, wiring_options
from bridge.errors import InputError
from bridge.files import write_whole
from bridge.present.graph_picture import draw_graph, draw_network
from frontend.loading.overrides import Override
from topology_gen.graphs.digraph import Digraph
from topology_gen.graphs.export import export
from topology_gen.networks.network import Network
from topology_gen.schedules.all_to_all import all_to_all
from topology_gen.schedules.bfb import moore_steps
from topology_gen.specs import FAMILIES, example


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
@json_option
def show_command(
    topology: str | None, edges: Path | None, overrides: list[Override], as_json: bool
) -> None:
    """Show the size, the degree and the distances of a topology.

    SPEC is a family with its parameters, such as hypercube:n=1024, or a FILE: a scenario, or a
    network as YAML, CSV, GraphML, ASTRA-sim's or SimAI's text, or InfraGraph."""
    file = named_file(topology) if edges is None else None
    if file is not None:
        print_answer(network_answer(read_network(file, overrides)), as_json)
        return
    _refuse(overrides)
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
        list(dict.fromkeys(["edges", "graphml", "node-link", "dot", "picture", *NETWORK_FORMATS]))
    ),
    help="edges (the JSON that --edges reads), graphml, node-link (networkx's JSON), dot "
    "(Graphviz), picture (the extension of --output selects its format, such as .svg or .png), or "
    "with the rates of the links: csv, yaml (for `family: graph`), astra-sim, simai, infragraph. "
    "Default: the format of a FILE with a network, edges otherwise.",
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
    """Write a topology in a format that other tools read, or draw it.

    SPEC is a family with its parameters, such as hypercube:n=1024, or a FILE with a network. With
    --scenario, the topology is that of a scenario, with its switches. A network from a file keeps
    its names and quantities in the formats with rates, as far as these have a place for them."""
    file = named_file(topology) if scenario is None and edges is None else None
    if file is not None:
        topology, scenario = None, file
    if form == "picture":
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
