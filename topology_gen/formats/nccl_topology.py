"""Reads topology files of NCCL: the servers that `NCCL_TOPO_DUMP_FILE` writes.

A file has the processors of a server, the PCIe switches, GPUs and NICs below each, and the NVLinks
of each GPU. Files for `NCCL_TOPO_FILE` may leave out what NCCL finds by itself: NVLinks, and the
rates of NICs.

Source: NVIDIA/nccl 5067397, `src/graph/xml.cc`, `src/graph/topo.cc` (elements and attributes),
`src/graph/topo.h` (NVLinks of a GPU); the rates of NVLinks and PCIe links are the nominal ones.
"""

from __future__ import annotations

import re
from collections import Counter
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from typing import NamedTuple
from xml.etree import ElementTree

from topology_gen.errors import FileFormatError

MOST_BYTES = 2**24
"""Greatest size of a file in bytes."""
_MOST_LEVELS = 64
_MBPS = 10**6

_NVLINK_MBPS = ((100, 400_000), (87, 200_000), (86, 112_500), (70, 200_000), (60, 160_000))
"""Rate of an NVLink in each direction, from a compute capability on."""
_REDUCES = 90
"""Compute capability from which NVSwitches reduce."""
_SWITCH, _GPU, _NIC = "0x0680", "0x03", "0x02"
"""Beginnings of the classes of PCIe devices: NVSwitches, GPUs and NICs."""
_SPEED = re.compile(r"(\d{1,4}(?:\.\d{1,2})?) GT/s(?: PCIe)?")


@dataclass(frozen=True)
class ServerFile:
    """What a file tells of a server.

    Attributes
    ----------
    numbers : mapping of str to int or bool
        The values of fields of `topology_gen.networks.servers.Server`.
    unknown : mapping of str to str
        For each other field, why the file does not tell it.
    net_latency_us : float
        The latency that the plug-in of the network tells NCCL.
    notes : tuple of str
        What is left out.
    """

    numbers: Mapping[str, int | bool]
    unknown: Mapping[str, str]
    net_latency_us: float
    notes: tuple[str, ...]


class _Step(NamedTuple):
    """A processor or PCIe device on the way to a device, and the rate of the link above it."""

    number: int
    mbps: int | None
    is_pci: bool


_Path = tuple[_Step, ...]


@dataclass
class _Gpu:
    name: str
    path: _Path
    generation: int | None
    """The compute capability, such as 90."""
    switched: int = 0
    """NVLinks to NVSwitches."""
    linked: Counter[str] = field(default_factory=Counter)
    """NVLinks to each other GPU, by its PCIe address."""


@dataclass
class _Nic:
    name: str
    paths: list[_Path]
    mbps: int | None
    latency_us: float


class _Devices:
    """The GPUs and NICs of a file. NICs are those of network plug-ins if there are any."""

    def __init__(self, root: ElementTree.Element) -> None:
        self.gpus: list[_Gpu] = []
        self._plugged: dict[tuple[str, str], _Nic] = {}
        self._hinted: list[_Nic] = []
        self._complete = root.find(".//gpu") is not None
        self._number = 0
        for cpu in root.findall("cpu"):
            self._host = cpu.get("host_hash", "")
            self._visit(cpu, (self._step(cpu, None),))

    @property
    def nics(self) -> list[_Nic]:
        """The NICs."""
        return list(self._plugged.values()) or self._hinted

    def _step(self, element: ElementTree.Element, mbps: int | None) -> _Step:
        self._number += 1
        return _Step(self._number, mbps, element.tag == "pci")

    def _visit(self, element: ElementTree.Element, path: _Path) -> None:
        if len(path) > _MOST_LEVELS:
            raise FileFormatError(f"expected PCIe devices in at most {_MOST_LEVELS} levels")
        for one in element.findall("pci"):
            self._device(one, (*path, self._step(one, _pcie_mbps(one))))
        for net in element.findall("nic/net"):
            if net.get("dev") is None or net.get("net", "1") == "0":
                continue
            name = net.get("name") or f"net {net.get('dev')}"
            known = self._plugged.setdefault(
                (self._host, str(net.get("dev"))),
                _Nic(name, [], _speed(net, name), _number(net, "latency", name)),
            )
            known.paths.append(path)

    def _device(self, pci: ElementTree.Element, path: _Path) -> None:
        name, kind = pci.get("busid", "?"), pci.get("class", "")
        used = [gpu for gpu in pci.findall("gpu") if gpu.get("rank") is not None]
        if used or (kind.startswith(_GPU) and not self._complete):
            self.gpus.append(_gpu(name, path, used))
        elif kind.startswith(_NIC) and pci.find("nic") is None:
            self._hinted.append(_Nic(name, [path], None, 0.0))
        else:
            self._visit(pci, path)


