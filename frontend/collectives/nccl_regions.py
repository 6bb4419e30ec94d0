"""The tuner of AWS's plug-in for NCCL: which algorithm and protocol it takes.

In the plane of sizes and numbers of ranks, each with a logarithmic scale, polygons divide the
choices. The first one that has the point, or has it on an edge, counts; without one, NCCL's own
tuner chooses. The polygons here are those for servers of 8 ranks.

Source: aws/aws-ofi-nccl 2daf7d303aa1, `src/tuner/nccl_ofi_regions.cpp`.
"""

from __future__ import annotations

from collections.abc import Sequence
from functools import cache
from itertools import pairwise
from math import log2
from typing import Literal, NamedTuple

Tuner = Literal["p5", "p5en", "p6"]
Point = tuple[float, float]
"""A size in bytes, and a number of ranks."""

GPUS = 8
"""Ranks of a server."""
_MOST: Point = (100 * 2.0**30, 2.0**20)
"""The largest size and the most ranks."""


class Edge(NamedTuple):
    """The end of an edge, through two points, where it leaves the plane."""

    first: Point
    second: Point


class Region(NamedTuple):
    """A polygon.

    Attributes
    ----------
    kind, protocol : str
        The algorithm and the protocol that the tuner takes in it.
    corners : tuple of Point or Edge
        Its corners.
    """

    kind: Literal["tree", "ring", "nvls_tree"]
    protocol: Literal["LL", "LL128", "Simple"]
    corners: tuple[Point | Edge, ...]


_P5 = Edge((402653184, 2048), (402653184, 4096))
_P5_RING = Edge((8053063680, 160), (9663676416, 192))
_P5EN_LL = Edge((196608, 192), (196608, 1024))
_P5EN_LL128 = Edge((129499136, 127), (218103808, 1024))
_P5EN_NVLS = Edge((7516192768, 256), (17179869184, 448))
_P6_LL = Edge((393216, 16), (393216, 1024))
_P6_LL128 = Edge((96993280, 1024), (106430464, 2048))
_P6_NVLS = Edge((10737418240, 512), (34359738368, 1500))

_ALL_REDUCE: dict[Tuner, tuple[Region, ...]] = {
    "p5": (
        Region("tree", "LL128", (
            (0, 16), (31457280, 16), (37748736, 32), (117440512, 64), (301989888, 128),
            (301989888, 256), (335544320, 512), (536870912, 1024), (402653184, 2048),
            (402653184, 4096), _P5, (0, _MOST[1]))),
        Region("nvls_tree", "Simple", ((31457281, 16), (_MOST[0], 16), (31457281, 16))),
        Region("ring", "LL128", (
            (31457280, 17), (1073741824, 17), (2147483648, 64), (2147483648, 128),
            (1342177280, 160), (2147483648, 256), (1074790400, 256), (444596224, 160),
            (301989888, 128), (117440512, 64), (37748736, 32))),
        Region("nvls_tree", "Simple", (
            (2147483648, 128), (6442450944, 128), (8053063680, 160), (9663676416, 192), _P5_RING,
            _P5, (402653184, 4096), (402653184, 2048), (536870912, 1024), (335544320, 512),
            (301989888, 256), (310378496, 160), (444596224, 160), (1074790400, 256),
            (2684354560, 256), (2147483648, 224), (1342177280, 160))),
        Region("ring", "Simple", (
            (1073741824, 17), (_MOST[0], 17), _P5_RING, (9663676416, 192), (8053063680, 160),
            (2684354560, 64), (1610612736, 32))),
    ),
    "p5en": (
        Region("tree", "LL", (
            (0, 16), (196608, 16), (196608, 1024), _P5EN_LL, (0, _MOST[1]))),
        Region("tree", "LL128", (
            _P5EN_LL, (196608, 1024), (196608, 16), (13107200, 16), (129499136, 127),
            (218103808, 1024), _P5EN_LL128)),
        Region("ring", "LL128", (
            (129499136, 127), (13107200, 16), (29884416, 16), (293601280, 32), (589299712, 64),
            (549453824, 128))),
        Region("nvls_tree", "Simple", (
            _P5EN_LL128, (218103808, 1024), (129499136, 127), (549453824, 128), (589299712, 64),
            (293601280, 32), (29884416, 16), (_MOST[0], 16), (509607936, 32), (7516192768, 256),
            (17179869184, 448), _P5EN_NVLS)),
        Region("ring", "Simple", (
            _P5EN_NVLS, (17179869184, 448), (7516192768, 256), (509607936, 32), (_MOST[0], 16))),
    ),
    "p6": (
        Region("tree", "LL", ((0, 16), (393216, 16), _P6_LL, (0, _MOST[1]))),
        Region("tree", "LL128", (
            _P6_LL, (393216, 16), (4718592, 16), (18350080, 32), (40370176, 64), (57147392, 128),
            (72876032, 256), (96993280, 1024), (106430464, 2048), _P6_LL128)),
        Region("ring", "LL128", (
            (90701824, 128), (50855936, 64), (18350080, 32), (133693440, 32), (120061952, 64))),
        Region("nvls_tree", "Simple", (
            _P6_LL128, (106430464, 2048), (96993280, 1024), (72876032, 256), (57147392, 128),
            (40370176, 64), (18350080, 32), (50855936, 64), (90701824, 128), (120061952, 64),
            (133693440, 32), (18350080, 32), (4718592, 16), (_MOST[0], 16), (435159040, 32),
            (1072693248, 64), (10737418240, 512), (34359738368, 1500), _P6_NVLS)),
        Region("ring", "Simple", (
            _P6_NVLS, (10737418240, 512), (1072693248, 64), (435159040, 32), (_MOST[0], 16))),
    ),
}  # fmt: skip

