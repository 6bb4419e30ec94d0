"""Graphs that were topology families of their own, such as `{family: kautz, d: 4, k: 3}`."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from typing import Any, NamedTuple

from topology_gen import specs

FAMILY = "direct_connect"

LINKS = ("edges", "file")
"""Keys of the family `edges`, whose value `graph` takes."""

_PARAMETERS = {key for family in specs.FAMILIES.values() for key in family.parameters}


def _numbers(separator: str) -> Callable[[Any], str]:
    return lambda value: separator.join(map(str, value))


def _permutation(images: Any) -> str:
    return ".".join(map(str, images))


_WRITTEN: Mapping[specs.Parser, Callable[[Any], str]] = {
    specs.LENGTHS: _numbers("x"),
    specs.OFFSETS: _numbers("+"),
    specs.PERMUTATIONS: lambda value: "+".join(map(_permutation, value)),
    specs.ARCS: lambda value: "+".join(
        "/".join(f"{node}>{_permutation(images)}" for node, images in row) for row in value
    ),
    specs.BASE: lambda value: f"[{value}]",
    specs.BASES: lambda value: "+".join(f"[{text}]" for text in value),
}
"""How a specification writes the value of a key."""


class GraphKeys(NamedTuple):
    """What a topology has instead of keys of the version before."""

    gone: tuple[str, ...]
    """The old keys beside `family`."""
    new: dict[str, Any]
    """The new keys: `family`, and `graph` if a graph is known."""

    @property
    def text(self) -> str | None:
        """The graph if it is a text."""
        graph = self.new.get("graph")
        return graph if isinstance(graph, str) else None


def graph_keys(topology: Any) -> GraphKeys | None:
    """Return what a topology has instead of old keys; None if it has none."""
    family = topology.get("family") if isinstance(topology, Mapping) else None
    if not isinstance(family, str) or family not in (*specs.FAMILIES, "edges", FAMILY):
        return None
    links = tuple(key for key in LINKS if key in topology)
    gone = tuple(key for key in topology if key in _PARAMETERS)
    if links and family not in specs.FAMILIES:
        return GraphKeys(links[:1], {"family": FAMILY, "graph": topology[links[0]]})
    if family == "edges":
        return GraphKeys((), {"family": FAMILY})
    if family == FAMILY and not gone:
        return None
    name, values = _parts(topology.get("graph"))
    name = name if family == FAMILY else family
    given = {key: topology[key] for key in gone if topology[key] is not None}
    parameters = specs.FAMILIES[name].parameters if name in specs.FAMILIES else {}
    for key, value in given.items():
        values[key] = _written(parameters.get(key), value)
    ordered = sorted(values, key=lambda key: [*parameters, *values].index(key))
    text = ",".join(f"{key}={values[key]}" for key in ordered)
    return GraphKeys(gone, {"family": FAMILY, "graph": f"{name}:{text}" if text else name})


def _parts(graph: Any) -> tuple[str, dict[str, str]]:
    """Return the name and the values of a specification, which need not be right."""
    name, _, rest = graph.partition(":") if isinstance(graph, str) else ("", "", "")
    items = specs.split(rest, ",") if rest else []
    return name, {key: value for key, _, value in (item.partition("=") for item in items)}


def _written(parameter: specs.Parameter | None, value: Any) -> str:
    """Return a value as a specification has it; a wrong value gives a text that is wrong, too."""
    write = _WRITTEN.get(parameter.parser, str) if parameter is not None else str
    if isinstance(value, float) and value.is_integer():
        value = int(value)
    try:
        return write(value)
    except (TypeError, ValueError):
        return str(value)
