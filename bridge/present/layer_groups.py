"""Puts the layers of a result into the few rows that a table or a picture has room for."""

from __future__ import annotations

import re
from collections.abc import Sequence
from dataclasses import dataclass

from bridge.results.measurements import Layer

#: With more layers than this, those whose names differ only in numbers are one row.
MANY_LAYERS = 24


@dataclass(frozen=True)
class LayerGroup:
    """One layer, or several that are alike, with the sums of their times over all iterations."""

    name: str
    """The layer, or what is common to the names with the number of layers, as ``block_* (32)``."""
    compute_ns: float
    """As in `bridge.results.measurements.Layer`; so are the others."""
    raw_comm_ns: float
    exposed_comm_ns: float


def layer_groups(layers: Sequence[Layer]) -> list[LayerGroup]:
    """Return the rows for some layers.

    Parameters
    ----------
    layers : sequence of Layer
        The layers of a result. Those without computation and communication have no row.

    Returns
    -------
    list of LayerGroup
        In the order of the layers. If there are more than `MANY_LAYERS`, layers whose names differ
        only in numbers share a row.
    """
    busy = [one for one in layers if one.compute_ns or one.raw_comm_ns or one.exposed_comm_ns]
    groups: dict[str, list[Layer]] = {}
    for layer in busy:
        name = re.sub(r"\d+", "*", layer.name) if len(busy) > MANY_LAYERS else layer.name
        groups.setdefault(name, []).append(layer)
    return [
        LayerGroup(
            group[0].name if len(group) == 1 else f"{name} ({len(group)})",
            sum(layer.compute_ns for layer in group),
            sum(layer.raw_comm_ns for layer in group),
            sum(layer.exposed_comm_ns for layer in group),
        )
        for name, group in groups.items()
    ]
