"""The options that name links, with their rates and failures, shared by several commands."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from functools import wraps
from pathlib import Path
from typing import Any

import click

from bridge.cli.graph_options import graph_options, read_json_list
from bridge.cli.options import Quantity, allow_files_option, existing_file
from bridge.errors import InputError
from frontend import units
from frontend.schema import direct_connect as edge_list
from topology_gen import TopologyError, specs
from topology_gen.graphs.wiring import Wiring, uniform
from topology_gen.schedules.all_to_all import all_to_all


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
            show_default=True,
            help="Latency of links that --edges gives none.",
        ),
        click.option(
            "--bandwidth",
            type=Quantity(units.RATE),
            default="100Gbps",
            show_default=True,
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
