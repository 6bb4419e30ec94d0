"""All-reduces by NCCL in which the switches between servers add up (CollNet).

`collnet_direct` and `nvls` are programs of the algorithm `sharp`: GPUs of a server exchange shards,
or NVSwitches add them up, and each shard has a tree of switches between the servers. In a
`collnet_chain`, each NIC of a server has a channel. The data of a channel go along a chain of the
server's GPUs to that of the NIC, over a tree of switches, and back.

NCCL gives the network one operation for a chunk, and its model has the time of that. Here, the
messages of a tree have equal parts of it. A pipeline has NCCL's loops: in each, all channels move a
chunk, smaller ones for small sizes. As many loops are on the way as the latency takes.

Source: NVIDIA/nccl 5067397, `src/graph/connect.cc` (connectCollNet), `src/device/all_reduce.h`,
`src/enqueue.cc` (chunks), `src/transport/nvls.cc` (chunks of NVLS).
"""

from __future__ import annotations

from collections.abc import Sequence
from itertools import pairwise
from math import ceil, inf
from typing import Any

from frontend.collectives.algorithms.in_network import (
    Plan,
    depth_of,
    numbers_of,
    pace_of,
    segments_in,
    sharp_plan,
)
from frontend.collectives.nccl_buffers import SLOTS
from frontend.collectives.nccl_collnet_tuner import (
    collnet_bandwidth,
    collnet_latency_us,
    inside_us,
    network_us,
)
from frontend.collectives.nccl_tuner import BASE_US, LIMITS, Kind, Machine
from frontend.collectives.program.in_switches import Edges
from frontend.collectives.program.program import CollectiveError, Protocol
from frontend.collectives.reduction_trees import trees
from frontend.collectives.setting import Setting
from frontend.topologies.registry import IN_NETWORK

_PPM = 10**6
_KIB = 2**10

_SMALLER: dict[Kind, tuple[tuple[int, int], ...]] = {
    "collnet_direct": ((64, 128 * _KIB), (8, 64 * _KIB), (8, 32 * _KIB)),
    "collnet_chain": ((64, 128 * _KIB), (8, 64 * _KIB), (1, 32 * _KIB)),
    "nvls": ((64, 64 * _KIB), (8, 32 * _KIB), (2, 16 * _KIB)),
}
"""Sizes of so many loops at most, for each step of a channel, have chunks of so many bytes."""
_NVLS_CHANNELS = 16


def joins(setting: Setting, local: int) -> bool:
    """Return whether switches between servers that add up join all servers."""
    if IN_NETWORK not in setting.layout.features or len(setting.ranks) == local:
        return False
    try:
        trees(setting, setting.ranks[::local])
        return setting.layout.super_node is None or setting.local_size == local
    except CollectiveError:
        return False


def collnet_plan(setting: Setting, kind: Kind, heads: Sequence[int], local: int) -> Plan:
    """Return the switches of an all-reduce, and what the options of its program depend on.

    Parameters
    ----------
    setting : Setting
        The collective.
    kind : str
        ``collnet_direct``, ``collnet_chain`` or ``nvls``.
    heads : sequence of int
        The first member of a server that has each NIC.
    local : int
        Members of each server.
    """
    if kind != "collnet_chain":
        return sharp_plan(setting, own_switches=kind == "nvls")
    ranks, size = setting.ranks, len(setting.ranks)
    joined = [tree for head in heads for tree in trees(setting, ranks[head::local])]
    every = [(*tree, *_chains(ranks, tree, local)) for tree in joined]
    number = numbers_of(ranks, every, ())
    edges = max(map(len, every))
    depth = 2 * max(map(depth_of, every))
    return Plan(
        number=number,
        options={
            "servers": size,
            "places": (tuple(tuple((number[a], number[b]) for a, b in one) for one in every),),
            "switches": len(number) - size,
        },
        links=[edge for tree in joined for edge in tree],
        lanes=len(joined) // len(heads),
        ways=len(joined),
        messages=2 * edges * len(joined),
        hops=depth,
        filling=depth - 1,
        back=depth - 1,
        load=1,
    )


