"""Options of collective algorithms that a scenario may give."""

from typing import Annotated, Any, Literal, get_args

from pydantic import BeforeValidator, Field, PlainSerializer, PlainValidator

from frontend.collectives.nccl_plugins import PluginName
from frontend.schema.base import Model, listed
from frontend.schema.quantities import Delay

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

NcclAlgorithms = Annotated[
    tuple[
        Literal["ring", "tree", "nvls", "nvls_tree", "pat", "collnet_direct", "collnet_chain"], ...
    ],
    BeforeValidator(listed),
    PlainSerializer(list, return_type=list[str]),
]
NcclProtocols = Annotated[
    tuple[Literal["LL", "LL128", "Simple"], ...],
    BeforeValidator(listed),
    PlainSerializer(list, return_type=list[str]),
]

NcclVersion = Literal[
    "2.18", "2.19", "2.20", "2.21", "2.22", "2.23", "2.24", "2.25", "2.26", "2.27", "2.28", "2.29",
    "2.30",
]  # fmt: skip

HostFactor = Annotated[float, Field(ge=0.1, le=100)]
"""A number of a host over that of NCCL's tuner."""


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
    nccl_plugin: PluginName | None = None
    """nccl: how NCCL uses the network, with the settings of its vendor: InfiniBand and RoCE
    (verbs), AWS's EFA, or Google's TCPX and TCPXO. null: that of the server."""
    nccl_plugin_tuner: bool = True
    """nccl: whether the plug-in's own tuner chooses, where it has one (p5, p5en and p6 of AWS)."""
    nccl_net_latency: Delay | None = None
    """nccl: latency that the plug-in of the network tells NCCL, by which NCCL chooses. null: that
    of the plug-in, such as 75us for AWS's p5."""
    nccl_net_step: Delay | None = None
    """nccl: what a step between servers takes more than over InfiniBand. null: that of the plug-in,
    such as 19us for AWS's p5; or `nccl_net_latency`, if that is given."""
    nccl_algorithms: NcclAlgorithms = ()
    """nccl: the algorithms that NCCL may take (`NCCL_ALGO`); none: those of the plug-in."""
    nccl_protocols: NcclProtocols = ()
    """nccl: the protocols that NCCL may take (`NCCL_PROTO`); none: those of the plug-in."""
    nccl_version: NcclVersion = "2.30"
    """nccl: the version of NCCL by whose tuner it chooses. Times are those of 2.30."""
    nccl_issue: Delay = Delay.parse("0us")
    """nccl: what it takes a host to issue an operation, beyond what NCCL's tuner has. `cosim
    calibrate` fits these four numbers to a log."""
    nccl_step: HostFactor = 1.0
    """nccl: time of a step over a link, over that of NCCL's tuner."""
    nccl_scale_up: HostFactor = 1.0
    """nccl: rate that the scale-up network reaches, over that of NCCL's tuner."""
    nccl_scale_out: HostFactor = 1.0
    """nccl: rate that NICs reach, over their nominal one."""
    verify: bool = True
    """Algorithms of plug-ins: verify before the run that their programs compute the result of the
    operation. `false` is for programs that are too large for it."""
