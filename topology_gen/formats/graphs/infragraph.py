"""Networks as InfraGraph describes them: devices with components, instances, and edges.

Source: the OpenAPI document of https://github.com/Keysight/infragraph.

Write networks as InfraGraph describes them: devices with components, instances, and edges.
InfraGraph names a node by its instance and its components, as in ``host.3.xpu.0``. A network with
such names keeps them. In any other, scale-up links make the devices: what they join is a server.
"""

from __future__ import annotations

import json
import re
from collections import Counter
from collections.abc import Iterable, Iterator, Mapping, Sequence
from decimal import Decimal
from itertools import groupby, islice, product
from typing import Any, NamedTuple, TypeVar

from topology_gen.errors import FileFormatError
from topology_gen.formats.graphs.document import MOST_NODES, GraphDocument, LinkEntry, NodeEntry

T = TypeVar("T")

_RANKS = ("xpu", "npu")
_PART = re.compile(r"([^\[\]]+)(?:\[([^\[\]]*)\])?")
_RATES = {"gigabits_per_second": "Gbps", "gigabytes_per_second": "GB/s"}
_TIMES = {"ms": "ms", "us": "us", "ns": "ns"}


def is_infragraph(content: Any) -> bool:
    """Return whether the content of a YAML or JSON file is one of InfraGraph, in any version."""
    return isinstance(content, dict) and not {"devices", "infrastructure"}.isdisjoint(content)


def read_infragraph(content: Mapping[str, Any], name: str) -> GraphDocument:
    """Return the network of an infrastructure.

    Components of the type xpu are ranks, all others are switches. A device without ranks, such as a
    switch with its ports, is one switch. Links inside a device with ranks are scale-up links. A
    link without a bandwidth in bits or bytes per second has none here, too.

    Raises
    ------
    FileFormatError
        A name is not that of a device, a component, a link or an instance, or an index is out of
        range.
    """
    devices = content.get("devices")
    parts = [content, *(devices if isinstance(devices, list) else [])]
    if any(isinstance(part, dict) and "connections" in part for part in parts):
        raise FileFormatError("connections: expected edges, as every published version has")
    if "instances" not in content:
        raise FileFormatError("no instances: expected an infrastructure of InfraGraph, not devices")
    try:
        return _Reader(content).document(name)
    except FileFormatError:
        raise
    except RecursionError:
        raise FileFormatError("a device contains itself") from None
    except KeyError as error:
        raise FileFormatError(f"not an infrastructure of InfraGraph: no {error}") from None
    except (TypeError, AttributeError, ValueError) as error:
        raise FileFormatError(f"not an infrastructure of InfraGraph ({error})") from None


