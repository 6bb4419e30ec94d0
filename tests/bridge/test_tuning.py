"""`tuning: nccl`: the algorithm `auto` leaves the choice to NCCL's tuner."""

from __future__ import annotations

from typing import Any

import pytest

import bridge
from frontend.collectives.registry import OPERATIONS
from frontend.formats.nccl_server import on_rails


def run(operation: str, algorithm: str, **options: Any) -> bridge.Result:
    work = {"kind": "collective", "operation": operation, "algorithm": algorithm, **options}
    if operation != "barrier":
        work["bytes"] = "64MB"
    return bridge.run(on_rails("tuned", {"model": "hgx_h100"}, 2) | {"workload": work})


@pytest.mark.parametrize("operation", OPERATIONS)
def test_auto_is_nccl_where_nccl_has_the_operation(operation: str) -> None:
    tuned = run(operation, "auto", tuning="nccl")
    (found,) = tuned.collectives
    if operation in ("gather", "scatter", "barrier"):
        same = run(operation, "auto")
    else:
        same = run(operation, "nccl")
        assert (found.choice or "").startswith("Algo ")
    assert tuned.time_ns == same.time_ns
    assert (found.algorithm, found.choice) == (
        same.collectives[0].algorithm,
        same.collectives[0].choice,
    )
