"""What a scenario can name: read from its schema, so that nothing is listed twice."""

from __future__ import annotations

from typing import Any, get_args

from pydantic import BaseModel

from frontend import collectives
from frontend.fabrics import FABRICS
from frontend.schema.topology import Topology
from frontend.schema.transport import Variant
from frontend.schema.workload import Workload


def catalogue() -> dict[str, dict[str, str]]:
    """Give the names that a scenario can choose from, with a description each.

    Returns
    -------
    dict
        Of ``topologies``, ``workloads``, ``collectives``, ``transports`` and ``fabrics``: name to
        description, which may be empty.
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
    """Name and description of every model of a union that is told apart by `key`."""
    models: tuple[type[BaseModel], ...] = get_args(get_args(union)[0])
    members = {}
    for model in models:
        field = model.model_fields[key]
        for name in get_args(field.annotation):
            members[name] = field.description or ""
    return members