class _Reader:
    def __init__(self, content: Mapping[str, Any]) -> None:
        self.content = content
        self.devices = {device["name"]: device for device in content["devices"]}
        self.instances = {instance["name"]: instance for instance in content["instances"]}
        self.has_ranks = {name: self._has_ranks(device) for name, device in self.devices.items()}

    def document(self, name: str) -> GraphDocument:
        nodes: list[NodeEntry] = []
        links: list[LinkEntry] = []
        for instance in self.content["instances"]:
            device = self._get(self.devices, instance["device"], "device")
            for index in range(_count(instance)):
                at = f"{instance['name']}.{index}"
                if self.has_ranks[instance["device"]]:
                    _add(nodes, self._nodes(device, at), "nodes")
                    _add(links, self._inside(device, at), "links")
                else:
                    _add(nodes, iter([NodeEntry(at, False)]), "nodes")
        defined = {link["name"]: link for link in self.content.get("links") or []}
        for edge in self.content.get("edges") or []:
            ends = [list(self._outer(edge[end])) for end in ("ep1", "ep2")]
            _add(links, self._join(edge, ends, defined, scale_up=False), "links")
        used = {end for link in links for end in link[:2]}
        # A component that nothing is linked to, such as a CPU that is only drawn, is no switch.
        kept = [node for node in nodes if node.is_rank or node.name in used]
        return GraphDocument(str(self.content.get("name") or name), kept, links, "infragraph")

    def _get(self, known: Mapping[str, Any], name: str, what: str) -> Any:
        if name not in known:
            raise FileFormatError(f"there is no {what} {name!r}: expected {', '.join(known)}")
        return known[name]

    def _has_ranks(self, device: Mapping[str, Any]) -> bool:
        return any(
            c["choice"] in _RANKS
            or (c["choice"] == "device" and self._has_ranks(self.devices[c["name"]]))
            for c in device["components"]
        )

    def _nodes(self, device: Mapping[str, Any], at: str) -> Iterator[NodeEntry]:
        """Yield the components of a device, and those of the devices in it."""
        for component in device["components"]:
            for index in range(_count(component)):
                name = f"{at}.{component['name']}.{index}"
                if component["choice"] == "device":
                    yield from self._nodes(self.devices[component["name"]], name)
                else:
                    yield NodeEntry(name, component["choice"] in _RANKS)

    def _inside(self, device: Mapping[str, Any], at: str) -> Iterator[LinkEntry]:
        """Yield the links inside a device, and those of the devices in it."""
        defined = {link["name"]: link for link in device.get("links") or []}
        for edge in device.get("edges") or []:
            ends = []
            for end in (edge["ep1"], edge["ep2"]):
                inner = f"{end['device']}." if end.get("device") else ""
                path = inner + end["component"]
                ends.append([f"{at}.{name}" for name in self._components(device, path)])
            yield from self._join(edge, ends, defined, scale_up=True)
        for component in device["components"]:
            if component["choice"] == "device":
                for index in range(_count(component)):
                    inside = self.devices[component["name"]]
                    yield from self._inside(inside, f"{at}.{component['name']}.{index}")

    def _outer(self, end: Mapping[str, Any]) -> Iterator[str]:
        """Yield the nodes at one end of an edge between instances."""
        name, indices = _split(end["instance"])
        instance = self._get(self.instances, name, "instance")
        device = self._get(self.devices, instance["device"], "device")
        for index in _numbers(indices, _count(instance), end["instance"]):
            for component in self._components(device, end["component"]):
                at = f"{name}.{index}"
                yield f"{at}.{component}" if self.has_ranks[instance["device"]] else at

    def _components(self, device: Mapping[str, Any], path: str) -> list[str]:
        """Return the components that a path such as ``nic[0:2]`` or ``cx5[0].port`` names."""
        names = [""]
        for part in path.split("."):
            known = {component["name"]: component for component in device["components"]}
            name, indices = _split(part)
            component = self._get(known, name, "component")
            numbers = _numbers(indices, _count(component), path)
            if len(names) * len(numbers) > MOST_NODES:
                raise FileFormatError(f"{path!r}: expected at most {MOST_NODES} components")
            names = [f"{before}{name}.{number}." for before in names for number in numbers]
            if component["choice"] == "device":
                device = self.devices[name]
        return [name.rstrip(".") for name in names]

    def _join(
        self,
        edge: Mapping[str, Any],
        ends: list[list[str]],
        defined: Mapping[str, Any],
        scale_up: bool,
    ) -> Iterator[LinkEntry]:
        """Yield the links of an edge."""
        link = self._get(defined, edge["link"], "link")
        physical = link.get("physical") or {}
        bandwidth = _quantity(physical.get("bandwidth"), _RATES)
        latency = _quantity(physical.get("latency"), _TIMES)
        first, second = ends
        if len(first) * len(second) > MOST_NODES:
            raise FileFormatError(
                f"link {edge['link']!r}: expected at most {MOST_NODES} pairs of ends"
            )
        scheme = edge["scheme"]
        if scheme == "many2many":
            pairs = list(product(first, second))
        elif scheme == "one2one":
            pairs = list(zip(first, second, strict=False))
        elif scheme == "ring":
            around = list(dict.fromkeys(first + second))
            pairs = list(zip(around, around[1:] + around[:1], strict=True))
        else:
            raise FileFormatError(f"scheme {scheme!r}: expected one2one, many2many or ring")
        seen: set[frozenset[str]] = set()
        for source, target in pairs:
            both = frozenset((source, target))
            # Between the same components there is one link, although both ends name both of them.
            if source == target or (first == second and both in seen):
                continue
            seen.add(both)
            yield LinkEntry(source, target, bandwidth, latency, scale_up=scale_up)


def _count(entry: Mapping[str, Any]) -> int:
    """Return how often a component or a device occurs."""
    count = entry.get("count", 1)
    if type(count) is not int or not 0 <= count <= MOST_NODES:
        raise FileFormatError(f"{entry['name']!r}: count {count!r:.40}: expected 0 to {MOST_NODES}")
    return count


