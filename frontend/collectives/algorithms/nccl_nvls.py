"""All-reduces by NCCL in NVSwitches: NVLS in one server, and NVLS tree between servers.

NVLS is the program of the algorithm `nvls`. In an NVLS tree, each GPU is the head of a shard: it
loads the sum over its server by the NVSwitches, adds it up with the heads of the same shard in the
other servers by a double binary tree, and stores the result to all GPUs of its server.

The bytes are those of the program: a GPU sends what others load, and its shard. NVSwitches reduce
at a part of the rate that NCCL reaches over NVLink, which is the efficiency in NCCL's tuner. In an
NVLS tree, a channel has at most the tuner's bandwidth, too.

The pipeline has NCCL's loops: in each, every head moves a chunk on every channel. Chunks are
smaller for small sizes. A loop takes the time of a step over NVLink beside that of its bytes; the
tuner's efficiency has that of the largest chunks.

Source: NVIDIA/nccl 5067397, `src/graph/connect.cc` (connectNvls), `src/device/all_reduce.h`,
`src/graph/tuning.cc`, `src/transport/nvls.cc` (channels), `src/enqueue.cc` (chunks).
"""

from __future__ import annotations

from math import inf
from typing import Any, NamedTuple

from frontend.collectives.algorithms.double_binary_tree import double_tree, top_down
from frontend.collectives.algorithms.in_network import (
    Plan,
    depth_of,
    numbers_of,
    nvls_plan,
    segments_in,
    window_of,
)
from frontend.collectives.nccl_tuner import BASE_US, LIMITS, Kind, Machine, step_us, tree_part
from frontend.collectives.program.program import Protocol
from frontend.collectives.reduction_trees import star
from frontend.collectives.setting import Setting
from frontend.topologies.registry import IN_NETWORK

NVLS_KINDS: tuple[Kind, ...] = ("nvls", "nvls_tree")
_PPM = 10**6
_KIB = 2**10

_SMALLER: dict[Kind, tuple[tuple[int, int], ...]] = {
    "nvls": ((64, 64 * _KIB), (8, 32 * _KIB), (2, 16 * _KIB)),
    "nvls_tree": ((32, 256 * _KIB), (16, 128 * _KIB), (4, 64 * _KIB), (1, 32 * _KIB)),
}
"""Sizes of so many loops at most have chunks of so many bytes (`calcCollChunking`)."""


class Loop(NamedTuple):
    """What all heads and channels move at once, in bytes.

    Attributes
    ----------
    data : int
        That of an operation.
    largest : int
        That of the largest operations, with the chunks that NCCL has.
    """

    data: int
    largest: int


def loop_of(machine: Machine, kind: Kind, size: int) -> Loop:
    """Return the loops of an operation of some bytes.

    Examples
    --------
    On 8 H100, all chunks of 128 KiB together are 16 MiB.

    >>> h100 = Machine(8, 1, 3600 * 10**9, 8, 400 * 10**9, 0, 0, reduces=True)
    >>> [loop_of(h100, "nvls", 2**exponent).data // 2**20 for exponent in (22, 24, 28, 30)]
    [2, 4, 8, 16]
    """
    servers, is_new = machine.servers, machine.generation == "blackwell"
    fast = machine.nic_bps >= 48 * 8 * 10**9
    channels, usual = 24 if is_new else 16, 128 * _KIB
    chunk = machine.plugin.nvls_chunk_bytes or usual
    if kind == "nvls_tree":
        channels = 32 if is_new and (servers == 2 or not fast) else channels
        usual = 64 * _KIB if servers >= 4 or (is_new and fast) else usual
        chunk = min(chunk, machine.plugin.nvls_tree_chunk_bytes or usual)
    ways = channels * machine.heads
    for loops, smaller in _SMALLER[kind]:
        if size < loops * ways * chunk and chunk > smaller:
            chunk = smaller
    return Loop(ways * chunk, ways * usual)


def reduces(setting: Setting, local: int) -> bool:
    """Return whether the switches of each server add up what its members send."""
    if IN_NETWORK not in setting.layout.features:
        return False
    ranks = setting.ranks
    servers = (ranks[first : first + local] for first in range(0, len(ranks), local))
    return all(star(setting, one, is_inside=True) for one in servers)