def _chains(ranks: Sequence[int], tree: Edges, local: int) -> list[tuple[int, int]]:
    """Return the links of the chain of each server, from the rank that the tree leads to."""
    place = {rank: number for number, rank in enumerate(ranks)}
    found: list[tuple[int, int]] = []
    for _, end in tree:
        if end in place:
            first = place[end] // local * local
            chain = [ranks[first + (place[end] + step) % local] for step in range(local)]
            found += pairwise(chain)
    return found


def loop_bytes(machine: Machine, kind: Kind, size: int) -> int:
    """Return what all channels move at once, of an operation of some bytes.

    Examples
    --------
    The chunks of a chain have up to 256 KiB. On 8 NICs, there are 16 channels.

    >>> h100 = Machine(32, 4, 3600 * 10**9, 8, 400 * 10**9, 0, 0, reduces=True, joins=True)
    >>> [loop_bytes(h100, "collnet_chain", 2**exponent) // 2**10 for exponent in (20, 25, 30, 34)]
    [512, 1024, 2048, 4096]
    """
    channels, heads = 2 * machine.nics, min(machine.nics, machine.local)
    if kind == "nvls":
        channels = min(channels, _NVLS_CHANNELS)
    ways = channels * (1 if kind == "collnet_chain" else heads)
    depth = {"collnet_direct": 2 if machine.local > 1 else 1, "collnet_chain": machine.local}
    chunk = machine.plugin.buffer_bytes // SLOTS
    if kind == "collnet_chain":
        chunk = min(chunk, 256 * _KIB)
    if kind == "nvls":
        chunk = min(chunk, machine.plugin.nvls_chunk_bytes or 128 * _KIB)
    for loops, least in _SMALLER[kind]:
        while size < loops * depth.get(kind, 1) * ways * chunk and chunk > least:
            chunk //= 2
    return ways * chunk


def collnet_options(setting: Setting, machine: Machine, kind: Kind, plan: Plan) -> dict[str, Any]:
    """Return the options of the program: those of the plan, its segments and their window."""
    segments = segments_in(setting, plan, filling=inf)
    size = setting.chunks * setting.chunk_bytes
    if not isinstance(setting.given.segments, int):
        segments = min(segments, -(-setting.chunk_bytes // loop_bytes(machine, kind, size)))
    each = setting.chunk_bytes / segments / (1000 * collnet_bandwidth(machine, kind))  # µs
    message = setting.chunk_bytes / segments / plan.ways / (machine.nic_bps / 8e6)
    around = collnet_latency_us(machine, kind) * setting.given.nccl.step + plan.hops * message
    window = 1 + ceil(around / max(each, 1e-6))
    return plan.options | {"segments": segments, "window": window if window < segments else 0}


def collnet_protocol(setting: Setting, machine: Machine, kind: Kind, plan: Plan) -> Protocol:
    """Return the bytes and delays of the messages, less what the network already simulates."""
    given, limits = setting.given, LIMITS[machine.generation]
    own = plan.options.get("inside", 0) * plan.options["servers"]
    near = 1 / (limits.nvlink * (limits.nvls if own else 1)) if machine.scale_up_bps else 1
    steps = 2 * (machine.local - 1) if kind == "collnet_chain" else 4 if own else 2
    hops = plan.hops - (steps if machine.local > 1 else 0)
    hop = pace_of(setting, plan).latency_ps + setting.hop_ps
    network = network_us(machine, kind) + machine.plugin.step_us
    between = network * given.nccl.step * _PPM / hops
    inside = round(inside_us(machine, kind) * given.nccl.step * _PPM)
    launch = round(BASE_US[kind][-1] * _PPM) + int(given.nccl.issue)
    return Protocol(
        local_members=machine.local,
        near_wire_ppm=round(near / given.nccl.scale_up * _PPM),
        far_wire_ppm=round(_PPM / given.nccl.scale_out),
        near_delay_ps=max(0, inside - machine.near_ps),
        far_delay_ps=max(0, round(between - hop)),
        launch_ps=max(0, launch - (2 * machine.near_ps if own else 0)),
        near_from=len(plan.number) - own,
    )
