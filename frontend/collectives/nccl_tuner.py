"""NCCL's model of its own time, by which it chooses among algorithms and protocols.

The time of an operation is a latency plus its bytes over a bandwidth. The latency is a constant of
the algorithm and protocol, which has the launch, plus one for each step over NVLink, PCIe or the
network. The bandwidth is that of the channels of the machine, times what the protocol leaves of it,
and at most what a channel reaches on a generation of GPUs. An all-reduce by trees reaches only a
part of it at medium sizes.

NVLS is the reduction in NVSwitches (NVLink SHARP) of one server, and NVLS tree is NVLS inside
servers and a double binary tree between them. PAT (parallel aggregated trees) has all-gathers and
reduce-scatters of servers of one GPU. A channel of NVLS has a GPU as its head, which loads
sums and stores them to all, so its NVLink has twice the traffic of the channel, and that of the
other GPUs once: with n channels, each reaches at most the (n + 1)-th part of NVLink's rate. Of
that, the reduction leaves a part (`Limits.nvls`). NVLS also has all-gathers and reduce-scatters,
but with these rates, a ring is always faster.

Source: NVIDIA/nccl 5067397 (2026-06-11), `src/graph/tuning.cc` (constants in µs and GB/s, and the
model), `src/graph/topo.h` (rate of an NVLink), `src/graph/search.cc` (speeds of channels, and the
traffic of NVLS in `ncclTopoSearchTryNvls`).
"""

from __future__ import annotations

from collections.abc import Sequence
from math import inf, log2
from typing import Literal, NamedTuple

from frontend.collectives.nccl_plugins import PLUGINS, Plugin
from frontend.collectives.nccl_regions import GPUS, chosen

Generation = Literal["volta", "ampere", "hopper", "blackwell"]
Kind = Literal["tree", "ring", "nvls", "nvls_tree", "pat", "collnet_direct", "collnet_chain"]
ProtocolName = Literal["LL", "LL128", "Simple"]

PROTOCOLS: tuple[ProtocolName, ...] = ("LL", "LL128", "Simple")

WIRE = {"LL": 16 / 8, "LL128": 128 / 120, "Simple": 1.0}
"""Bytes on the wire for a byte of data: flags, and nothing for Simple."""

BASE_US: dict[Kind, tuple[float, float, float]] = {
    "tree": (6.8, 14.0, 8.4), "ring": (6.6, 14.0, 8.4), "nvls": (0, 0, 25), "nvls_tree": (0, 0, 25),
    "pat": (8.0, 8.0, 8.0), "collnet_direct": (0, 0, 0), "collnet_chain": (0, 0, 0),
}  # fmt: skip
"""Time of an operation without its steps, by protocol (`baseLatencies`); for NVLS, all that it
takes inside a server (`hwLatencies`)."""

STEP_US: dict[str, dict[Kind, tuple[float, float, float]]] = {
    "nvlink": {"tree": (0.6, 1.25, 4.0), "ring": (0.6, 1.9, 3.4)},
    "pci": {"tree": (1.0, 1.9, 4.0), "ring": (1.0, 2.5, 5.7)},
    "net": {"tree": (5.0, 8.5, 14.0), "ring": (2.7, 4.0, 14.0), "nvls_tree": (0, 0, 20.9),
            "pat": (0, 0, 14.0)},
}  # fmt: skip
"""Time of a step over each kind of link, by protocol (`hwLatencies`)."""

PAT_RANK_US = 2.8
"""What each rank adds to the time of PAT: a GPU takes its blocks one after the other."""
_PAT_STEP = 1 / 3.5
_PAT_BANDWIDTH = 0.75
"""Parts of the time of a step between servers, and of the rate of the NICs, that PAT takes."""


