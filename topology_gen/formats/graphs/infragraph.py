"""Networks as InfraGraph describes them: devices with components, instances, and edges.

Source: the OpenAPI document of https://github.com/Keysight/infragraph.
"""

from __future__ import annotations

import re
from collections.abc import Iterator, Mapping
from itertools import islice, product
from typing import Any, TypeVar

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
