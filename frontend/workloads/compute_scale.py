"""`workload.compute_scale`: how much longer ranks compute than a trace says."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Annotated, Any

import numpy as np
from numpy.typing import NDArray
from pydantic import BeforeValidator, Field, PlainSerializer

from frontend.errors import ScenarioError
from frontend.roofline import LONGEST_PS
from frontend.schema.base import Problems

Factor = Annotated[float, Field(ge=0, le=1e6)]


def _numbered(value: Any) -> Any:
    """Let ranks be numbers in YAML and text in JSON, and factors be whole numbers."""
    if isinstance(value, Mapping):
        return {
            int(rank) if isinstance(rank, str) and rank.isdigit() else rank: _numbered(factor)
            for rank, factor in value.items()
        }
    return float(value) if isinstance(value, int) and not isinstance(value, bool) else value


def _written(value: Any) -> Any:
    return (
        {str(rank): factor for rank, factor in value.items()} if isinstance(value, dict) else value
    )


ComputeScale = Annotated[
    Factor | dict[int, Factor],
    BeforeValidator(_numbered),
    PlainSerializer(_written, return_type=Any),
]
"""A factor for all ranks, or a mapping from ranks to factors, for stragglers; the others have 1."""


def scale_problems(scale: ComputeScale, ranks: int) -> Problems:
    """Yield a problem for each rank that does not exist."""
    for rank in scale if isinstance(scale, dict) else ():
        if not 0 <= rank < ranks:
            yield f"workload.compute_scale.{rank}", f"expected a rank from 0 to {ranks - 1}"


def scaled(
    durations: NDArray[np.uint64], unit_ps: int, scale: ComputeScale, rank: int
) -> NDArray[np.uint64]:
    """Return the durations of a rank's nodes in picoseconds.

    Parameters
    ----------
    durations : array of uint64
        Durations in the unit of the trace.
    unit_ps : int
        The unit.
    scale : ComputeScale
        How much longer ranks compute.
    rank : int
        The rank.

    Raises
    ------
    ScenarioError
        If a node would last longer than the simulator accepts.
    """
    factor = scale.get(rank, 1.0) if isinstance(scale, dict) else scale
    if durations.size and int(durations.max()) * unit_ps * factor > LONGEST_PS:
        node = int(np.argmax(durations))
        lasts = int(durations[node]) * unit_ps * factor
        raise ScenarioError(
            f"rank {rank}: node {node} would last {lasts:.3g} ps: expected at most {LONGEST_PS}"
        )
    exact = durations * np.uint64(unit_ps)
    return exact if factor == 1 else np.rint(exact * factor).astype(np.uint64)