class Limits(NamedTuple):
    """What a generation of GPUs reaches, in GB/s; for 1, 2, and more servers.

    Attributes
    ----------
    nvlink : float
        Rate of NVLink for NCCL over its nominal rate.
    channels : int
        Channels inside a server; each NIC has one between servers.
    low_latency : tuple of float
        All channels with LL, inside a server (`llMaxBws`).
    ring_ll128, tree_ll128, tree, nvls_tree : tuple of float
        A channel (`perChMaxRingLL128Bws`, `perChMaxTreeLL128Bws`, `perChMaxTreeBws`,
        `perChMaxNVLSTreeBws`).
    nvls : float
        Part of NVLink's rate for NCCL that NVLS reaches (`nvlsEfficiency`); 0: there is none.
    """

    nvlink: float
    channels: int
    low_latency: tuple[float, float, float]
    ring_ll128: tuple[float, float, float]
    tree_ll128: tuple[float, float, float]
    tree: tuple[float, float, float]
    nvls_tree: tuple[float, float, float] = (0, 0, 0)
    nvls: float = 0


LIMITS: dict[Generation, Limits] = {
    "volta": Limits(
        20 / 25, 12, (39, 39, 20.4), (20, 20, 20), (20, 20, 20), (26.5, 18.5, 10)
    ),
    "ampere": Limits(
        20 / 25, 12, (87.7, 22.5, 19), (20, 20, 20), (20, 20, 20), (24, 23.6, 17.8)
    ),
    "hopper": Limits(
        20.6 / 25, 12, (141, 45, 35), (36.7, 36.7, 36.7), (36.7, 36.7, 29), (38.7, 41.4, 36),
        (0, 57.7, 45.5), 0.85,
    ),
    "blackwell": Limits(
        40.1 / 50, 16, (282, 90, 70), (40, 40, 40), (55.6, 31.67, 20), (70, 42.8, 24),
        (0, 96, 80), 0.74,
    ),
}  # fmt: skip

_NVLS_SPEEDS: dict[Generation, tuple[float, ...]] = {
    "hopper": (60, 50, 40, 30, 24, 20, 15, 12, 11, 6, 3),
    "blackwell": (90, 80, 70, 60, 50, 45, 40, 30, 24, 20, 19, 18),
}
"""Speeds of a channel that NCCL's search tries inside a server (`sm90SpeedArrayIntra`)."""
NET_SPEEDS: dict[Generation, tuple[float, ...]] = {
    "volta": (48, 30, 28, 24, 20, 18, 15, 12, 10, 9, 7, 6, 5, 4, 3, 2.4, 1.2, 0.24, 0.12),
    "ampere": (48, 30, 28, 24, 20, 18, 15, 12, 10, 9, 7, 6, 5, 4, 3, 2.4, 1.2, 0.24, 0.12),
    "hopper": (48, 45, 42, 40, 30, 24, 22, 20, 17.5, 15, 12, 6, 3, 2.4, 1.2, 0.24, 0.12),
    "blackwell": (96, 86, 80, 48, 45.1, 42, 40, 30, 24, 22, 20, 17.5, 15, 12, 6, 3, 2.4, 1.2, 0.24,
                  0.12),
}  # fmt: skip
"""Those that it tries between servers (`speedArrayInter`, `sm90SpeedArrayInter`)."""

NVLS_HEADS = 32
"""Channels of NVLS at most, each with a GPU as its head (`NCCL_MAX_NVLS_ARITY`)."""

_TREE_PARTS = {
    "LL": (1, 1, 1, 1, 0.9, 0.8, 0.7, 0.7, 0.7, 0.7, 0.6, 0.5, 0.4, 0.4, 0.5, 0.6, 0.7, 0.8, 0.9,
           1, 1, 1, 1),
    "LL128": (1, 1, 1, 1, 1, 0.9, 0.8, 0.8, 0.8, 0.7, 0.6, 0.6, 0.6, 0.6, 0.6, 0.6, 0.8, 0.9, 0.9,
              0.9, 0.9, 1, 1),
    "Simple": (0.9, 0.9, 0.9, 0.9, 0.9, 0.9, 0.9, 0.8, 0.7, 0.6, 0.6, 0.5, 0.5, 0.5, 0.5, 0.6, 0.7,
               0.8, 0.7, 0.7, 0.8, 0.9, 0.9),
}  # fmt: skip
"""Part of the bandwidth that trees reach, for sizes from 64 B on in powers of two."""

