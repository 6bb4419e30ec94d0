"""Lists the names that a scenario can use, read from the registries so that no list goes stale."""

from __future__ import annotations

from typing import get_args

from frontend import collectives
from frontend.fabrics import FABRICS
from frontend.schema.transport import Variant
from frontend.topologies import TOPOLOGIES
from frontend.workloads import WORKLOADS


def catalogue() -> dict[str, dict[str, str]]:
    """Return the names that a scenario can choose from, with a description of each.

    Returns
    -------
    dict
        ``topologies``, ``workloads``, ``collectives``, ``transports`` and ``fabrics``; each maps
        names to descriptions, which may be empty.
    """
    return {
        "topologies": {name: family.description for name, family in TOPOLOGIES.items()},
        "workloads": {name: kind.description for name, kind in WORKLOADS.items()},
        "collectives": {
            operation: ", ".join(algorithms)
            for operation, algorithms in collectives.algorithm_names().items()
        },
        "transports": dict.fromkeys(get_args(Variant), ""),
        "fabrics": {fabric.name: fabric.description for fabric in FABRICS.values()},
    }