def _add(found: list[T], more: Iterator[T], what: str) -> None:
    """Append to a list; raise FileFormatError before it becomes longer than `MOST_NODES`."""
    found += islice(more, MOST_NODES + 1 - len(found))
    if len(found) > MOST_NODES:
        raise FileFormatError(f"expected at most {MOST_NODES} {what}")


def _split(part: str) -> tuple[str, str | None]:
    match = _PART.fullmatch(part)
    if match is None:
        raise FileFormatError(f"{part!r}: expected a name such as nic, nic[0] or nic[0:2]")
    return match[1], match[2]


def _numbers(indices: str | None, count: int, where: str) -> list[int]:
    """Return the numbers that an index or a slice names."""
    try:
        words = [int(word) if word else None for word in (indices or ":").split(":")]
        if len(words) == 1 and words[0] is not None:
            return [range(count)[words[0]]]
        return list(range(count)[slice(*words)])
    except (ValueError, TypeError, IndexError):
        raise FileFormatError(
            f"{where!r}: expected an index or a slice of {count} (0 … {count - 1})"
        ) from None


def _quantity(given: Mapping[str, Any] | None, units: Mapping[str, str]) -> str | None:
    """Return a number with its unit, as text; None if it has none of the units."""
    for unit, text in units.items():
        if given and given.get(unit) is not None:
            return f"{given[unit]}{text}"
    return None


_OWN_NAME = re.compile(r"[^.\[\]]+\.\d+(\.[^.\[\]]+\.\d+)*")
_QUANTITY = re.compile(r"([\d.eE+-]+?)\s*([kKMGT]?i?)(bps|b/s|bit/s|B/s|ms|us|µs|ns|ps|s)")
_PREFIXES = {"": 1, "k": 10**3, "K": 10**3, "M": 10**6, "G": 10**9, "T": 10**12}
_PREFIXES |= {"Ki": 2**10, "Mi": 2**20, "Gi": 2**30, "Ti": 2**40}
_NANOSECONDS = {"s": Decimal(10**9), "ps": Decimal("0.001")}
_KINDS = ("nic", "port", "cpu", "memory")


def write_infragraph(document: GraphDocument) -> str:
    """Return a network as an infrastructure of InfraGraph, in YAML with one object a line.

    Raises
    ------
    FileFormatError
        A link is one-way, has a quantity that InfraGraph cannot write, or is a scale-up link of
        switches without ranks.
    """
    for link in document.links:
        if link.one_way:
            raise FileFormatError(
                f"link {link.source} → {link.target}: this format has only links in both directions"
            )
    content = _under_own_names(document) or _content(document, made_places(document))
    lines = [f"name: {json.dumps(document.name, ensure_ascii=False)}"]
    for key, rows in content.items():
        lines.append(f"{key}:" if rows else f"{key}: []")
        lines += [f"- {json.dumps(row, ensure_ascii=False)}" for row in rows]
    return "\n".join(lines) + "\n"


def _under_own_names(document: GraphDocument) -> dict[str, Any] | None:
    """Return the content with the names of the nodes; None if these are no names of InfraGraph."""
    if not all(_OWN_NAME.fullmatch(node.name) for node in document.nodes):
        return None
    places = {}
    for node in document.nodes:
        words = node.name.split(".")
        numbered = list(zip(words[::2], map(int, words[1::2]), strict=True))
        places[node.name] = Place(*numbered[0], tuple(numbered[1:]))
    content = _content(document, places)
    try:
        again = read_infragraph(content, document.name)
    except FileFormatError:
        return None
    return content if _outline(again) == _outline(document) else None


def _outline(document: GraphDocument) -> tuple[Any, ...]:
    """Return what two documents of the same network have in common."""
    linked = {end for link in document.links for end in link[:2]}
    links = Counter((frozenset(link[:2]), link.scale_up) for link in document.links)
    return document.ranks, {name for name in document.switches if name in linked}, links


