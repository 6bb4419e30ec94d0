"""What a scenario can name, from the registries and the schema: nothing is listed twice."""

from __future__ import annotations

from typing import get_args

from frontend import Scenario, collectives
from frontend.schema.transport import Variant
from frontend.topologies import TOPOLOGIES
from frontend.workloads import WORKLOADS


def catalogue() -> dict[str, dict[str, str]]:
    """Give the names that a scenario can choose from, with a description each.

    Returns
    -------
    dict
        Of ``topologies``, ``workloads``, ``collectives``, ``transports`` and ``fabrics``: name to
        description, which may be empty.
    """
    fabrics = get_args(Scenario.model_fields["fabric"].annotation)
    return {
        "topologies": {name: family.description for name, family in TOPOLOGIES.items()},
        "workloads": {name: kind.description for name, kind in WORKLOADS.items()},
        "collectives": {
            operation: ", ".join(algorithms)
            for operation, algorithms in collectives.algorithm_names().items()
        },
        "transports": dict.fromkeys(get_args(Variant), ""),
        "fabrics": dict.fromkeys(fabrics, ""),
    }