def plan_of(setting: Setting, kind: Kind) -> Plan:
    """Return the switches of an all-reduce, and what the options of its program depend on."""
    if kind == "nvls":
        return nvls_plan(setting)
    ranks, local = setting.ranks, setting.local_size
    servers = len(ranks) // local
    stars = [
        star(setting, ranks[first : first + local], is_inside=True)
        for first in range(0, len(ranks), local)
    ]
    inside = min(map(len, stars))
    used = [one[:inside] for one in stars]
    trees = [
        [(above, below) for below, above in top_down(parents)] for parents in double_tree(servers)
    ]
    places = tuple(
        tuple(
            tuple((one * local + place, other * local + place) for one, other in tree)
            for tree in trees
        )
        for place in range(local)
    )
    depth = 2 * max(depth_of(tree) for tree in places[0])
    ways = local * inside * len(trees)
    return Plan(
        number=numbers_of(ranks, (), (switch for one in used for switch in one)),
        options={
            "servers": servers,
            "inside": inside,
            "places": places,
            "switches": servers * inside,
        },
        links=[
            (switch, rank)
            for server, switches in enumerate(used)
            for switch in switches
            for rank in ranks[server * local : (server + 1) * local]
        ],
        lanes=inside,
        ways=ways,
        messages=ways * (2 * (servers - 1) + servers * (2 * local + 2)),
        hops=depth + 4,
        filling=depth + 3,
        back=depth + 2,
        load=1 + 1 / local,
    )


def options_of(setting: Setting, machine: Machine, kind: Kind) -> dict[str, Any]:
    """Return the options of the program: those of the plan, its segments and their window."""
    plan = plan_of(setting, kind)
    segments = segments_in(setting, plan, filling=inf)
    if not isinstance(setting.given.segments, int):
        loop = loop_of(machine, kind, setting.chunks * setting.chunk_bytes)
        segments = min(segments, -(-setting.chunk_bytes // loop.data))
    waits = 0.0
    if kind == "nvls_tree":  # hops between servers, each over the NIC of a head by one of two trees
        protocol = protocol_of(setting, machine, kind)
        message = setting.chunk_bytes / segments / machine.local / 2
        carried = message * protocol.far_wire_ppm / machine.nic_bps * 8e6  # in ps
        waits = (plan.back - 2) * (protocol.far_delay_ps + carried)
    return plan.options | {
        "segments": segments,
        "window": window_of(setting, plan, segments, waits),
    }


def protocol_of(setting: Setting, machine: Machine, kind: Kind) -> Protocol:
    """Return the bytes and delays of the messages, less what the network already simulates."""
    given, limits = setting.given, LIMITS[machine.generation]
    # A head moves its shard beside all data; the program has a head for each GPU.
    heads = machine.heads
    near = (1 + 1 / heads) / (1 + 1 / machine.local) / (limits.nvlink * limits.nvls)
    size = setting.chunks * setting.chunk_bytes
    loop = loop_of(machine, kind, size)
    whole = machine.scale_up_bps / 8e6 / near / (1 + 1 / machine.local)  # bytes in a µs
    step = step_us(machine, "tree", "Simple")[0] * given.nccl.step
    near *= 1 + step * whole * (1 / loop.data - 1 / loop.largest)
    if kind == "nvls_tree":
        most = machine.heads * limits.nvls_tree[machine.column]  # bus bandwidth, GB/s
        data = most * machine.ranks / (2 * (machine.ranks - 1))
        sent = data * (1 + 1 / machine.local)  # what a GPU sends over NVLink meanwhile
        near = max(near, machine.scale_up_bps / 8e9 / sent)
    part = tree_part(machine.today, kind, "Simple", size)
    launch = round(BASE_US[kind][-1] * _PPM) + int(given.nccl.issue)
    between = round(step_us(machine, kind, "Simple")[1] * given.nccl.step * _PPM)
    return Protocol(
        local_members=machine.local,
        near_wire_ppm=round(near / part / given.nccl.scale_up * _PPM),
        far_wire_ppm=round(machine.local / heads / part / given.nccl.scale_out * _PPM),
        near_delay_ps=0,
        far_delay_ps=max(0, between - machine.far_ps),
        launch_ps=max(0, launch - 2 * machine.near_ps),  # two ways over a switch
        near_from=machine.ranks,
    )