_RING_PLATEAU = {"volta": 1.9}
_ONE_GPU = 0.85
"""Part that trees reach if one GPU of a server has all traffic of a NIC (`NCCL_TOPO_PATTERN_TREE`).
"""
TODAY = 30
"""The minor version of NCCL 2 that the tables are of."""
_BLACKWELL: dict[int, Limits] = {
    25: LIMITS["blackwell"]._replace(
        ring_ll128=(73.4, 73.4, 73.4), tree_ll128=(73.4, 73.4, 58), tree=(77.4, 82.8, 72)
    ),
    28: LIMITS["blackwell"]._replace(ring_ll128=(73.4, 34.6, 73.4), nvls_tree=(0, 96, 43.8)),
    29: LIMITS["blackwell"]._replace(nvls_tree=(0, 96, 43.8)),
    30: LIMITS["blackwell"],
}
"""What older versions have for Blackwell, from each version on; before, it is a Hopper."""
_POST_US = {"amd": 2.0}
_POST_US_OTHERS = 1.0
"""Time of a processor to post a message to a NIC (`getNetOverhead`), three times with Simple."""


class Machine(NamedTuple):
    """What the tuner knows of a group of GPUs and its network.

    Attributes
    ----------
    ranks, servers : int
        Number of GPUs and servers.
    scale_up_bps : int
        Nominal rate of a GPU inside a server; 0 for servers of one GPU.
    nics, nic_bps : int
        NICs of a server that the group uses, and the rate of each.
    near_ps, far_ps : int
        Latency of a message inside a server and between servers, as the network simulates it.
    plugin : Plugin
        How NCCL uses the network.
    reduces : bool
        Whether the switches inside servers reduce.
    joins : bool
        Whether switches between servers reduce, and NCCL may use them (CollNet).
    cpu : str
        Vendor of the processors.
    version : int
        Minor version of NCCL 2, by whose tuner it chooses. Times are those of today's tables.
    """

    ranks: int
    servers: int
    scale_up_bps: int
    nics: int
    nic_bps: int
    near_ps: int
    far_ps: int
    plugin: Plugin = PLUGINS["verbs"]
    reduces: bool = False
    joins: bool = False
    cpu: str = "intel"
    version: int = TODAY

    @property
    def generation(self) -> Generation:
        """The generation of GPUs with such a scale-up rate; Hopper without any."""
        gigabytes = self.scale_up_bps / 8e9
        if not gigabytes:
            return "hopper"
        steps: tuple[tuple[float, Generation], ...] = ((200, "volta"), (375, "ampere"))
        for most, generation in (*steps, (675, "hopper")):
            if gigabytes < most:
                return generation
        return "blackwell"

    @property
    def limits(self) -> Limits:
        """What the version has for the generation."""
        generation = self.generation
        if generation == "blackwell":
            known = [found for since, found in _BLACKWELL.items() if since <= self.version]
            return known[-1] if known else LIMITS["hopper"]
        limits = LIMITS[generation]
        if generation == "hopper" and self.version < 21:
            return limits._replace(low_latency=LIMITS["ampere"].low_latency)
        return limits

    @property
    def today(self) -> Machine:
        """The machine with today's tables."""
        return self._replace(version=TODAY)

    @property
    def local(self) -> int:
        """GPUs of a server."""
        return self.ranks // self.servers

    @property
    def column(self) -> int:
        """The column of the tables for the number of servers."""
        return min(self.servers, 3) - 1

    def channels(self) -> tuple[int, float]:
        """Return the number of channels, and the rate of each in GB/s."""
        limits = LIMITS[self.generation]
        inside = self.scale_up_bps / 8e9 * limits.nvlink
        if self.servers == 1:
            return limits.channels, inside / limits.channels
        rate = self.nic_bps / 8e9
        return self.nics, min(rate, inside / self.nics) if inside else rate

    @property
    def heads(self) -> int:
        """The channels of NVLS; 0 if NCCL does not use it here."""
        whole = self.servers == 1 or self.nics == self.local
        usable = self.reduces and self.local > 1 and whole and LIMITS[self.generation].nvls
        return min(self.local, NVLS_HEADS) if usable else 0

    def nvls_speeds(self) -> tuple[float, float]:
        """Return the speed of a channel of NVLS inside a server, and between servers, in GB/s."""
        generation, rate = self.generation, self.nic_bps / 8e9
        share = self.scale_up_bps / 8e9 * LIMITS[generation].nvlink / (self.heads + 1)

        def fastest(speeds: tuple[float, ...], most: float) -> float:
            return next((one for one in speeds if one <= most), speeds[-1])

        if self.servers == 1:
            return fastest(_NVLS_SPEEDS[generation], share), 0.0
        speeds = NET_SPEEDS[generation]
        return fastest(speeds, min(share, rate)), fastest(speeds, rate)


