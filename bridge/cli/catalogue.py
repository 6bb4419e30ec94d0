"""Lists the names that a scenario can use, read from its schema so that no list goes stale."""

from __future__ import annotations

from typing import Any, get_args

from pydantic import BaseModel

from frontend import collectives
from frontend.fabrics import FABRICS
from frontend.schema.topology import Topology
from frontend.schema.transport import Variant
from frontend.schema.workload import Workload


def catalogue() -> dict[str, dict[str, str]]:
    """Return the names that a scenario can choose from, with a description of each.

    Returns
    -------
    dict
        ``topologies``, ``workloads``, ``collectives``, ``transports`` and ``fabrics``; each maps
        names to descriptions, which may be empty.
    """
    return {
        "topologies": _members(Topology, "family"),
        "workloads": _members(Workload, "kind"),
        "collectives": {
            operation: ", ".join(algorithms)
            for operation, algorithms in collectives.algorithm_names().items()
        },
        "transports": dict.fromkeys(get_args(Variant), ""),
        "fabrics": {fabric.name: fabric.description for fabric in FABRICS.values()},
    }


def _members(union: Any, key: str) -> dict[str, str]:
    """Return the name and the description of every model in a union that `key` discriminates."""
    models: tuple[type[BaseModel], ...] = get_args(get_args(union)[0])
    members = {}
    for model in models:
        field = model.model_fields[key]
        for name in get_args(field.annotation):
            members[name] = field.description or ""
    return members
