"""Reads networks in any format, which the content identifies, and writes them."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from pathlib import PurePath
from typing import Any, NamedTuple

from topology_gen.errors import FileFormatError
from topology_gen.formats.graphs.astra_sim import (
    is_astra_sim,
    is_dimensions,
    read_astra_sim,
    read_dimensions,
    write_astra_sim,
    write_simai,
)
from topology_gen.formats.graphs.csv_table import is_csv, read_csv, write_csv
from topology_gen.formats.graphs.document import GraphDocument
from topology_gen.formats.graphs.graphml import read_graphml, write_graphml
from topology_gen.formats.graphs.htsim import is_htsim, read_htsim
from topology_gen.formats.graphs.infragraph import is_infragraph, read_infragraph, write_infragraph

ACCEPTED = (
    "expected a YAML file with nodes and links, CSV with the columns source and target, GraphML, "
    "a topology text of ASTRA-sim or SimAI, a network of ASTRA-sim's analytical backend, a "
    "fat-tree of htsim, or an infrastructure of InfraGraph"
)


class Writer(NamedTuple):
    """How a format is written, and what of `LinkEntry` and `NodeEntry` it has no place for."""

    write: Callable[[GraphDocument], str]
    omits: tuple[str, ...] = ()


_QUEUES = ("memory", "buffer", "ecn_threshold")

WRITERS: Mapping[str, Writer] = {
    "csv": Writer(write_csv),
    "graphml": Writer(write_graphml),
    "astra-sim": Writer(write_astra_sim, (*_QUEUES, "scale_up")),
    "simai": Writer(write_simai, _QUEUES),
    "infragraph": Writer(write_infragraph, (*_QUEUES, "loss")),
}
"""The formats that can be written, by name."""


def omitted(document: GraphDocument, form: str) -> list[str]:
    """Return what a network has and a format other than YAML has no place for.

    Examples
    --------
    >>> from topology_gen.formats.graphs.document import LinkEntry
    >>> omitted(GraphDocument("one", [], [LinkEntry("a", "b", buffer="1MB")]), "astra-sim")
    ['buffer']
    """
    entries = [*document.nodes, *document.links]
    lost = [key for key in WRITERS[form].omits if any(getattr(o, key, None) for o in entries)]
    return [*lost, *document.settings]


def read(
    content: bytes, name: str, read_yaml: Callable[[str], Any]
) -> GraphDocument | Mapping[str, Any]:
    """Return the network of a file.

    Parameters
    ----------
    content : bytes
        The content of the file.
    name : str
        The name of the file, for a network without a name of its own.
    read_yaml : callable
        Returns the content of a YAML or JSON text; raises ValueError if it is neither.

    Returns
    -------
    GraphDocument or mapping
        The network. A mapping has the form of a scenario's `topology` with its nodes and links.

    Raises
    ------
    FileFormatError
        The content has none of the formats, or is not valid.
    """
    try:
        text = content.decode("utf-8-sig")
    except UnicodeDecodeError:
        raise FileFormatError(ACCEPTED) from None
    stem = PurePath(name).stem
    if text.lstrip().startswith("<"):
        return read_graphml(text, stem)
    if is_astra_sim(text):
        return read_astra_sim(text, stem)
    if is_htsim(text):
        return read_htsim(text, stem)
    if is_csv(text):
        return read_csv(text, stem)
    try:
        document = read_yaml(text)
    except ValueError as error:
        raise FileFormatError(f"{ACCEPTED} ({error})") from None
    if is_infragraph(document):
        return read_infragraph(document, stem)
    if is_dimensions(document):
        return read_dimensions(document, stem)
    if isinstance(document, dict) and isinstance(document.get("topology"), dict):
        document = document["topology"]
    if isinstance(document, dict) and "links" in document:
        return document
    raise FileFormatError(ACCEPTED)
