"""`workload.routing` of language models: how unevenly tokens go to experts."""

from math import isfinite
from typing import Annotated, Any

from pydantic import BeforeValidator, Field, PlainSerializer, ValidationInfo

from frontend.schema.base import Model
from frontend.schema.files import read_json

_ACCEPTED = (
    "expected a number for each expert, or rows of such numbers for each rank of ep, or "
    "{file: loads.json}"
)


def _read_loads(value: Any, info: ValidationInfo) -> Any:
    if value is None:
        return None
    if isinstance(value, dict) and set(value) == {"file"}:
        value = read_json(str(value["file"]), info)
    if not isinstance(value, list | tuple) or not value:
        raise ValueError(_ACCEPTED)
    rows = value if all(isinstance(row, list | tuple) for row in value) else [value]
    for number, row in enumerate(rows):
        for load in row:
            if isinstance(load, bool) or not isinstance(load, int | float):
                raise ValueError(f"row {number} has {load!r}: {_ACCEPTED}")
            if not isfinite(load) or not 0 <= load <= 1e18:
                raise ValueError(f"row {number} has {load!r}: expected numbers from 0 to 1e18")
        if len(row) != len(rows[0]) or not sum(row):
            raise ValueError(
                f"row {number} has {len(row)} numbers with the sum {sum(row)}: expected rows of "
                "equal length, and a sum above 0"
            )
    return tuple(tuple(map(float, row)) for row in rows)


ExpertLoads = Annotated[
    tuple[tuple[float, ...], ...] | None,
    BeforeValidator(_read_loads),
    PlainSerializer(lambda rows: rows and [list(row) for row in rows]),
]


class Routing(Model):
    """How tokens choose experts. All layers and micro-batches route alike."""

    skew: Annotated[float, Field(ge=0, le=10)] = 0.0
    """Popularity of experts by Zipf's law: the k-th most popular one gets tokens in proportion to k
    to the power -skew. 0: all get as many. The ranks of ep have popular experts in turn."""
    loads: ExpertLoads = None
    """Relative numbers of tokens instead: one for each expert, in the order of the ranks, or a row
    of them for each rank of ep, or `{file: …}` with such numbers as JSON."""