def choice_name(kind: str, protocol: str) -> str:
    """Return the name of an algorithm with a protocol as `NCCL_DEBUG` prints it.

    Examples
    --------
    >>> choice_name("ring", "LL128")
    'Algo RING proto LL128'
    """
    return f"Algo {kind.upper()} proto {protocol.upper()}"


class Choice(NamedTuple):
    """An algorithm and a protocol, with the tuner's time.

    Attributes
    ----------
    kind, protocol : str
        The algorithm and the protocol.
    time_us : float
        The time that NCCL's model expects.
    """

    kind: Kind
    protocol: ProtocolName
    time_us: float

    @property
    def name(self) -> str:
        """The name as `NCCL_DEBUG` prints it."""
        return choice_name(self.kind, self.protocol)


def step_us(machine: Machine, kind: Kind, protocol: ProtocolName) -> tuple[float, float]:
    """Return the time of a step inside a server, and of one between servers."""
    near, far = _steps(machine, kind, protocol)
    return near, (far + machine.plugin.step_us) * _part_of_step(kind)


def _steps(machine: Machine, kind: Kind, protocol: ProtocolName) -> tuple[float, float]:
    """Return the times of steps inside a server, and between servers over InfiniBand."""
    column = PROTOCOLS.index(protocol)
    if kind == "nvls":
        return 0.0, 0.0
    near = STEP_US["nvlink" if machine.scale_up_bps else "pci"].get(kind)
    exposed: Kind = "tree" if machine.local == 1 else kind
    return near[column] if near else 0.0, STEP_US["net"][exposed][column]


def _part_of_step(kind: Kind) -> float:
    return _PAT_STEP if kind == "pat" else 1.0


def _nvls_bandwidth(machine: Machine, kind: Kind) -> float:
    """Return the bus bandwidth of an all-reduce by NVLS or NVLS tree."""
    limits, heads = machine.limits, machine.heads
    inside, between = machine.nvls_speeds()
    if machine.version < 28:  # these have the bandwidth of the algorithm, a constant part
        part, servers = 5 / 6, machine.servers
        if kind == "nvls_tree":
            inside = min(inside, between if servers == 2 or machine.version < 19 else between / 2)
            if machine.version < 19:
                part = 0.7 * servers / (2 * (servers - 1))
        return heads * inside * part * 2 * (machine.ranks - 1) / machine.ranks
    # A channel reduces and multicasts at the same time.
    channel = 2 * inside * limits.nvls * (heads - 1) / heads
    if kind == "nvls_tree":
        pair = 2 if machine.servers == 2 else 1
        channel = min(channel, pair * between, limits.nvls_tree[machine.column])
    return heads * channel


def links_bandwidth(machine: Machine, kind: Kind) -> float:
    """Return the bus bandwidth that the links leave to rings or trees, in GB/s."""
    channels, rate = machine.channels()
    if kind == "tree" and machine.servers == 2 and machine.scale_up_bps:
        # Data pass each NIC once, and not twice as in a ring: NVLink may set the speed.
        inside = machine.scale_up_bps / 8e9 * LIMITS[machine.generation].nvlink
        return min(2 * channels * machine.nic_bps / 8e9, inside)
    return channels * rate


def bus_bandwidth(machine: Machine, kind: Kind, protocol: ProtocolName) -> float:
    """Return the bus bandwidth of an algorithm with a protocol for large sizes, in GB/s."""
    if kind in ("nvls", "nvls_tree"):
        return _nvls_bandwidth(machine, kind)
    limits, column = machine.limits, machine.column
    channels, bus = machine.channels()[0], links_bandwidth(machine, kind)
    if kind == "pat":
        return bus * _PAT_BANDWIDTH
    # Between servers, the limit of LL is that of the processor, and not of the GPU.
    slow = limits.low_latency
    if machine.servers > 1:
        slow = LIMITS["ampere" if machine.cpu == "amd" else "volta"].low_latency
    if kind == "tree":
        bus = min(bus * 0.92, channels * limits.tree[column])
        if protocol == "LL":
            bus = min(bus / 3.8, slow[column])
        elif protocol == "LL128":
            part = 7 / 9 if machine.servers == 1 else 120 / 128
            bus = min(bus * part, channels * limits.tree_ll128[column])
        return bus if machine.servers == 1 else bus * _ONE_GPU
    if protocol == "LL":
        return min(slow[column], bus * (0.5 if machine.version >= 21 else 0.25))
    if protocol == "LL128":
        part = 0.7 if machine.version < 23 and machine.local == 1 else 0.92
        return min(bus * part, channels * limits.ring_ll128[column])
    return bus


