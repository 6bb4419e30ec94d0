"""Networks as CSV: a row for each link, after a row with the names of the columns."""

from __future__ import annotations

import csv
import io
from collections.abc import Iterator

from topology_gen.errors import FileFormatError
from topology_gen.formats.graphs.document import (
    QUANTITIES,
    GraphDocument,
    LinkEntry,
    NodeEntry,
    named_nodes,
)

_ENDS = ("source", "target")
_COLUMNS = (*_ENDS, *QUANTITIES, "dimension", "one_way")
_YES, _NO = ("yes", "true", "1"), ("", "no", "false", "0")
_NODE = "node"
"""First word of a row that declares a node: node,NAME,rank or node,NAME,switch,MEMORY."""


def is_csv(text: str) -> bool:
    """Return whether the first row has the names of the columns."""
    first = [cell.strip().lower() for cell in text.lstrip().partition("\n")[0].split(",")]
    return set(_ENDS) <= set(first)


def read_csv(text: str, name: str) -> GraphDocument:
    """Return the network of a CSV file.

    Columns: source and target, then in any order bandwidth, latency, buffer, ecn_threshold, loss,
    dimension (scale_up or scale_out) and one_way (yes or no). A row `node,NAME,rank` or
    `node,NAME,switch` gives the type of a node, and a fourth cell its packet memory; other nodes
    are ranks or switches by their name.

    Raises
    ------
    FileFormatError
        A row has another number of columns, or a column is unknown; the error has the line.
    """
    rows = _rows(text)
    columns = [cell.lower() for cell in next(rows)[1]]
    for column in columns:
        if column not in _COLUMNS:
            raise FileFormatError(f"column {column!r}: expected one of {', '.join(_COLUMNS)}")
    nodes: list[NodeEntry] = []
    links: list[LinkEntry] = []
    for line, cells in rows:
        if not any(cells) or cells[0].startswith("#"):
            continue
        if cells[0] == _NODE and len(cells) >= 3 and cells[2] in ("rank", "switch"):
            memory = cells[3] if len(cells) > 3 and cells[3] else None
            nodes.append(NodeEntry(cells[1], cells[2] == "rank", memory))
            continue
        if len(cells) != len(columns):
            raise FileFormatError(
                f"line {line}: {len(cells)} columns, but the first line names {len(columns)}"
            )
        links.append(_link(dict(zip(columns, cells, strict=True)), line))
    declared = {node.name for node in nodes}
    nodes += [node for node in named_nodes(links) if node.name not in declared]
    return GraphDocument(name, nodes, links, "csv")


def _rows(text: str) -> Iterator[tuple[int, list[str]]]:
    """Yield the line and the cells of each row."""
    rows = csv.reader(io.StringIO(text.strip(), newline=None), skipinitialspace=True)
    try:
        for row in rows:
            yield rows.line_num, [cell.strip() for cell in row]
    except csv.Error as error:
        raise FileFormatError(f"line {rows.line_num}: {error}") from None


def _link(cells: dict[str, str], line: int) -> LinkEntry:
    dimension = cells.get("dimension", "").lower()
    if dimension not in ("", "scale_up", "scale_out"):
        raise FileFormatError(f"line {line}: dimension {dimension!r}: expected scale_up, scale_out")
    one_way = cells.get("one_way", "").lower()
    if one_way not in _YES + _NO:
        raise FileFormatError(f"line {line}: one_way {one_way!r}: expected yes or no")
    given = {key: cells.get(key) or None for key in QUANTITIES}
    return LinkEntry(
        cells["source"],
        cells["target"],
        **given,
        scale_up=dimension == "scale_up",
        one_way=one_way in _YES,
    )


def write_csv(document: GraphDocument) -> str:
    """Return the text of a network; columns that no link uses are left out."""
    used = [column for column in QUANTITIES if any(getattr(o, column) for o in document.links)]
    dimensions = any(link.scale_up for link in document.links)
    directions = any(link.one_way for link in document.links)
    buffer = io.StringIO()
    rows = csv.writer(buffer, lineterminator="\n")
    tail = ["dimension"] * dimensions + ["one_way"] * directions
    rows.writerow([*_ENDS, *used, *tail])
    if document.nodes != named_nodes(document.links):
        for node in document.nodes:
            kind = "rank" if node.is_rank else "switch"
            rows.writerow([_NODE, node.name, kind, *([node.memory] if node.memory else [])])
    for link in document.links:
        last = ["scale_up" if link.scale_up else "scale_out"] * dimensions
        last += ["yes" if link.one_way else "no"] * directions
        rows.writerow([*link[:2], *(getattr(link, column) or "" for column in used), *last])
    return buffer.getvalue()
