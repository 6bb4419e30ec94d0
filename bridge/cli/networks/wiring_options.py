"""The options that name links, with their rates and failures, shared by several commands."""

from __future__ import annotations

import json
from collections.abc import Callable
from dataclasses import dataclass
from functools import wraps
from pathlib import Path
from typing import Any, TypeVar, cast

import click

from bridge.cli.options import Quantity, allow_files_option, existing_file
from bridge.errors import InputError
from frontend import units
from frontend.schema import direct_connect as edge_list
from topology_gen import TopologyError, specs
from topology_gen.files import read_bytes
from topology_gen.graphs.digraph import Digraph, from_edges
from topology_gen.graphs.wiring import Wiring, uniform
from topology_gen.schedules.all_to_all import all_to_all

F = TypeVar("F", bound=Callable[..., Any])

_spec_argument = click.argument("spec", metavar="[SPEC]", required=False)

_topology_option = click.option(
    "--topology",
    metavar="SPEC",
    help="The SPEC as an option: a family of topologies with its parameters, such as "
    "hypercube:n=1024; `cosim topo list` shows all families.",
)

_edges_option = click.option(
    "--edges",
    metavar="FILE",
    type=existing_file,
    help="Instead of SPEC: a JSON file with a list of directed [from, to] pairs, one for each "
    "link; parallel links and self-loops are allowed. A rate and a latency may follow: "
    '[0, 1, "50Gbps", "2us"].',
)


def graph_options(command: F) -> F:
    """Add SPEC, --topology and --edges to a command, which gets `topology` and `edges`."""

    @_spec_argument
    @_topology_option
    @_edges_option
    @wraps(command)
    def with_one_topology(*, spec: str | None, topology: str | None, **others: Any) -> Any:
        if spec is not None and topology is not None:
            raise InputError(f"--topology {topology}: expected either this option or {spec}")
        return command(topology=spec if topology is None else topology, **others)

    return cast(F, with_one_topology)


def read_graph(edges: Path | None, topology: str | None) -> Digraph:
    """Return the digraph that the options name.

    Parameters
    ----------
    edges : Path or None
        A JSON file with a list of directed pairs.
    topology : str or None
        ``family:key=value,…``.

    Raises
    ------
    InputError
        Not exactly one of the two is given, or the file does not hold such a list.
    TopologyError
        The specification is not valid.
    """
    if topology is not None and edges is None:
        return specs.parse(topology)
    if edges is None or topology is not None:
        raise InputError(
            "expected exactly one topology: either --edges FILE or a SPEC such as hypercube:n=1024"
        )
    try:
        return from_edges([_pair(entry) for entry in read_json_list(edges)], name=edges.name)
    except TopologyError as error:
        raise InputError(f"{edges}: {error}") from None


def read_json_list(path: Path) -> list[Any]:
    """Return the list in a JSON file; raise InputError if it is none."""
    try:
        content = json.loads(read_bytes(path))
    except (OSError, ValueError, RecursionError) as error:
        raise InputError(f"{path}: not a JSON file ({error})") from None
    if not isinstance(content, list):
        raise InputError(
            f"{path}: expected a JSON list of directed pairs, such as [[0, 1], [1, 0]]"
        )
    return content


def _pair(entry: Any) -> Any:
    """Return a link without the rate and latency that may follow, which are text with a unit."""
    more = entry[2:] if isinstance(entry, list) else []
    is_link = 1 <= len(more) <= 2 and all(isinstance(one, str) for one in more)
    return entry[:2] if is_link else entry


@dataclass(frozen=True)
class Links:
    """The links that the options name.

    Attributes
    ----------
    intact : Wiring
        The links before the failures.
    wiring : Wiring
        The links that are left.
    without : tuple of str
        The failures.
    """

    intact: Wiring
    wiring: Wiring
    without: tuple[str, ...]

    def check_direct(self) -> None:
        """Raise InputError if there are switches."""
        if self.intact.switches:
            raise InputError(
                f"{self.intact.name} has {self.intact.switches} switches: expected only links "
                "between ranks for an all-to-all"
            )

    @property
    def fastest_bps(self) -> dict[str, int]:
        """The rate of the fastest link, if links differ; else an empty dictionary."""
        rates = self.wiring.rate_bps
        return {"fastest_bps": int(rates.max())} if rates.min() < rates.max() else {}

    def all_to_all_slowdown(self, f: float) -> dict[str, float]:
        """Return what the failures cost an all-to-all; an empty dictionary without failures.

        Parameters
        ----------
        f : float
            The throughput with the failures.
        """
        if not self.without:
            return {}
        intact, wiring = self.intact, self.wiring
        before = all_to_all(intact.graph, intact.rate_bps).f
        # Both are in units of the fastest link, which may have failed.
        faster = before * int(intact.rate_bps.max()) / (f * int(wiring.rate_bps.max()))
        return {"f_intact": before, "slowdown": intact.ranks * faster / wiring.ranks}


def wiring_options(command: Callable[..., None]) -> Callable[..., None]:
    """Add the options to a command, which gets a `Links` as its first argument, `links`."""

    @wraps(command)
    def with_links(
        edges: Path | None,
        topology: str | None,
        scenario: Path | None,
        bandwidth: int,
        latency: int,
        without: tuple[str, ...],
        **others: Any,
    ) -> None:
        intact = _read(edges, topology, scenario, bandwidth, latency)
        command(links=Links(intact, intact.without(without), without), **others)

    for option in (
        click.option(
            "--without",
            metavar="LINK",
            multiple=True,
            help="What has failed: 3-7 (the links between nodes 3 and 7 in both directions), 3>7 "
            "(those from 3 to 7) or 3 (node 3 with its links; later nodes move up by one number). "
            "Can be repeated.",
        ),
        click.option(
            "--latency",
            type=Quantity(units.TIME),
            default="0ns",
            help="Latency of links that --edges gives none.",
        ),
        click.option(
            "--bandwidth",
            type=Quantity(units.RATE),
            default="100Gbps",
            help="Rate of links that --edges gives none.",
        ),
        click.option(
            "--scenario",
            metavar="FILE",
            type=existing_file,
            help="A scenario whose topology is used, with its rates, latencies and switches.",
        ),
        allow_files_option,
    ):
        with_links = option(with_links)
    return graph_options(with_links)


def _read(
    edges: Path | None, topology: str | None, scenario: Path | None, rate_bps: int, latency_ps: int
) -> Wiring:
    """Return the links of the one source that is given."""
    if sum(source is not None for source in (edges, topology, scenario)) != 1:
        raise InputError(
            "expected exactly one topology: --edges FILE, --scenario FILE or a SPEC such as "
            "hypercube:n=1024"
        )
    if topology is not None:
        return uniform(specs.parse(topology), rate_bps, latency_ps)
    if edges is not None:
        content = read_json_list(edges)
        try:
            return edge_list.wiring(
                edge_list.parsed(content), rate_bps, latency_ps, name=edges.name
            )
        except (TopologyError, ValueError) as error:
            raise InputError(f"{edges}: {error}") from None
    # Here, because most commands name no scenario, and the imports take 0.3 s.
    from frontend import load_scenario
    from frontend.resolve import resolve

    assert scenario is not None
    wiring = resolve(load_scenario(scenario)).layout.wiring
    if wiring is None:
        raise InputError(f"{scenario}: topology.family: expected direct_connect or boxes")
    return wiring
