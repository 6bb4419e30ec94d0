"""``cosim topo traffic``: measure the traffic of a job on TopoOpt's topology."""

from __future__ import annotations

from pathlib import Path

import click

from bridge.cli.demand_options import demand_options, read_demand
from bridge.cli.graph_options import graph_json_option, print_answer
from frontend.loading.overrides import Override

_PLAIN_RATE_BPS = 10**9
"""Bandwidth of the links; the measures do not depend on it."""


@click.command("traffic")
@demand_options
@click.option("--degree", metavar="D", type=int, required=True, help="Ports of a server.")
@click.option(
    "--routes",
    type=int,
    default=1,
    show_default=True,
    help="Number of shortest paths over which the bytes of each model-parallel pair are split.",
)
@click.option(
    "-o",
    "--out",
    "--output",
    "output",
    metavar="PICTURE",
    type=click.Path(dir_okay=False, path_type=Path),
    help="A picture to write; the file extension selects the format, such as .svg or .png.",
)
@graph_json_option
def traffic_command(
    nodes: int | None,
    demand: Path | None,
    scenario: Path | None,
    overrides: list[Override],
    degree: int,
    routes: int,
    output: Path | None,
    as_json: bool,
) -> None:
    """Measure a job's traffic on TopoOpt's topology: matrix, path lengths, links, bandwidth tax.

    Name the job by --n, --demand or --scenario. The bandwidth tax is the number of bytes that
    servers send, including those that they forward, over the number of bytes that the job
    transfers. With --json, a distribution is a list of a value and the fraction of pairs of
    servers, or of links, up to this value."""
    from bridge.present.traffic_picture import plot_traffic
    from topology_gen import direct_connect
    from topology_gen.topoopt import cdf, job_load, path_lengths, topology_finder, traffic_matrix

    job = read_demand(nodes, demand, scenario, overrides)
    topology = topology_finder(job, degree)
    network = direct_connect(topology.graph, _PLAIN_RATE_BPS, 0)
    load = job_load(network, job, topology, routes)
    lengths = path_lengths(network)
    matrix = traffic_matrix(job, topology)
    steps = {"path_length_cdf": list(cdf(lengths)), "link_bytes_cdf": list(cdf(load.link_bytes))}
    most = load.link_bytes.max()
    answer = {
        "name": topology.graph.name,
        "n": job.nodes,
        "degree": degree,
        "bandwidth_tax": load.bandwidth_tax,
        "mean_path_length": float(lengths.mean()),
        "least_over_most_loaded_link": float(load.link_bytes.min() / most) if most else None,
    }
    if output is not None:
        plot_traffic(matrix, steps["path_length_cdf"], steps["link_bytes_cdf"], output)
        click.echo(f"Picture: {output}", err=True)
    if as_json:
        answer |= {"matrix": matrix.tolist(), **steps}
    print_answer(answer, as_json)