def _content(document: GraphDocument, places: Mapping[str, Place]) -> dict[str, Any]:
    """Return the infrastructure whose nodes have the given places."""
    linked = {end for link in document.links for end in link[:2]}
    instances: dict[str, list[str]] = {}
    for node in document.nodes:
        if node.is_rank or node.name in linked:  # as readers leave out other switches, too
            instances.setdefault(places[node.name].instance, []).append(node.name)
    links = _Links()
    edges = []
    inner: dict[str, list[LinkEntry]] = {}
    ports = Counter[str]()
    for link in document.links:
        ends = [places[end] for end in link[:2]]
        if link.scale_up and ends[0][:2] == ends[1][:2]:
            if ends[0].copy == 0:
                inner.setdefault(ends[0].instance, []).append(link)
            continue
        edge: dict[str, Any] = {}
        for key, end, place in zip(("ep1", "ep2"), link[:2], ends, strict=True):
            component = _path(place.parts) or f"port[{ports[end]}]"
            ports[end] += 1
            at = f"{place.instance}[{place.copy}]"
            edge[key] = {"instance": at, "component": component}
        edges.append(edge | {"scheme": "one2one", "link": links.name(link)})
    devices: dict[str, Any] = {}
    rows = []
    ranks = set(document.ranks)
    for instance, names in instances.items():
        if all(places[name].parts for name in names):
            device = f"{instance}-device"
            inside = inner.get(instance, [])
            ours = [(places[name].parts, name in ranks) for name in names]
            devices[device] = _device(device, ours, inside, places, devices)
        else:
            count = max(ports[name] for name in names)
            device = f"switch-{count}"
            devices[device] = _switch(device, count)
        total = 1 + max(places[name].copy for name in names)
        rows.append({"name": instance, "device": device, "count": total})
    return {
        "devices": list(devices.values()),
        "instances": rows,
        "links": links.rows(),
        "edges": edges,
    }


class _Links:
    """The kinds of links of a device or of the infrastructure."""

    def __init__(self) -> None:
        self._names: dict[tuple[str | None, str | None], str] = {}

    def name(self, link: LinkEntry) -> str:
        """Return the name of a link's kind."""
        kind = link.bandwidth, link.latency
        return self._names.setdefault(kind, f"link{len(self._names)}")

    def rows(self) -> list[dict[str, Any]]:
        """Return the description of each kind."""
        return [
            {"name": name} | ({"physical": _physical(*kind)} if kind != (None, None) else {})
            for kind, name in self._names.items()
        ]


def _device(
    name: str,
    nodes: Sequence[tuple[Parts, bool]],
    inside: Sequence[LinkEntry],
    places: Mapping[str, Place],
    devices: dict[str, Any],
) -> dict[str, Any]:
    """Return a device with ranks; `devices` gets the devices that it consists of."""
    links = _Links()
    edges = []
    for link in inside:
        ends = [{"component": _path(places[end].parts)} for end in link[:2]]
        edges.append(
            {"ep1": ends[0], "ep2": ends[1], "scheme": "one2one", "link": links.name(link)}
        )
    components = _components(nodes, devices)
    return {"name": name, "components": components, "links": links.rows(), "edges": edges}


def _components(
    nodes: Iterable[tuple[Parts, bool]], devices: dict[str, Any]
) -> list[dict[str, Any]]:
    below: dict[str, list[tuple[Parts, bool]]] = {}
    for parts, is_rank in nodes:
        below.setdefault(parts[0][0], []).append((parts, is_rank))
    rows = []
    for name, found in below.items():
        deeper = [(parts[1:], is_rank) for parts, is_rank in found if len(parts) > 1]
        choice = "xpu" if found[0][1] else name if name in _KINDS else "switch"
        if deeper:
            choice = "device"
            components = _components(deeper, devices)
            devices[name] = {"name": name, "components": components, "links": [], "edges": []}
        count = 1 + max(parts[0][1] for parts, _ in found)
        rows.append({"name": name, "choice": choice, "count": count})
    return rows


def _switch(name: str, ports: int) -> dict[str, Any]:
    """Return a switch with its ports."""
    every = {"ep1": {"component": "asic"}, "ep2": {"component": "port"}}
    return {
        "name": name,
        "components": [
            {"name": "asic", "choice": "switch", "count": 1},
            {"name": "port", "choice": "port", "count": ports},
        ],
        "links": [{"name": "inside"}],
        "edges": [every | {"scheme": "many2many", "link": "inside"}],
    }


def _path(parts: Parts) -> str:
    return ".".join(f"{name}[{index}]" for name, index in parts)


