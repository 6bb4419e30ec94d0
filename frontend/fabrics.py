"""Fabrics that a scenario can select.

Each fabric has one row here and one line in the C++ registry.
"""

from __future__ import annotations

from dataclasses import dataclass


@dataclass(frozen=True)
class Fabric:
    """A network model that carries the messages of a run."""

    name: str
    """Name in scenarios and on the command line."""
    description: str
    """A few words for `cosim list`."""
    is_estimator: bool = False
    """Whether the fabric estimates times of whole messages instead of simulating packets."""
    fixed_links: str = ""
    """Why links cannot change during a run (`topology.reconfiguration`, and events that change
    links); empty if they can."""
    can_lose: bool = True
    """Whether links can lose packets at random (`loss`)."""
    has_classes: bool = False
    """Whether links serve traffic classes one after another (`jobs.0.traffic_class`)."""


FABRICS = {
    fabric.name: fabric
    for fabric in (
        Fabric(
            "express",
            "packets: ns-3's TCP over links modelled as busy-until egress queues",
            has_classes=True,
        ),
        Fabric(
            "native",
            "packets: ns-3's stock devices, IP forwarding and TCP; slow",
            fixed_links="ns-3's PointToPointChannel joins two devices for the whole run, and the "
            "timers of a stock TCP socket cannot stand still while links change",
            can_lose=False,
        ),
        Fabric(
            "flow",
            "estimate: flows share links max–min fairly",
            is_estimator=True,
            has_classes=True,
        ),
        Fabric(
            "analytical",
            "estimate: whole messages queue one after another on each link",
            is_estimator=True,
            fixed_links="analytical books a message on a link as a whole, so no part of it has "
            "arrived when the link changes",
        ),
    )
}
"""Fabrics by name, in the order in which `cosim list` prints them."""

ESTIMATORS = tuple(fabric.name for fabric in FABRICS.values() if fabric.is_estimator)
"""Names of the fabrics that estimate instead of simulating packets."""

CHANGING = tuple(fabric.name for fabric in FABRICS.values() if not fabric.fixed_links)
"""Names of the fabrics whose links can change during a run."""

LOSING = tuple(fabric.name for fabric in FABRICS.values() if fabric.can_lose)
"""Names of the fabrics whose links can lose packets at random."""

CLASSED = tuple(fabric.name for fabric in FABRICS.values() if fabric.has_classes)
"""Names of the fabrics whose links serve traffic classes one after another."""