def post_us(machine: Machine, protocol: ProtocolName) -> float:
    """Return the time of a processor to post a message to a NIC."""
    return _POST_US.get(machine.cpu, _POST_US_OTHERS) * (3 if protocol == "Simple" else 1)


def round_us(machine: Machine, protocol: ProtocolName) -> float:
    """Return the least time of a round of rings between servers.

    A NIC has two channels. In each round, a thread (proxy) posts a send and a receive of each.
    """
    return 4 * post_us(machine, protocol)


def latency_us(machine: Machine, operation: str, kind: Kind, protocol: ProtocolName) -> float:
    """Return the latency of an operation: the launch, and its steps one after the other.

    Simple has the latency that the plug-in tells twice, once for the flush.
    """
    base = BASE_US[kind][PROTOCOLS.index(protocol)]
    inside, between = _steps(machine, kind, protocol)
    version = machine.version
    if kind in ("nvls", "nvls_tree") and version < 21:
        base = 23.0
    if kind == "nvls_tree" and version < 28:
        between = 14.0 if version >= 19 else 19.0
    if (kind, protocol) == ("tree", "Simple") and version < 23:
        base = 0.0
        inside, between = (28.0, 28.0) if version >= 19 else (inside, between)
    if kind != "nvls_tree" or version >= 19:
        between += machine.plugin.told_us * (2 if protocol == "Simple" else 1)
    between *= _part_of_step(kind)
    ranks, servers = machine.ranks, machine.servers
    if kind == "nvls":
        return base
    if kind == "nvls_tree":
        return base + 2 * (int(log2(servers)) if version >= 19 else servers - 1) * between
    if kind == "tree":
        return base + 2 * ((machine.local - 1) * inside + int(log2(servers)) * between)
    if kind == "pat":
        return base + int(log2(servers)) * between + PAT_RANK_US * ranks
    if operation in ("broadcast", "reduce"):
        return base + (between if servers > 1 else inside)
    twice = 2 if operation == "all_reduce" else 1
    steps, far = twice * (ranks - 1), twice * (servers - 1)
    if version < 23 and servers > 1 and operation == "all_reduce":
        far = 2 * servers
    if servers > 1:
        inside = max(inside, post_us(machine, protocol))
    return base + (steps - far) * inside + far * between


def tree_channels(machine: Machine) -> int:
    """Return the channels of trees between servers: two for each NIC."""
    return 2 * machine.nics


def tree_rate(machine: Machine, protocol: ProtocolName) -> float:
    """Return the rate at which a channel of a tree alone moves a chunk, in GB/s; inf with LL.

    The limits of the tuner count what both directions of a tree move at the same time, over two
    channels.
    """
    limits = LIMITS[machine.generation]
    rates = {"LL128": limits.tree_ll128, "Simple": limits.tree}
    return rates[protocol][machine.column] / 2 if protocol in rates else inf


def tree_part(machine: Machine, kind: Kind, protocol: ProtocolName, size: int) -> float:
    """Return the part of the bandwidth that an all-reduce of a size reaches; rings reach all."""
    place = (size >> 6).bit_length() - 1
    is_new = machine.generation == "blackwell" and machine.version >= 29
    slowed = kind == "tree" or (kind == "nvls_tree" and is_new)
    parts = _TREE_PARTS[protocol]
    return parts[place] if slowed and 0 <= place < len(parts) else 1.0


