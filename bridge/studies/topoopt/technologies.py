"""Optical switching technologies and clusters of racks (Section 3, Table 1, Appendix B)."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Mapping
from typing import NamedTuple

from bridge.present.quantities import time_text
from bridge.studies.framework import Experiment, Figure, Finding, Results, Scale
from topology_gen.cost import OCS_PORT, PATCH_PANEL_PORT

FIGURE = Figure("Table 1")


class Technology(NamedTuple):
    """A row of Table 1: ports, time to change links [ns], and dollars a port (None: not sold)."""

    ports: int
    latency_ns: float
    port_cost: float | None


#: "Minutes" is the time in `scenarios/topoopt_cluster.yaml`.
PATCH_PANEL, MEMS = "optical patch panel", "3D MEMS"
TECHNOLOGIES = {
    PATCH_PANEL: Technology(1008, 120e9, PATCH_PANEL_PORT),
    MEMS: Technology(384, 10e6, OCS_PORT),
    "2D MEMS": Technology(300, 11.5e3, None),
    "silicon photonics": Technology(256, 900, None),
    "tunable lasers": Technology(128, 3.8, None),
    "RotorNet": Technology(64, 10e3, None),
}
#: Servers below a top-of-rack switch, and uplinks of the switch to each optical switch.
RACK, UPLINKS = 32, 4


def evaluate(results: Results, scale: Scale) -> Iterator[Finding]:
    """Compare the technologies, and how far a cluster grows with each."""
    panel, mems = TECHNOLOGIES[PATCH_PANEL], TECHNOLOGIES[MEMS]
    for text, paper, ours in (
        (
            "Price of a port of an OCS over one of a patch panel (“five times”).",
            5,
            OCS_PORT / PATCH_PANEL_PORT,
        ),
        (
            "Ports of a patch panel over those of an OCS (“three times”).",
            3,
            panel.ports / mems.ports,
        ),
        (
            "Time to change links of a patch panel over an OCS's (“four orders of magnitude”).",
            1e4,
            panel.latency_ns / mems.latency_ns,
        ),
    ):
        yield FIGURE.times(text, paper, ours, basis="input")
    yield FIGURE.untested(
        "Insertion loss of the technologies.",
        "links here are ideal: there is no optical power budget",
    )
    yield FIGURE.untested(
        "Servers under top-of-rack switches, which optical switches link, scale further.",
        "the paper gives no design or number; the table counts the servers for which ports "
        "suffice, and a simulation has servers with optical links of their own",
    )
    columns: Mapping[str, Callable[[Technology], object]] = {
        "ports": lambda one: one.ports,
        "time to change": lambda one: time_text(one.latency_ns),
        "a port": lambda one: "" if one.port_cost is None else f"${one.port_cost:g}",
        "servers, directly": lambda one: one.ports,
        f"servers in racks of {RACK}": lambda one: one.ports // UPLINKS * RACK,
    }
    title = "Optical switches, and the size of a cluster"
    yield FIGURE.listing(title, "technology", TECHNOLOGIES, columns)


NOTES = f"""\
With d flat optical switches, every server takes one port of each, so a cluster has at most as many
servers as a switch has ports. In racks of {RACK} servers, a top-of-rack switch takes {UPLINKS}
ports of each optical switch instead. Look-ahead ports need a second set of patch panels, not larger
ones.
"""

EXPERIMENT = Experiment(
    "Optical switches (Section 3, Table 1, Appendix B)", (FIGURE,), evaluate, notes=NOTES
)
