"""Networks of ASTRA-sim's analytical backend: dimensions of rings, switches and full meshes."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Mapping
from math import prod
from typing import Any, NamedTuple

from topology_gen.errors import FileFormatError
from topology_gen.formats.graphs.document import (
    MOST_LINKS,
    GraphDocument,
    LinkEntry,
    NodeEntry,
)

KEYS = ("topology", "npus_count", "bandwidth", "latency")
"""The keys of such a file: lists with one entry for each dimension."""


_GREATEST = 10**12
"""Greatest number of ranks, GB/s or ns."""


class Dimension(NamedTuple):
    """One dimension: what joins the ranks that differ only in it."""

    kind: str
    size: int
    bandwidth: str
    latency: str


def is_dimensions(content: Any) -> bool:
    """Return whether the content of a YAML file is a network of the analytical backend."""
    return isinstance(content, Mapping) and set(KEYS) <= set(content)


def dimensions(content: Mapping[str, Any]) -> list[Dimension]:
    """Return the dimensions of a network. The backend takes a GB/s as 2^30 bytes per second.

    Raises
    ------
    FileFormatError
        The lists differ in length, or an entry is not valid.
    """
    columns = [content[key] if isinstance(content[key], list) else [content[key]] for key in KEYS]
    if not columns[0] or len({len(column) for column in columns}) > 1:
        raise FileFormatError(f"expected {', '.join(KEYS)} with one entry for each dimension")
    found = []
    for kind, count, bandwidth, latency in zip(*columns, strict=True):
        if not isinstance(kind, str) or kind not in _PAIRS:
            raise FileFormatError(f"topology {kind!r:.60}: expected {', '.join(_PAIRS)}")
        numbers = (count, bandwidth, latency)
        known = all(type(one) in (int, float) and abs(one) <= _GREATEST for one in numbers)
        if not known or count // 1 != count or count < 2 or bandwidth <= 0 or latency < 0:
            raise FileFormatError(
                f"dimension {kind}: values {count}, {bandwidth} and {latency}: expected a count of "
                "at least 2, a bandwidth in GB/s and a latency in ns"
            )
        rate = _text(bandwidth, "GiB/s", 2**33, "bps")
        found.append(Dimension(kind, int(count), rate, _text(latency, "ns", 1000, "ps")))
    return found


def read_dimensions(content: Mapping[str, Any], name: str) -> GraphDocument:
    """Return the network of the product of all dimensions.

    Ranks that differ in one dimension only are joined as this dimension says. The first dimension
    changes fastest with the number of the rank, and its links are scale-up links if there are
    more. Ranks pass on what goes to ranks that differ in several dimensions.

    Raises
    ------
    FileFormatError
        As for `dimensions`, or there are too many links.
    """
    parts = dimensions(content)
    ranks = prod(part.size for part in parts)
    count = sum(ranks * _LINKS[part.kind](part.size) // part.size for part in parts)
    if count > MOST_LINKS:
        instead = f"; `family: direct_connect` with `graph: complete:n={ranks}` has no such limit"
        raise FileFormatError(
            f"{count} links: expected at most {MOST_LINKS}"
            + (instead if [part.kind for part in parts] == ["FullyConnected"] else "")
        )
    nodes = [NodeEntry(f"rank{rank}", True) for rank in range(ranks)]
    links: list[LinkEntry] = []
    stride = 1
    for number, part in enumerate(parts):
        up = number == 0 and len(parts) > 1
        for index, first in enumerate(_starts(ranks, stride, part.size)):
            names = [f"rank{first + at * stride}" for at in range(part.size)]
            if part.kind == "Switch":
                nodes.append(NodeEntry(f"switch{number}.{index}", False))
                names.append(nodes[-1].name)
            links += [
                LinkEntry(names[a], names[b], part.bandwidth, part.latency, scale_up=up)
                for a, b in _PAIRS[part.kind](part.size)
            ]
        stride *= part.size
    settings = {"forwarding": "ranks"} if len(parts) > 1 else {}
    return GraphDocument(name, nodes, links, "yaml", settings=settings)


def _starts(ranks: int, stride: int, count: int) -> Iterator[int]:
    """Yield the first rank of each group of ranks that differ in one dimension only."""
    for block in range(0, ranks, stride * count):
        yield from range(block, block + stride)


def _ring(count: int) -> Iterator[tuple[int, int]]:
    """Two ranks have one link, as the backend overwrites the second one between them."""
    yield from ((at, (at + 1) % count) for at in range(count if count > 2 else 1))


def _full(count: int) -> Iterator[tuple[int, int]]:
    yield from ((a, b) for a in range(count) for b in range(a + 1, count))


def _star(count: int) -> Iterator[tuple[int, int]]:
    yield from ((at, count) for at in range(count))


_PAIRS = {"Ring": _ring, "FullyConnected": _full, "Switch": _star}
"""For each kind, the pairs of positions that have a link; the switch comes after the ranks."""

_LINKS: dict[str, Callable[[int], int]] = {
    "Ring": lambda count: count if count > 2 else 1,
    "FullyConnected": lambda count: count * (count - 1) // 2,
    "Switch": lambda count: count,
}
"""For each kind, the number of these pairs."""


def _text(value: float, unit: str, parts: int, smallest: str) -> str:
    """Return a quantity as it is written, or rounded to the smallest unit."""
    small = value * parts
    if not float(small).is_integer():
        return f"{round(small)}{smallest}"
    return f"{int(value) if float(value).is_integer() else value!r}{unit}"
