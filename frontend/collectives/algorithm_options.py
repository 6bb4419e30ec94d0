"""Options of collective algorithms that a scenario may give."""

from typing import Annotated, Any, Literal, get_args

from pydantic import Field, PlainValidator

from frontend.collectives.nccl_options import NcclOptions
from frontend.schema.base import Model

FlatAlgorithm = Literal["ring", "direct", "dbt", "halving_doubling"]

LevelAlgorithmName = Literal["ring", "direct", "dbt", "halving_doubling", "relay", "binary_tree"]
LEVEL_ALGORITHMS: tuple[str, ...] = get_args(LevelAlgorithmName)
"""The algorithms of a level."""

_MOST_SEGMENTS = 4096  # a program has steps for each segment, so it grows with their number


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
    """Options of the algorithms. Each text begins with the algorithms that use the option.

    A hierarchical all-to-all is direct in both dimensions.
    """

    peer_order: Literal["rotated", "same", "random"] = "rotated"
    """direct: the order of rank i's peers: from rank i+1 on, from rank 0 on, or a random order of
    its own that depends on the seed."""
    segments: Segments = "auto"
    """dbt, trees, nvls, sharp: number of parts of a chunk, which form a pipeline.

    auto: dbt, nvls and sharp: a power of two; twice as many would shorten the collective by at most
    1 %. At most 256 in all chunks of a collective together, but none smaller than 8 KiB. trees: the
    number up to 64 with the least time.
    """
    tree_pairs: Annotated[int, Field(ge=1, le=64)] = 1
    """dbt: pairs of trees with different orders of the ranks, each with an equal part of the data.
    If there are fewer orders, all of them."""
    shard_chunks: Segments = "auto"
    """bfb: number of parts of a rank's shard, which may take different links.

    auto: the number up to 64 with the fewest bytes on the busiest links, headers included; if links
    differ, the least power of two that costs at most 1 % of the time.
    """
    rings: Segments = "auto"
    """multi_ring: number of rings. Their strides form roughly a geometric progression.

    auto: on TopoOpt, all rings through all ranks, in both directions if links are two-way; on other
    topologies, one ring.
    """
    scale_up_algorithm: FlatAlgorithm = "direct"
    """hierarchical and hierarchical_optimal: algorithm inside a super-node."""
    scale_out_algorithm: FlatAlgorithm | None = None
    """hierarchical and hierarchical_optimal: algorithm between super-nodes. null: dbt for an
    all-reduce, ring for a reduce-scatter and an all-gather."""
    tuning: Literal["paths", "nccl"] = "paths"
    """auto: what chooses: the latency and the bandwidth of paths, or the tuner of NCCL. With
    `nccl`, `auto` is the algorithm `nccl` for the operations that it has."""
    nccl: NcclOptions = NcclOptions()
    """nccl: what NCCL uses and may choose, and what it takes hosts."""
    verify: bool = True
    """Algorithms of plug-ins: verify before the run that their programs compute the result of the
    operation. `false` is for programs that are too large for it."""