def _speed(net: ElementTree.Element, name: str) -> int | None:
    """Return the rate of a NIC; some plug-ins tell -1 for a rate that they do not know."""
    if net.get("speed", "").startswith("-"):
        return None
    return int(_number(net, "speed", name)) or None


def _number(element: ElementTree.Element, key: str, name: str) -> float:
    """Return an attribute that is a number of at least 0; 0 without it."""
    text = element.get(key, "") or "0"
    try:
        value = float(text)
    except ValueError:
        value = float("nan")
    if not 0 <= value < 1e9:
        raise FileFormatError(
            f"{element.tag} {name}: {key} is {text!r}: expected a number of at least 0"
        )
    return value


def _pcie_mbps(pci: ElementTree.Element) -> int | None:
    """Return the rate of the link above a PCIe device; None without it."""
    speed = _SPEED.fullmatch(pci.get("link_speed", "").strip())
    lanes = int(_number(pci, "link_width", pci.get("busid", "?"))) or 16
    return int(float(speed[1]) * lanes * 1000) if speed and lanes > 0 else None


def _gpu(name: str, path: _Path, elements: Sequence[ElementTree.Element]) -> _Gpu:
    found = _Gpu(name, path, None)
    for element in elements[:1]:
        found.generation = int(_number(element, "sm", name)) or None
        for link in element.findall("nvlink"):
            count, target = int(_number(link, "count", name)), link.get("target", "")
            if link.get("tclass", "").startswith(_SWITCH):
                found.switched += count
            else:
                found.linked[target.lower()] += count
    return found


def read_server(content: bytes) -> ServerFile:
    """Return the server of a topology file of NCCL.

    Parameters
    ----------
    content : bytes
        The file.

    Raises
    ------
    FileFormatError
        The content is no such file, or its server has not the form of a `Server`: GPUs have
        different NVLinks, or not the same number of NICs.
    """
    if len(content) > MOST_BYTES:
        raise FileFormatError(f"{len(content)} bytes: expected at most {MOST_BYTES}")
    if b"<!DOCTYPE" in content or b"<!ENTITY" in content:
        raise FileFormatError("a document type: expected a topology file of NCCL without one")
    try:
        root = ElementTree.fromstring(content)
    except (ElementTree.ParseError, ValueError) as error:
        raise FileFormatError(f"expected a topology file of NCCL, XML ({error})") from None
    if root.tag != "system" or root.get("version") != "1":
        version = f" of version {root.get('version')}" if root.tag == "system" else ""
        raise FileFormatError(
            f"begins with an element {root.tag!r}{version}: expected 'system' of version 1, as "
            "NCCL_TOPO_DUMP_FILE writes it"
        )
    devices = _Devices(root)
    if not devices.gpus:
        raise FileFormatError(
            "no GPUs: expected elements 'gpu', or 'pci' of a class that begins with 0x03"
        )
    found = _Facts(devices.gpus)
    found.scale_up()
    found.scale_out(devices.nics)
    return ServerFile(found.numbers, found.unknown, found.latency_us, tuple(found.notes))


