"""The options of collective algorithms that a scenario may give."""

from typing import Annotated, Any, Literal

from pydantic import Field, PlainValidator

from frontend.schema.base import Model

FlatAlgorithm = Literal["ring", "direct", "dbt", "halving_doubling"]

_MOST_SEGMENTS = 4096  # a program holds steps for each


def _auto_or_number(value: Any) -> Any:
    whole = isinstance(value, int) and not isinstance(value, bool)
    if value != "auto" and not (whole and 1 <= value <= _MOST_SEGMENTS):
        raise ValueError(f"expected auto or a whole number from 1 to {_MOST_SEGMENTS}")
    return value


_SegmentsForm = Literal["auto"] | Annotated[int, Field(ge=1, le=_MOST_SEGMENTS)]
Segments = Annotated[
    Literal["auto"] | int, PlainValidator(_auto_or_number, json_schema_input_type=_SegmentsForm)
]


class AlgorithmOptions(Model):
    """Options of the algorithms; each is used by the algorithms that its text names.

    Hierarchical all-to-all is direct in both dimensions.
    """

    peer_order: Literal["rotated", "same", "random"] = "rotated"
    """direct: whom rank i sends to first: rank i+1, rank 0, or a seeded shuffle of its own."""
    segments: Segments = "auto"
    """dbt: parts of a chunk that follow each other through the trees.

    auto: 256 over all chunks of a collective, but none below 8 KiB.
    """
    shard_chunks: Segments = "auto"
    """bfb: parts of a rank's shard, which may take different links.

    auto: the number up to 64 with the least bytes on the busiest links, headers included.
    """
    rings: Segments = "auto"
    """multi_ring: number of rings, whose strides are in about geometric progression.

    auto: on TopoOpt, the rings that go through all ranks, both ways if links do; else one.
    """
    scale_up_algorithm: FlatAlgorithm = "direct"
    """hierarchical* all-reduce: algorithm inside a super-node."""
    scale_out_algorithm: FlatAlgorithm = "dbt"
    """hierarchical* all-reduce: algorithm between super-nodes."""