def _physical(bandwidth: str | None, latency: str | None) -> dict[str, Any]:
    given: dict[str, Any] = {}
    if bandwidth is not None:
        number, prefix, unit = _parsed(bandwidth)
        key = "gigabytes_per_second" if unit == "B/s" else "gigabits_per_second"
        given["bandwidth"] = {"choice": key, key: _plain(number * _PREFIXES[prefix] / 10**9)}
    if latency is not None:
        number, _, unit = _parsed(latency)
        number *= _NANOSECONDS.get(unit, Decimal(1))
        unit = unit.replace("µs", "us") if unit in ("ms", "us", "µs") else "ns"
        given["latency"] = {"choice": unit, unit: _plain(number)}
    return given


def _parsed(text: str) -> tuple[Decimal, str, str]:
    match = _QUANTITY.fullmatch(text)
    if match is None:
        raise FileFormatError(f"{text!r}: expected a rate such as 100Gbps, or a time such as 1us")
    return Decimal(match[1]), match[2], match[3]


def _plain(number: Decimal) -> int | float:
    return int(number) if number == int(number) else float(number)


Parts = tuple[tuple[str, int], ...]
"""Names and indices of components, from the outermost to the innermost."""


class Place(NamedTuple):
    """Where a node is: in which copy of an instance, and which component; none for a switch."""

    instance: str
    copy: int
    parts: Parts


def made_places(document: GraphDocument) -> dict[str, Place]:
    """Return a place for every node: what scale-up links join is a server, the rest are switches.

    Consecutive servers that are alike are one instance.

    Raises
    ------
    FileFormatError
        A scale-up link joins switches without ranks.
    """
    ranks = set(document.ranks)
    servers = [_paths_of(names, ranks) for names in _servers(document)]
    inside = {name: number for number, server in enumerate(servers) for name in server}
    links: list[list[Any]] = [[] for _ in servers]
    for link in document.links:
        if link.scale_up and link.source not in inside:
            raise FileFormatError(
                f"link {link.source} → {link.target}: this format has scale-up links only in "
                "devices with ranks"
            )
        if link.scale_up:
            server = servers[inside[link.source]]
            ends = server[link.source], server[link.target]
            links[inside[link.source]].append((*ends, str(link.bandwidth), str(link.latency)))
    shapes = [(*server.values(), *sorted(of)) for server, of in zip(servers, links, strict=True)]
    places: dict[str, Place] = {}
    for run, (_, alike) in enumerate(groupby(range(len(servers)), key=shapes.__getitem__)):
        for index, number in enumerate(alike):
            kind = "host" if len(servers[number]) == 1 else "server"
            for name, parts in servers[number].items():
                places[name] = Place(f"{kind}{run or ''}", index, parts)
    taken = {place.instance for place in places.values()}
    count = Counter[str]()
    for name in document.switches:
        if name not in places:
            letters = re.match(r"[A-Za-z_-]*[A-Za-z_]", name)
            kind = letters[0] if letters else "switch"
            kind = f"{kind}_switch" if kind in taken else kind
            places[name] = Place(kind, count[kind], ())
            count[kind] += 1
    return places


def _paths_of(names: list[str], ranks: set[str]) -> dict[str, Parts]:
    """Return the component that each node of a server is."""
    count = Counter[str]()
    components: dict[str, Parts] = {}
    for name in names:
        kind = "xpu" if name in ranks else "switch"
        components[name] = ((kind, count[kind]),)
        count[kind] += 1
    return components


def _servers(document: GraphDocument) -> list[list[str]]:
    """Return the ranks and switches of each server, by the numbers of its ranks.

    A server has consecutive ranks, so what scale-up links join may be several times in a server.
    """
    group = {node.name: node.name for node in document.nodes}

    def root(name: str) -> str:
        while group[name] != name:
            group[name] = name = group[group[name]]
        return name

    for link in document.links:
        if link.scale_up:
            group[root(link.source)] = root(link.target)
    last = {root(name): number for number, name in enumerate(document.ranks)}
    servers: list[list[str]] = []
    of: dict[str, int] = {}
    until = -1
    for number, name in enumerate(document.ranks):
        if number > until:
            servers.append([])
        until = max(until, last[root(name)])
        servers[-1].append(name)
        of[root(name)] = len(servers) - 1
    for name in document.switches:
        if root(name) in of:
            servers[of[root(name)]].append(name)
    return servers