class _Facts:
    """Makes a `ServerFile` of GPUs and NICs."""

    def __init__(self, gpus: list[_Gpu]) -> None:
        self.gpus = gpus
        self.numbers: dict[str, int | bool] = {"gpus": len(gpus)}
        self.unknown: dict[str, str] = {}
        self.notes: list[str] = []
        self.latency_us = 0.0

    def scale_up(self) -> None:
        """Add the NVLinks. The NVSwitches are one switch, over all of which NVLink spreads data."""
        gpus, first = self.gpus, self.gpus[0]
        if len(gpus) == 1:
            self.numbers["in_network"] = False
            return
        counts = {(gpu.switched, gpu.linked.total(), gpu.generation): gpu for gpu in gpus}
        if len(counts) > 1:
            a, b = list(counts.values())[:2]
            raise FileFormatError(
                f"GPU {a.name} has {_links(a)} and GPU {b.name} {_links(b)}: expected the same"
            )
        if not first.switched and not first.linked:
            for key in ("scale_up_bps", "scale_up_switches", "in_network"):
                self.unknown[key] = "no NVLinks"
            return
        names = [gpu.name.lower() for gpu in gpus]
        if not first.switched:
            for gpu, own in zip(gpus, names, strict=True):
                others = {gpu.linked[name] for name in names if name != own}
                if len(others) > 1 or set(gpu.linked) != set(names) - {own}:
                    raise FileFormatError(
                        f"GPU {gpu.name} has NVLinks to {', '.join(sorted(gpu.linked))}: expected "
                        "NVSwitches, or as many NVLinks to each other GPU"
                    )
        elif first.linked:
            raise FileFormatError(
                f"GPU {first.name} has NVLinks to GPUs and to NVSwitches: expected one of both"
            )
        generation = first.generation or 0
        rate = next((mbps for least, mbps in _NVLINK_MBPS if generation >= least), None)
        if rate is None:
            self.unknown["scale_up_bps"] = f"GPUs of sm {generation}, whose NVLinks are not known"
        else:
            links = first.switched + first.linked.total()
            self.numbers["scale_up_bps"] = links * rate * _MBPS
        self.numbers["scale_up_switches"] = int(first.switched > 0)
        self.numbers["in_network"] = first.switched > 0 and generation >= _REDUCES

    def scale_out(self, nics: list[_Nic]) -> None:
        """Add the NICs that are nearest to some GPU, and the PCIe links to them."""
        if not nics:
            for key in ("nics", "nic_bps", "pcie_bps"):
                self.unknown[key] = "no NICs"
            return
        near = [_nearest(gpu, nics) for gpu in self.gpus]
        groups = Counter(near)
        ratios = {(len(group), count) for group, count in groups.items()}
        shared = sum(map(len, groups)) > len(frozenset[int]().union(*groups))
        if shared or len({count / size for size, count in ratios}) > 1 or not all(
            size % count == 0 or count % size == 0 for size, count in ratios
        ):  # fmt: skip
            told = ", ".join(
                f"{gpu.name} {'/'.join(nics[one].name for one in sorted(group))}"
                for gpu, group in zip(self.gpus, near, strict=True)
            )
            raise FileFormatError(
                f"the NICs nearest to GPUs ({told}): expected as many for each GPU, or as many "
                "GPUs for each NIC"
            )
        used = [nics[one] for group in groups for one in sorted(group)]
        self.numbers["nics"] = len(used)
        left = [nic.name for one, nic in enumerate(nics) if not any(one in group for group in near)]
        if left:
            self.notes.append(f"{', '.join(left)}: nearest to no GPU, so left out")
        self.latency_us = max(nic.latency_us for nic in used)
        self._rates(used)
        self._pcie(nics, near)

    def _rates(self, used: list[_Nic]) -> None:
        """Add the rate of the NICs. Those of a PCIe device share its link."""
        sharing = Counter(nic.paths[0][-1] for nic in used)
        rates = set[int | None]()
        for nic in used:
            device, rate = nic.paths[0][-1], nic.mbps
            if rate and device.mbps and device.mbps < rate * sharing[device]:
                rate = device.mbps // sharing[device]
                self.notes.append(f"{nic.name}: {rate} Mbit/s, because of its PCIe link")
            rates.add(rate)
        if rates == {None}:
            self.unknown["nic_bps"] = "NICs without a speed"
        elif len(rates) > 1:
            told = " and ".join(f"{rate or 'no'} Mbit/s" for rate in sorted(rates, key=str))
            self.unknown["nic_bps"] = f"NICs of {told}"
        else:
            self.numbers["nic_bps"] = sum(filter(None, rates)) * _MBPS

    def _pcie(self, nics: list[_Nic], near: list[frozenset[int]]) -> None:
        """Add the least rate of the PCIe links of a GPU up to where its NICs' part."""
        rates: list[int | None] = []
        over_cpu = 0
        for gpu, group in zip(self.gpus, near, strict=True):
            paths = [nics[one].paths for one in group]
            shared = min(max(_shared(gpu.path, path) for path in some) for some in paths)
            own = [step.mbps for step in gpu.path[max(shared, 1) :]]
            rates.append(None if None in own else min(filter(None, own), default=None))
            over_cpu += shared < 2
        if over_cpu:
            self.notes.append(
                f"{over_cpu} GPUs reach their NICs over a processor, whose rate is not simulated"
            )
        known = {rate for rate in rates if rate}
        if None in rates or len(known) != 1:
            kind = "without a speed" if None in rates else "of different speeds"
            self.unknown["pcie_bps"] = f"PCIe links {kind}"
        else:
            self.numbers["pcie_bps"] = known.pop() * _MBPS


def _links(gpu: _Gpu) -> str:
    """Return the NVLinks of a GPU as text."""
    count = gpu.switched + gpu.linked.total()
    return f"{count} NVLinks of sm {gpu.generation}" if count else "no NVLinks"


def _shared(one: _Path, other: _Path) -> int:
    """Return how many steps two paths have in common."""
    pairs = zip(one, other, strict=False)
    return next((n for n, (a, b) in enumerate(pairs) if a != b), min(len(one), len(other)))


def _distance(gpu: _Path, nic: _Path) -> tuple[int, int]:
    """Return the kind of path between a GPU and a NIC, and its length.

    As NCCL has it: over a PCIe switch, several of them, a processor, or two.
    """
    shared = _shared(gpu, nic)
    length = len(gpu) + len(nic) - 2 * shared
    return (0 if length <= 2 else 1) if shared > 1 else 3 - shared, length


def _nearest(gpu: _Gpu, nics: list[_Nic]) -> frozenset[int]:
    """Return the NICs that are nearest to a GPU."""
    distances = [min(_distance(gpu.path, path) for path in nic.paths) for nic in nics]
    least = min(distances)
    return frozenset(one for one, distance in enumerate(distances) if distance == least)