_P5EN_GATHER = (
    Edge((28305408, 768), (33554432, 1024)), Edge((7247754240, 384), (17179865088, 896))
)  # fmt: skip
_P5EN_SCATTER = (
    Edge((7340032, 256), (18874368, 512)), Edge((7247757312, 256), (17179869184, 640))
)  # fmt: skip
_P6_GATHER = (
    Edge((74973184, 1024), (213385216, 2048)), Edge((8321499136, 512), (32212254720, 2048))
)  # fmt: skip
_P6_SCATTER = (
    Edge((73924608, 1024), (209190912, 2048)), Edge((4294967296, 256), (8589934592, 512))
)  # fmt: skip


def _rings(
    ends: tuple[Edge, Edge], first: Sequence[Point], second: Sequence[Point]
) -> tuple[Region, ...]:
    """Return the regions of rings with LL, LL128 and Simple between two lines, by their corners
    from the fewest ranks on."""
    return (
        Region("ring", "LL", ((0, 16), *first, ends[0], (0, _MOST[1]))),
        Region("ring", "LL128", (ends[0], *reversed(first), *second, ends[1])),
        Region("ring", "Simple", (ends[1], *reversed(second), (_MOST[0], 16))),
    )


REGIONS: dict[tuple[Tuner, str], tuple[Region, ...]] = {
    **{(tuner, "all_reduce"): found for tuner, found in _ALL_REDUCE.items()},
    ("p5en", "all_gather"): _rings(
        _P5EN_GATHER,
        ((786432, 16), (4718592, 128), (13630464, 384), (19922944, 512), (28305408, 768),
         (33554432, 1024)),
        ((236978176, 16), (494927872, 32), (956301312, 64), (7247754240, 384),
         (17179865088, 896)),
    ),
    ("p5en", "reduce_scatter"): _rings(
        _P5EN_SCATTER,
        ((786432, 16), (4718592, 128), (7340032, 256), (18874368, 512)),
        ((291504128, 16), (589299712, 32), (2415919104, 128), (7247757312, 256),
         (17179869184, 640)),
    ),
    ("p6", "all_gather"): _rings(
        _P6_GATHER,
        ((786432, 16), (1572864, 32), (2621440, 64), (4718592, 128), (17301504, 256),
         (74973184, 1024), (213385216, 2048)),
        ((198705152, 16), (456130560, 32), (871366656, 64), (8321499136, 512),
         (32212254720, 2048)),
    ),
    ("p6", "reduce_scatter"): _rings(
        _P6_SCATTER,
        ((786432, 16), (1572864, 32), (2621440, 64), (4718592, 128), (17301504, 256),
         (35127296, 512), (73924608, 1024), (209190912, 2048)),
        ((219676672, 16), (508559360, 32), (592445440, 64), (4294967296, 256),
         (8589934592, 512)),
    ),
}  # fmt: skip
"""The polygons of each tuner and operation."""


def chosen(tuner: Tuner, operation: str, size: int, ranks: int) -> Region | None:
    """Return the region of a size and a number of ranks; None if NCCL chooses.

    Parameters
    ----------
    tuner : str
        The servers.
    operation : str
        The operation.
    size : int
        Bytes of the data of a rank, of all blocks together.
    ranks : int
        Number of ranks.

    Examples
    --------
    >>> chosen("p5", "all_reduce", 2**30, 32)[:2]
    ('ring', 'LL128')
    >>> chosen("p5", "all_reduce", 2**31, 32)[:2]
    ('ring', 'Simple')
    >>> chosen("p5", "all_gather", 2**31, 32) is None
    True
    """
    point = _logarithmic((size, ranks))
    regions = REGIONS.get((tuner, operation), ())
    return next((one for one in regions if _has(_polygon(one), point)), None)


def _logarithmic(point: Point) -> Point:
    return log2(max(point[0], 1)), log2(max(point[1], 1))


@cache
def _polygon(region: Region) -> tuple[Point, ...]:
    """Return the corners of a region on the logarithmic scales."""
    return tuple(
        _leaving(one) if isinstance(one, Edge) else _logarithmic(one) for one in region.corners
    )


def _leaving(edge: Edge) -> Point:
    """Return where the line of an edge leaves the plane."""
    (x, y), (other_x, other_y) = _logarithmic(edge.first), _logarithmic(edge.second)
    most_x, most_y = _logarithmic(_MOST)
    if x == other_x:
        return x, most_y
    slope = (y - other_y) / (x - other_x)
    above = other_y + slope * (most_x - other_x)
    return (most_x, above) if above < most_y else (other_x + (most_y - other_y) / slope, most_y)


def _has(polygon: Sequence[Point], point: Point) -> bool:
    """Return whether a polygon has a point, or has it on an edge."""
    x, y = point
    is_inside = False
    for (x0, y0), (x1, y1) in pairwise((*polygon, polygon[0])):
        across = (x1 - x0) * (y - y0) - (y1 - y0) * (x - x0)
        length = max(abs(x1 - x0), abs(y1 - y0))
        within = min(x0, x1) - 1e-9 <= x <= max(x0, x1) + 1e-9
        within = within and min(y0, y1) - 1e-9 <= y <= max(y0, y1) + 1e-9
        if length and within and abs(across) < 1e-9 * length:
            return True
        if (y0 > y) != (y1 > y) and x < x0 + (y - y0) / (y1 - y0) * (x1 - x0):
            is_inside = not is_inside
    return is_inside
