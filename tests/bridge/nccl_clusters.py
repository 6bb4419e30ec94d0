"""All-reduces by `nccl` on servers on rails."""

from __future__ import annotations

from typing import Any

from frontend import Scenario, load_scenario
from frontend.formats.nccl_server import on_rails


def all_reduce(
    size: int,
    servers: int,
    server: Any,
    *,
    changes: dict[str, Any] | None = None,
    workload: dict[str, Any] | None = None,
    **topology: Any,
) -> Scenario:
    """Return the scenario; `changes` are key paths, `workload` and `topology` further keys."""
    own = {"kind": "collective", "operation": "all_reduce", "algorithm": "nccl"}
    work = own | {"bytes": f"{size}B"} | (workload or {})
    content = on_rails("nccl", server, servers, **topology) | {"workload": work}
    return load_scenario(content, changes or {})
