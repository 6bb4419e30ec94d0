"""NCCL's model of CollNet: all-reduces in which the switches between servers add up (SHARP).

Inside a server, GPUs exchange shards with those that have a NIC (`collnet_direct`), pass the data
along a chain (`collnet_chain`), or add up in NVSwitches (`nvls`). What comes of it goes to the
network once, which returns the sum.

The latency is that of an operation of the network, and of the steps inside. The bandwidth is that
of channels, whose speed is the fastest of a list that NICs have between servers, and NVLink inside.

Source: NVIDIA/nccl 5067397, `src/graph/tuning.cc` (the model), `src/graph/search.cc` (speeds),
`src/enqueue.cc` (which groups have it).
"""

from __future__ import annotations

from math import inf

from frontend.collectives.nccl_tuner import (
    BASE_US,
    LIMITS,
    NET_SPEEDS,
    STEP_US,
    Choice,
    Kind,
    Machine,
)

COLLNET_KINDS: tuple[Kind, ...] = ("collnet_direct", "collnet_chain")

_INSIDE_US: dict[Kind, float] = {"collnet_direct": 3.7, "collnet_chain": 2.8}
"""Time of a step inside a server."""
_PEER_US = 0.4
"""Time that a GPU takes for each peer of a direct exchange."""
_NETWORK_US: dict[Kind, float] = {"collnet_direct": 31.0, "collnet_chain": 30.0, "nvls": 18.0}
"""Time of an operation of the network."""
_DIRECT_GPUS = 8
"""GPUs of a server at most, but for NVLS (`NCCL_MAX_DIRECT_ARITY`)."""
_NEW_DIRECT = 0.85
"""Part that a direct exchange reaches from Hopper on."""


def inside_us(machine: Machine, kind: Kind) -> float:
    """Return the time of a step inside a server; with NVLS, the launch has it."""
    if kind == "nvls" or machine.local == 1:
        return 0.0
    peers = machine.local - 1 if kind == "collnet_direct" else 0
    return _INSIDE_US[kind] + peers * _PEER_US


def network_us(machine: Machine, kind: Kind) -> float:
    """Return the time of an operation of the network, over InfiniBand."""
    return STEP_US["net"]["tree"][-1] if machine.local == 1 else _NETWORK_US[kind]


def collnet_latency_us(machine: Machine, kind: Kind) -> float:
    """Return the latency of an all-reduce: the launch, and what is inside servers and between."""
    steps = 2 * (machine.local - 1 if kind == "collnet_chain" else 1)
    network = network_us(machine, kind) + 2 * machine.plugin.told_us
    return BASE_US[kind][-1] + steps * inside_us(machine, kind) + network


def _channel_speed(machine: Machine, channels: int, kind: Kind) -> float:
    """Return the speed of a channel inside servers, in GB/s.

    The search first has the fastest speed that NICs have, and then looks for a faster one inside,
    up to the first that is twice as fast.
    """
    speeds = NET_SPEEDS[machine.generation]
    most = machine.scale_up_bps / 8e9 * LIMITS[machine.generation].nvlink or inf
    # Each GPU but one passes on what a channel has; in an exchange, a GPU gets it and sends it.
    share = machine.local / max(machine.local - 1, 1) / channels
    most *= share if kind == "collnet_chain" else 1 / 2
    rate = min(machine.nic_bps / 8e9, most)
    place = next((n for n, one in enumerate(speeds) if one <= rate), len(speeds) - 1)
    between = speeds[place]
    while place and speeds[place] < 2 * between and speeds[place - 1] <= most:
        place -= 1
    return speeds[place]


def collnet_bandwidth(machine: Machine, kind: Kind) -> float:
    """Return the bandwidth of an all-reduce, in GB/s of its data."""
    local, heads = machine.local, min(machine.nics, machine.local)
    if kind == "nvls":
        inside, between = machine.nvls_speeds()
        part = LIMITS[machine.generation].nvls * (machine.heads - 1) / machine.heads
        bus = machine.heads * min(2 * inside * part, between)
        return bus * machine.ranks / (2 * (machine.ranks - 1))
    if kind == "collnet_chain":
        return 0.5 * machine.nics * _channel_speed(machine, machine.nics, kind)
    bus = heads * _channel_speed(machine, heads, kind)
    ratio = local / heads
    bus /= ratio - (ratio - 1) / 2
    return 0.5 * bus * (_NEW_DIRECT if LIMITS[machine.generation].nvls else 1)


def collnet_candidates(machine: Machine, operation: str, size: int) -> list[Choice]:
    """Return what NCCL may also take if the switches between servers add up.

    Examples
    --------
    On 4 servers of 8 H100, of which each rank has a NIC:

    >>> h100 = Machine(32, 4, 3600 * 10**9, 8, 400 * 10**9, 0, 0, reduces=True, joins=True)
    >>> for one in collnet_candidates(h100, "all_reduce", 2**20):
    ...     print(one.name, round(one.time_us, 1))
    Algo COLLNET_DIRECT proto SIMPLE 50.4
    Algo COLLNET_CHAIN proto SIMPLE 74.7
    Algo NVLS proto SIMPLE 48.3
    """
    if operation != "all_reduce" or not machine.joins or machine.servers < 2:
        return []
    kinds = list(COLLNET_KINDS) if machine.local <= _DIRECT_GPUS else []
    if machine.heads > 1:
        kinds.append("nvls")
    found = []
    for kind in kinds:
        time = collnet_latency_us(machine, kind) + size / (1000 * collnet_bandwidth(machine, kind))
        found.append(Choice(kind, "Simple", time))
    return found
