"""The topology texts of ASTRA-sim's ns-3 network and of SimAI: nodes are numbers.

ASTRA-sim's first line is `nodes switches links`, SimAI's is `nodes gpus_per_server nvswitches
switches links gpu_type`. The second line has the numbers of the switches, and each further line a
link: `source target rate latency error_rate`.
"""

from __future__ import annotations

import re
from collections.abc import Callable, Iterator, Mapping
from math import prod
from typing import Any, NamedTuple

from topology_gen.errors import FileFormatError
from topology_gen.formats.graphs.document import (
    MOST_LINKS,
    MOST_NODES,
    GraphDocument,
    LinkEntry,
    NodeEntry,
)

_ASTRA_SIM, _SIMAI = 3, 6
_NUMBER = re.compile(r"\d*\.?\d+([eE][+-]?\d+)?|\d+\.")
_MOST_DIGITS = 9
_HEADERS = {
    _ASTRA_SIM: "nodes switches links",
    _SIMAI: "nodes gpus_per_server nvswitches switches links gpu_type",
}


def is_astra_sim(text: str) -> bool:
    """Return whether the first line is the header of one of the two texts."""
    words = text.lstrip().partition("\n")[0].split()
    numbers = list(map(_is_number, words))
    return (len(words) == _ASTRA_SIM and all(numbers)) or (
        len(words) == _SIMAI and all(numbers[:5])
    )


def read_astra_sim(text: str, name: str) -> GraphDocument:
    """Return the network of a topology text of ASTRA-sim or SimAI.

    All links are in both directions. The links of SimAI's NVSwitches are scale-up links. The error
    rate is the probability that a packet is lost.

    Raises
    ------
    FileFormatError
        The text does not have the nodes, switches and links that its header promises.
    """
    lines = [line.split() for line in text.splitlines()]
    lines = [words for words in lines if words]
    header = lines[0]
    simai = len(header) == _SIMAI
    nodes = int(header[0])
    nv_switches = int(header[2]) if simai else 0
    switches = nv_switches + int(header[3]) if simai else int(header[1])
    count = int(header[4] if simai else header[2])
    form = _HEADERS[len(header)]
    # The numbers of the switches may take several lines, and there may be none of them.
    listed: list[str] = []
    at = 1
    while len(listed) < switches and at < len(lines):
        listed += lines[at]
        at += 1
    rows = lines[at:]
    numbers = [int(word) for word in listed if _is_number(word) and int(word) < nodes]
    if len(numbers) != switches or len(set(numbers)) != switches or len(listed) != switches:
        raise FileFormatError(
            f"expected the numbers of {switches} switches, less than {nodes}, after the header "
            f"({form})"
        )
    if len(rows) != count:
        raise FileFormatError(
            f"{len(rows)} lines of links, but the header ({form}) promises {count}"
        )
    if nodes > MOST_NODES:
        raise FileFormatError(f"{nodes} nodes: expected at most {MOST_NODES}")
    nv = set(numbers[:nv_switches])
    is_switch = set(numbers)
    entries = [_link(words, nodes, nv) for words in rows]
    named = [NodeEntry(_name(n, is_switch, nv), n not in is_switch) for n in range(nodes)]
    names = [node.name for node in named]
    links = [e._replace(source=names[int(e.source)], target=names[int(e.target)]) for e in entries]
    hardware = header[-1] if simai else ""
    return GraphDocument(name, named, links, "simai" if simai else "astra-sim", hardware)


def _is_number(word: str) -> bool:
    """Return whether a word is a whole number; one of more digits counts no nodes or links."""
    return len(word) <= _MOST_DIGITS and word.isdecimal()


def _name(number: int, switches: set[int], nv: set[int]) -> str:
    kind = "nvswitch" if number in nv else "switch" if number in switches else "rank"
    return f"{kind}{number}"


def _link(words: list[str], nodes: int, nv: set[int]) -> LinkEntry:
    ends = [int(word) if _is_number(word) else nodes for word in words[:2]]
    known = len(words) in (4, 5) and max(ends) < nodes
    if not known or not _NUMBER.fullmatch((*words, "0")[4]):
        raise FileFormatError(
            f"link {' '.join(words)!r:.60}: expected source target rate latency error_rate, with "
            f"nodes 0 … {nodes - 1}"
        )
    source, target = ends
    loss = words[4] if len(words) > 4 and float(words[4]) else None
    up = source in nv or target in nv
    return LinkEntry(str(source), str(target), words[2], words[3], loss=loss, scale_up=up)


def write_astra_sim(document: GraphDocument) -> str:
    """Return ASTRA-sim's text of a network.

    Raises
    ------
    FileFormatError
        A link is one-way or lacks a rate or a latency, which this text cannot say.
    """
    number = _numbers(document)
    lines = [f"{len(number)} {len(document.switches)} {len(document.links)}"]
    return _text(document, number, lines)


def write_simai(document: GraphDocument) -> str:
    """Return SimAI's text of a network. A switch with only scale-up links is an NVSwitch.

    Raises
    ------
    FileFormatError
        As for `write_astra_sim`.
    """
    out = {end for link in document.links if not link.scale_up for end in link[:2]}
    up = {end for link in document.links if link.scale_up for end in link[:2]} - out
    nv = [name for name in document.switches if name in up]
    order = nv + [name for name in document.switches if name not in up]
    ordered = GraphDocument(
        document.name,
        [*(NodeEntry(n, True) for n in document.ranks), *(NodeEntry(n, False) for n in order)],
        document.links,
    )
    number = _numbers(ordered)
    server = {end for link in document.links if set(nv[:1]) & set(link[:2]) for end in link[:2]}
    gpus = len(server) - 1 if nv else 1
    sizes = len(number), gpus, len(nv), len(order) - len(nv), len(document.links)
    header = " ".join(map(str, (*sizes, document.hardware or "GPU")))
    return _text(ordered, number, [header])


def _numbers(document: GraphDocument) -> dict[str, int]:
    """Return the number of each node: the one at the end of its name if they all fit, else a new
    one."""
    ends = [re.search(r"\d+$", node.name) for node in document.nodes]
    own = [int(end[0]) for end in ends if end]
    if sorted(own) == list(range(len(document.nodes))):
        return {node.name: n for node, n in zip(document.nodes, own, strict=True)}
    names = [*document.ranks, *document.switches]
    return {name: n for n, name in enumerate(names)}


def _text(document: GraphDocument, number: dict[str, int], lines: list[str]) -> str:
    lines.append(" ".join(str(number[name]) for name in document.switches))
    for link in document.links:
        if link.one_way or link.bandwidth is None or link.latency is None:
            raise FileFormatError(
                f"link {link.source} → {link.target}: this format has only links in both "
                "directions, with a rate and a latency"
            )
        ends = f"{number[link.source]} {number[link.target]}"
        lines.append(f"{ends} {link.bandwidth} {link.latency} {link.loss or 0}")
    return "\n".join(lines) + "\n"


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
        rate = _quantity(bandwidth, "GiB/s", 2**33, "bps")
        found.append(Dimension(kind, int(count), rate, _quantity(latency, "ns", 1000, "ps")))
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


def _quantity(value: float, unit: str, parts: int, smallest: str) -> str:
    """Return a quantity as it is written, or rounded to the smallest unit."""
    small = value * parts
    if not float(small).is_integer():
        return f"{round(small)}{smallest}"
    return f"{int(value) if float(value).is_integer() else value!r}{unit}"
