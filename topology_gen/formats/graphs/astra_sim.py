"""The topology texts of ASTRA-sim's ns-3 network and of SimAI: nodes are numbers.

ASTRA-sim's first line is `nodes switches links`, SimAI's is `nodes gpus_per_server nvswitches
switches links gpu_type`. The second line has the numbers of the switches, and each further line a
link: `source target rate latency error_rate`.
"""

from __future__ import annotations

import re

from topology_gen.errors import FileFormatError
from topology_gen.formats.graphs.document import MOST_NODES, GraphDocument, LinkEntry, NodeEntry

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
