"""`workload.compute_scale`: how much longer ranks compute than a trace says."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Annotated, Any

import numpy as np
from numpy.typing import NDArray
from pydantic import Field, PlainSerializer, PlainValidator

from frontend.errors import ScenarioError
from frontend.roofline import LONGEST_PS
from frontend.schema.base import Problems

_EXPECTED = "expected a factor from 0 to 1000000, or a mapping from ranks to factors"
_LARGEST = 1e6

Scale = float | dict[int, float]


def _parse(value: Any) -> Scale:
    """Return a factor, or the factor of each rank. Ranks are numbers in YAML, and text in JSON."""
    if not isinstance(value, Mapping):
        return _factor(value)
    return {_rank(rank): _factor(factor) for rank, factor in value.items()}


def _factor(value: Any) -> float:
    number = isinstance(value, int | float) and not isinstance(value, bool)
    if not number or not 0 <= value <= _LARGEST:
        raise ValueError(_EXPECTED)
    return float(value)


def _rank(value: Any) -> int:
    if not isinstance(value, bool) and str(value).isdecimal():
        return int(value)
    raise ValueError(_EXPECTED)


def _written(value: Any) -> Any:
    """Return what JSON can hold."""
    if isinstance(value, dict):
        return {str(rank): factor for rank, factor in value.items()}
    return value


_FactorForm = Annotated[float, Field(ge=0, le=_LARGEST)]
ComputeScale = Annotated[
    Scale,
    PlainValidator(_parse, json_schema_input_type=_FactorForm | dict[str, _FactorForm]),
    PlainSerializer(_written, return_type=Any),
]
"""A factor for all ranks, or a mapping from ranks to factors, for stragglers; the others have 1."""


def scale_problems(scale: Scale, ranks: int) -> Problems:
    """Yield a problem for each rank that does not exist."""
    for rank in scale if isinstance(scale, dict) else ():
        if not 0 <= rank < ranks:
            expected = f"rank {rank}: expected ranks from 0 to {ranks - 1}"
            yield "workload.compute_scale", expected


def scaled(
    durations: NDArray[np.uint64], unit_ps: int, scale: Scale, rank: int
) -> NDArray[np.uint64]:
    """Return the durations of a rank's nodes in picoseconds.

    Parameters
    ----------
    durations : array of uint64
        Durations in the unit of the trace.
    unit_ps : int
        The unit.
    scale : float or dict
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
