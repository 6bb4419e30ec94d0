"""Keys that were elsewhere in the version before. Their old places are still read, with a note."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Mapping
from copy import deepcopy
from typing import Any, NamedTuple

from frontend.errors import ScenarioError, name_of, shown
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


KeyPath = tuple[str | int, ...]

MOVED: Mapping[tuple[str, ...], tuple[str, ...]] = {
    ("transport", "mtu"): ("links", "mtu"),
    ("transport", "link_header"): ("links", "header"),
    ("transport", "buffer_unit"): ("switches", "buffer_unit"),
    ("switch_memory", "sharing"): ("switches", "buffer_sharing"),
    ("switch_memory", "alpha"): ("switches", "buffer_alpha"),
    ("transport", "ecn", "threshold"): ("switches", "ecn_threshold"),
    ("transport", "ecn", "enabled"): ("transport", "ecn"),
    ("measurement", "rtt_interval"): ("outputs", "rtt_interval"),
    ("measurement", "time_limit"): ("simulation", "time_limit"),
}
"""The new place of each old one."""

_OF_TCP = {("transport", "ecn", "threshold"), ("transport", "ecn", "enabled")}
"""Old places that are keys of another protocol."""

GRAPH = ("topology", "graph")
"""The new place of what a graph has had as a family with keys of its own."""

_FAMILY = ("topology", "family")
_BLOCKS = {path[0] for path in (*MOVED, *MOVED.values())}


class Moved(NamedTuple):
    """A value that has been found at an old place."""

    old: KeyPath
    new: KeyPath
    value: Any
    others: tuple[str, ...] = ()
    """Further keys beside the old one that the new one takes the place of."""

    def __str__(self) -> str:
        """Return what has become of the old key."""
        old = ", ".join([name_of(self.old), *self.others])
        text = f"{old} {'are' if self.others else 'is'} now {name_of(self.new)}"
        return f"{text}: {self.value}" if self.new == GRAPH and self.value is not None else text


def take_moved(data: dict[str, Any], depth: int = 0, protocol: Any = None) -> list[Moved]:
    """Remove the values at old places from a scenario, and return them.

    Parameters
    ----------
    data : dict
        The content, which is changed. Parts that become empty go, too.
    depth : int
        Levels of which empty parts stay.
    protocol : str, optional
        The transport protocol, if the content does not say it.
    """
    found = []
    transport = data.get("transport")
    if isinstance(transport, dict):
        protocol = transport.get("protocol", protocol)
    for old, new in MOVED.items():
        if old in _OF_TCP and protocol not in (None, "tcp"):
            continue
        parents = list(_along(data, old[:-1]))
        if len(parents) == len(old) and old[-1] in parents[-1]:
            found.append(Moved(old, new, parents[-1].pop(old[-1])))
            for level in range(len(old) - 1, depth, -1):
                if not parents[level]:
                    del parents[level - 1][old[level - 1]]
    return found


def _along(data: Any, path: KeyPath) -> Iterator[dict[str, Any]]:
    """Yield the mappings on a path, from the outermost on, as far as there are any."""
    for key in (*path, None):
        if not isinstance(data, dict):
            return
        yield data
        data = data.get(key)


def in_new_places(
    data: Mapping[str, Any], name: str = "", lines: Mapping[KeyPath, int] | None = None
) -> tuple[dict[str, Any], list[Moved]]:
    """Return a scenario with all values at their new places, and what was moved.

    Parameters
    ----------
    data : mapping
        The content as given, which stays.
    name : str
        The file, for errors.
    lines : mapping of key path to int, optional
        The line of each key path, for errors.

    Raises
    ------
    ScenarioError
        A key is at its old and at its new place, with different values.
    """
    # Other blocks stay as they are, and may be large.
    result = {key: deepcopy(value) if key in _BLOCKS else value for key, value in data.items()}
    found = take_moved(result)
    for old, new, value, _ in found:
        *parents, last = new
        part: Any = result
        for key in parents:
            part = part.setdefault(key, {}) if isinstance(part, dict) else part
        line = (lines or {}).get(old)
        where = f"{name}:{line}: " if line else f"{name}: " if name else ""
        if not isinstance(part, dict):
            raise ScenarioError(
                f"{where}{name_of(old)}: value {shown(data, old)}: expected only the new key "
                f"{name_of(new)}, and {name_of(parents)} as a mapping"
            )
        if last in part and part[last] != value:
            raise ScenarioError(
                f"{where}{name_of(old)}: value {shown(data, old)}: expected only the new key "
                f"{name_of(new)}, which is {shown(data, new)}"
            )
        part[last] = value
    graph = graph_keys(result.get("topology"))
    if graph is not None:
        result["topology"] = _with_graph(result["topology"], graph)
        found.append(Moved(_FAMILY, GRAPH, graph.text, graph.gone))
    return result, found


def _with_graph(topology: Mapping[str, Any], graph: GraphKeys) -> dict[str, Any]:
    kept = {key: value for key, value in topology.items() if key not in graph.gone}
    return graph.new | {key: value for key, value in kept.items() if key not in graph.new}


def moved_overrides(
    path: KeyPath, value: Any, data: Mapping[str, Any]
) -> tuple[list[tuple[KeyPath, Any]], list[Moved]]:
    """Return the overrides with new places that an override stands for, and what was moved.

    Parameters
    ----------
    path, value : tuple, any
        The override.
    data : mapping
        The scenario that it changes.
    """
    topology = data.get("topology")
    if len(path) == 2 and path[0] == "topology" and isinstance(topology, Mapping):
        graph = graph_keys({**topology, path[1]: value})
        if graph is not None:
            moved = Moved(path, GRAPH, graph.text)
            return [(("topology", key), new) for key, new in graph.new.items()], [moved]
    if path == ("topology",) and (graph := graph_keys(value)) is not None:
        moved = Moved(_FAMILY, GRAPH, graph.text, graph.gone)
        return [(path, _with_graph(value, graph))], [moved]
    if path[0] not in _BLOCKS:
        return [(path, value)], []
    part: Any = deepcopy(value)
    for key in reversed(path):
        part = {key: part}
    transport = data.get("transport")
    protocol = transport.get("protocol") if isinstance(transport, Mapping) else None
    found = take_moved(part, 1, protocol)
    rest = list(_along(part, path[:-1]))
    kept = [(path, rest[-1][path[-1]])] if len(rest) == len(path) and path[-1] in rest[-1] else []
    return kept + [(one.new, one.value) for one in found], found


def sentence(found: list[Moved], place: str, hint: str = "") -> str:
    """Return the sentence that tells which old keys were read."""
    moves = ", ".join(map(str, found))
    return f"{place}: {moves}; the next version does not read the old keys any more{hint}"
