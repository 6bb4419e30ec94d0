"""The fabrics that a scenario can name: one row each here, one line each in the C++ registry."""

from __future__ import annotations

from dataclasses import dataclass


@dataclass(frozen=True)
class Fabric:
    """A network model: what carries the messages of a run."""

    name: str
    """The name in scenarios and on the command line."""
    description: str
    """A few words, for `cosim list`."""
    is_estimator: bool = False
    """Whether it carries messages as wholes and estimates, instead of simulating packets."""
    fixed_links: str = ""
    """Why links cannot change during a run (`topology.reconfiguration`); empty if they can."""


FABRICS = {
    fabric.name: fabric
    for fabric in (
        Fabric("express", "packets: ns-3's TCP over links modelled as busy-until egress queues"),
        Fabric(
            "native",
            "packets: ns-3's stock devices, IP forwarding and TCP; slow",
            fixed_links="ns-3's PointToPointChannel joins two devices for the whole run, and the "
            "timers of a stock TCP socket cannot stand still while links change",
        ),
        Fabric("flow", "estimate: flows share links max–min fairly", is_estimator=True),
        Fabric(
            "analytical",
            "estimate: whole messages queue one behind the other on each link",
            is_estimator=True,
        ),
    )
}
"""By name, in the order in which they are listed."""

ESTIMATORS = tuple(fabric.name for fabric in FABRICS.values() if fabric.is_estimator)
"""The fabrics that estimate."""

CHANGING = tuple(fabric.name for fabric in FABRICS.values() if not fabric.fixed_links)
"""The fabrics whose links can change during a run."""