def wire_of(machine: Machine, kind: Kind, protocol: ProtocolName, size: int) -> float:
    """Return what a byte of data costs rings or trees, in bytes at the rate of their links.

    The threads of a GPU write LL and LL128, and may be slower than the link, more so in trees of
    medium sizes. With Simple, what the model takes off the rate of the links is the time to fill
    pipelines, and what other messages take of the links.

    Examples
    --------
    On 2 servers of 8 H100, NVLink leaves trees 371 GB/s. Their channels with LL128 reach 294.

    >>> h100 = Machine(16, 2, 3600 * 10**9, 8, 400 * 10**9, 0, 0)
    >>> round(wire_of(h100, "tree", "LL128", 2**20), 2)
    1.26
    """
    machine = machine.today
    if kind == "tree" and machine.servers > 1 and protocol != "LL":
        reached = tree_channels(machine) * tree_rate(machine, protocol)
        return max(WIRE[protocol], links_bandwidth(machine, kind) / reached)
    if protocol == "Simple":
        return WIRE[protocol]
    reached = bus_bandwidth(machine, kind, protocol) * tree_part(machine, kind, protocol, size)
    links = links_bandwidth(machine, kind)
    if kind == "ring" and machine.servers > 1:
        links = machine.nics * machine.nic_bps / 8e9  # also where NVLink is slower
    return max(WIRE[protocol], links / reached)


def time_us(
    machine: Machine, operation: str, kind: Kind, protocol: ProtocolName, size: int
) -> float:
    """Return the time that NCCL's tuner expects of an operation.

    Parameters
    ----------
    machine : Machine
        The machine.
    operation : str
        The operation.
    kind : str
        The algorithm.
    protocol : str
        The protocol.
    size : int
        Bytes of the data of a rank, of all blocks together.
    """
    bandwidth = bus_bandwidth(machine, kind, protocol) * tree_part(machine, kind, protocol, size)
    latency = latency_us(machine, operation, kind, protocol)
    ranks = machine.ranks
    if kind == "tree":
        bandwidth *= 0.5
    elif kind != "pat":
        steps = {"all_reduce": 2 * (ranks - 1), "broadcast": ranks, "reduce": ranks}
        bandwidth *= ranks / steps.get(operation, ranks - 1)
        plateau = kind == "ring" and protocol == "Simple" and machine.servers > 1
        plateau = plateau and size / (machine.channels()[0] * ranks) >= 64
        if plateau and operation == "all_reduce":
            latency *= _RING_PLATEAU.get(machine.generation, 1.4)
    return latency + size / (1000 * bandwidth) if bandwidth else inf


def candidates(
    machine: Machine, operation: str, size: int, others: Sequence[Choice] = ()
) -> list[Choice]:
    """Return the algorithms and protocols for an operation, the one that NCCL takes first.

    They are those that the plug-in allows, `others` among them. If it has a tuner of its own, that
    one may choose.
    """
    kinds: tuple[Kind, ...] = ("tree", "ring") if operation == "all_reduce" else ("ring",)
    # LL128 needs NVLink inside a server.
    allowed = [p for p in PROTOCOLS if p != "LL128" or machine.scale_up_bps or machine.local == 1]
    pairs: list[tuple[Kind, ProtocolName]] = [(kind, one) for kind in kinds for one in allowed]
    if operation == "all_reduce" and machine.heads > 1:
        pairs.append(("nvls" if machine.servers == 1 else "nvls_tree", "Simple"))
    scatters = operation in ("all_gather", "reduce_scatter")
    if scatters and machine.local == 1 and machine.version >= 23:
        pairs.append(("pat", "Simple"))
    plugin = machine.plugin
    own = (Choice(*pair, time_us(machine, operation, *pair, size)) for pair in pairs)
    found = [
        one
        for one in (*own, *others)
        if one.kind in (plugin.kinds or one.kind)
        and one.protocol in (plugin.protocols or one.protocol)
    ]
    found.sort(key=lambda one: one.time_us)
    if plugin.tuner and machine.servers > 1 and machine.local == GPUS:
        first = chosen(plugin.tuner, operation, size, machine.ranks)
        if first:  # and of those, the first that NCCL can take here
            found.sort(key=lambda one: (one.kind, one.protocol) != first[:2])
    return found


P2P_LL_BYTES = 16384
"""Blocks of an all-to-all up to this size take LL (`NCCL_P2P_LL_THRESHOLD`), as larger ones are
divided among channels in parts above it."""
