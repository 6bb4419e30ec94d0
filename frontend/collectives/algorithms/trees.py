"""Pipelined spanning trees over links of any rate and over switches, at the greatest throughput.

Each rank's data goes over several spanning trees in segments. All trees together fill the links
that limit the collective, whose rate is the greatest possible.

Source: L. Zhao et al., "ForestColl: throughput-optimal collective communications on heterogeneous
network fabrics", arXiv 2402.06787.
"""

from __future__ import annotations

from collections.abc import Callable
from functools import partial
from typing import Any

from frontend.collectives.program.errors import CollectiveError
from frontend.collectives.program.program import Program
from frontend.collectives.program.scheduled import scheduled
from frontend.collectives.registry import ROOTED, Algorithm
from frontend.collectives.setting import Setting
from frontend.topologies.layout import WIRING
from topology_gen import TopologyError
from topology_gen.graphs.wiring import Wiring
from topology_gen.networks.direct_connect import route_numbers
from topology_gen.schedules.tree_collectives import Operation, tree_collective

MOST_SEGMENTS = 64
"""Largest number of segments that is chosen without a given number."""


def _program(
    operation: Operation,
    group_size: int,
    *,
    wiring: Wiring,
    chunk_bytes: int = 0,
    header_bytes: int = 0,
    segments: int | None = None,
    dimension: str = "scale_out",
    root: int | None = None,
) -> Program:
    if wiring.ranks != group_size:
        raise CollectiveError(
            f"trees: {wiring.name} has {wiring.ranks} ranks: expected {group_size}, the number of "
            "members of the group"
        )
    try:
        made = tree_collective(wiring, operation, root)
        number = segments or min(made.best_segments(chunk_bytes, header_bytes), MOST_SEGMENTS)
        reducing, spreading = made.parts(number)
        route = route_numbers(made.wiring, made.graph, made.paths)
    except TopologyError as error:
        raise CollectiveError(f"trees: {error}") from None
    return scheduled(
        "trees",
        operation,
        scatter=reducing,
        gather=spreading,
        dimension=dimension,
        route=route,
        ahead=1,
    )


def _rootless(operation: Operation) -> Callable[..., Program]:
    def build(
        group_size: int,
        *,
        wiring: Wiring,
        chunk_bytes: int = 0,
        header_bytes: int = 0,
        segments: int | None = None,
        dimension: str = "scale_out",
    ) -> Program:
        return _program(
            operation,
            group_size,
            wiring=wiring,
            chunk_bytes=chunk_bytes,
            header_bytes=header_bytes,
            segments=segments,
            dimension=dimension,
        )

    return build


def _choose(setting: Setting) -> dict[str, Any]:
    chosen = {
        "dimension": "scale_out",
        "wiring": setting.layout.wiring,
        "chunk_bytes": setting.chunk_bytes,
        "header_bytes": setting.header_bytes,
    }
    if setting.operation in ROOTED:
        chosen["root"] = setting.root
    if setting.given.segments != "auto":
        chosen["segments"] = setting.given.segments
    return chosen


ALGORITHM = Algorithm(
    "trees",
    "pipelined spanning trees over links of any rate, at the greatest throughput",
    {
        "all_reduce": _rootless("all_reduce"),
        "reduce_scatter": _rootless("reduce_scatter"),
        "all_gather": _rootless("all_gather"),
        "broadcast": partial(_program, "broadcast"),
        "reduce": partial(_program, "reduce"),
    },
    needs=frozenset({WIRING}),
    choose=_choose,
)
