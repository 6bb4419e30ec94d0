"""Collectives as NCCL carries them out: rings and trees over channels, with its protocols.

NCCL divides a collective among channels. A channel has a ring or two trees, which enter and leave a
server by the NICs of the channel. Its protocols differ in their bytes and their time for a step:

- LL sends 8 bytes of data with 8 bytes of flags, so no step waits for a memory barrier;
- LL128 sends 120 bytes of data in lines of 128, which needs NVLink or a near NIC;
- Simple sends data alone, and synchronizes each step.

Of algorithms and protocols, NCCL takes the pair with the least time in its tuner's model: a
latency, and the bytes over a bandwidth (`frontend.collectives.nccl_tuner`). This module chooses by
the same model, for the rates of the scenario's network, and makes the program that the simulator
then runs. The time of a step over a NVLink or a network, of which the network already simulates
the propagation, and the time to launch are those of the tuner.

A ring enters a server by the NIC of its channel, and leaves by the same one. If the last GPU has
another NIC, it sends its messages over the scale-up network to the GPU of that NIC, which passes
them on (PXN). A tree is a chain inside a server and a double binary tree between servers.
Where the switches of servers reduce, there are NVLS and NVLS tree, too
(`frontend.collectives.algorithms.nccl_nvls`); for one rank a server, parallel aggregated trees
(`frontend.collectives.algorithms.nccl_pat`).

Source: NVIDIA/nccl 5067397, `src/graph/tuning.cc`, `src/graph/connect.cc`, `src/include/device.h`;
S. Jeaugey, "Massively scale your deep learning training with NCCL 2.4", NVIDIA (2019).
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import replace
from functools import partial
from itertools import pairwise
from math import ceil, inf
from typing import Any, NamedTuple

import numpy as np

from frontend.collectives.algorithms import direct
from frontend.collectives.algorithms.double_binary_tree import (
    Parents,
    double_tree,
    filling,
    over_trees,
)
from frontend.collectives.algorithms.in_network import Plan
from frontend.collectives.algorithms.nccl_collnet import (
    collnet_options,
    collnet_plan,
    collnet_protocol,
    joins,
)
from frontend.collectives.algorithms.nccl_nvls import (
    NVLS_KINDS,
    options_of,
    plan_of,
    protocol_of,
    reduces,
)
from frontend.collectives.algorithms.nccl_pat import Buffers, buffers_of, parallel_trees
from frontend.collectives.nccl_buffers import buffer_wire, posting_wire, tree_chunk
from frontend.collectives.nccl_collnet_tuner import COLLNET_KINDS, collnet_candidates
from frontend.collectives.nccl_plugins import PLUGINS, Plugin
from frontend.collectives.nccl_tuner import (
    BASE_US,
    LIMITS,
    P2P_LL_BYTES,
    PAT_RANK_US,
    PROTOCOLS,
    WIRE,
    Choice,
    Kind,
    Machine,
    candidates,
    round_us,
    step_us,
    tree_channels,
    tree_rate,
    wire_of,
)
from frontend.collectives.program.composition import AnyProgram
from frontend.collectives.program.in_switches import all_reduce
from frontend.collectives.program.program import (
    CollectiveError,
    Op,
    Program,
    ProgramBuilder,
    Protocol,
    known_root,
)
from frontend.collectives.program.rotation import Rotation, rotation
from frontend.collectives.registry import (
    ROOTED,
    SEGMENT_PARTS,
    Algorithm,
    require_numbers,
    require_written,
    rounds_of,
    segments_of,
)
from frontend.collectives.setting import Setting

Orders = tuple[tuple[int, ...], ...]
"""The members in the order of the ring of each channel."""

SWITCH_KINDS = (*NVLS_KINDS, *COLLNET_KINDS)
"""The algorithms in which switches add up."""

_PPM = 10**6
_MOST_WAITING = 2**22
"""Steps of a tree whose segments wait for earlier ones, at most; they are all written."""
_IN_ROUNDS = ("all_reduce", "all_gather", "reduce_scatter")
_MOST_WIRE = 80.0  # with the factors of hosts, less than the stream allows


class Place(NamedTuple):
    """Where the members of a group are.

    Attributes
    ----------
    local_size : int
        Members in each server.
    heads : tuple of int
        For each NIC of a server, the first member that has it: one channel each.
    lasts : tuple of int
        For each NIC, another member that has it; empty if each member has a NIC of its own.
    """

    local_size: int
    heads: tuple[int, ...]
    lasts: tuple[int, ...] = ()

    @property
    def relays(self) -> bool:
        """Whether a ring leaves a server by the NIC of another member than its last one."""
        return self.local_size > 1 and not self.lasts


def orders_of(size: int, place: Place) -> Orders:
    """Return the ring of each channel; inside one server, one ring.

    Examples
    --------
    >>> orders_of(8, Place(4, (0, 2)))
    ((0, 1, 2, 3, 4, 5, 6, 7), (2, 3, 0, 1, 6, 7, 4, 5))
    """
    local, heads = place.local_size, place.heads
    if size == local:
        return (tuple(range(size)),)
    found = []
    for channel, head in enumerate(heads):
        last = place.lasts[channel] if place.lasts else (head - 1) % local
        turned = [(head + step) % local for step in range(local)]
        inside = sorted(turned, key=lambda one: one == last and local > 1)
        found.append(tuple(first + one for first in range(0, size, local) for one in inside))
    return tuple(found)


def trees_of(size: int, place: Place) -> list[Parents]:
    """Return the parents in the trees of all channels: two for each NIC, or one in one server.

    A tree joins the members of a server to a chain that begins at the NIC, and the beginnings of
    the chains of all servers.
    """
    local, heads = place.local_size, place.heads
    servers = size // local
    between: tuple[Parents, ...] = double_tree(servers) if servers > 1 else ([None],)
    found: list[Parents] = []
    for head in heads if servers > 1 else (0,):
        for tree in between:
            parents: Parents = [None] * size
            for server, above in enumerate(tree):
                for step in range(1, local):
                    own = server * local
                    parents[own + (head + step) % local] = own + (head + step - 1) % local
                parents[server * local + head] = None if above is None else above * local + head
            found.append(parents)
    return found


def _rings(operation: str, size: int, place_of: Place, dimension: str) -> Rotation:
    """Return the rounds of the rings of all channels, of which each carries an equal part.

    In round k, the member at place p of a ring sends the shard of the member at place p-k-1, as in
    `frontend.collectives.algorithms.ring`. Unit s·C + c is the part of shard s on channel c of C.
    What a member passes on for the last one of its server goes through units of its own: those
    from N·C on for the first N-1 rounds, and those from 2·N·C on for the others.

    All servers do the same, so the steps are those of the first one; inside one server, those of
    its first member.
    """
    local = place_of.local_size
    block, relays = (1, False) if size == local else (local, place_of.relays)
    orders = np.array(orders_of(size, place_of), np.int64)
    rounds = np.arange(2 * (size - 1))
    if operation != "all_reduce":
        rounds = rounds[: size - 1] if operation == "reduce_scatter" else rounds[size - 1 :]
    channels, units = len(orders), size * len(orders)
    heads, lasts = orders[:, 0], orders[:, block - 1]
    own = 2 * rounds.size * channels
    lengths = np.full(block, own)
    if relays:
        lengths[heads] += 2 * rounds.size
    begin = np.concatenate(([0], np.cumsum(lengths)))

    # axes: member, round, channel
    k, channel = rounds[:, None], np.arange(channels)
    place = np.argsort(orders[:, :block], axis=1).T[:, None, :]
    number = begin[:-1, None, None] + 2 * np.arange(rounds.size * channels).reshape(-1, channels)
    receives, sends = number, number + 1
    before, after = orders[channel, (place - 1) % size], orders[channel, (place + 1) % size]
    op, peer, offset, target = np.zeros((4, begin[-1]), np.int64)
    op[receives] = np.where(k < size - 1, Op.RECV_REDUCE, Op.RECV)
    peer[receives], peer[sends] = before, after
    for step, hops in ((receives, 2), (sends, 1)):
        offset[step] = orders[channel, (place - k - hops) % size] * channels + channel
    at = np.arange(rounds.size)[:, None], channel
    target[receives], target[sends] = sends[before % block, *at], receives[after % block, *at]
    waits = np.full(begin[-1], -1)
    waits[sends[:, 1:]] = receives[:, :-1]
    if relays:
        through = begin[heads] + own + 2 * at[0]
        leaves, enters = sends[lasts, *at], receives[heads, *at]
        op[through], op[through + 1] = Op.RECV, Op.SEND
        peer[through], peer[through + 1] = lasts, orders[:, block]
        target[through], target[through + 1] = leaves, enters
        region = units * np.where(k < size - 1, 1, 2)
        offset[through] = offset[through + 1] = region + offset[leaves]
        peer[leaves], peer[enters] = heads, orders[:, -block]
        target[leaves], target[enters] = through, through + 1
        waits[through + 1] = through
    waiting = np.flatnonzero(waits >= 0)
    return rotation(
        "nccl",
        operation,
        size,
        units=units,
        space=3 * units if relays else units,
        dimension=dimension,
        op=op,
        peer=peer,
        offset=offset,
        target=target,
        edges=np.stack((waiting, waits[waiting]), axis=1),
        offset_turn=block * channels,
        step_begin=begin,
    )


def _chains(
    operation: str, size: int, place: Place, root: int, segments: int, dimension: str
) -> Program:
    """Return the chains of a broadcast or a reduce: the ring of each channel, from the root on."""
    reduces, orders, local = operation == "reduce", orders_of(size, place), place.local_size
    units = len(orders) * segments
    builder = ProgramBuilder(
        "nccl", operation, size, units=units, space=2 * units, dimensions=(dimension,), root=root
    )
    for segment in range(segments):
        for channel, order in enumerate(orders):
            first = order.index(root) + int(reduces)
            chain = [order[(first + hop) % size] for hop in range(size)]
            received: list[int] = []
            for source, target in pairwise(chain):
                unit = channel * segments + segment
                own, relay = unit, source // local * local + order[0] % local
                if place.relays and source // local != target // local and relay != source:
                    own = unit + units
                    _, last = builder.message(source, relay, unit, 1, into=own, after=received)
                    source, received = relay, [last]
                _, last = builder.message(
                    source, target, own, 1, into=unit, reduce=reduces, after=received
                )
                received = [last]
    return builder.build()


def _build(
    operation: str,
    group_size: int,
    *,
    algorithm: str = "ring",
    place: Place | None = None,
    segments: int = 16,
    window: int = 0,
    protocol: Protocol | None = None,
    order: tuple[tuple[str, Any], ...] = (),
    switches: tuple[tuple[str, Any], ...] = (),
    buffers: Buffers | None = None,
    dimension: str = "scale_out",
    root: int = 0,
) -> AnyProgram:
    """Return the program of an algorithm of NCCL, or messages between all pairs, with a protocol.

    Parameters
    ----------
    operation : str
        The operation.
    group_size : int
        Number of members.
    algorithm : str
        ``ring``, ``tree``, ``pat``, or one of `SWITCH_KINDS`; an all-to-all has none.
    place : Place, optional
        Where the members are; by default, each is a server with one NIC.
    segments : int
        Segments of a tree, or of a chain.
    window : int
        Segments of a tree that are on the way at the same time; 0: all.
    protocol : Protocol, optional
        What NCCL adds to the messages.
    order : tuple of pairs
        Options of `direct`, for an all-to-all.
    switches : tuple of pairs
        Options of the program in switches, for one of `SWITCH_KINDS`.
    buffers : Buffers, optional
        How blocks go through the buffers of PAT; by default, one by one.
    dimension : str
        Network dimension of the program.
    root : int
        Root of a broadcast or a reduce.
    """
    where = place or Place(1, (0,))
    if group_size % where.local_size:
        raise CollectiveError(
            f"local_size {where.local_size} does not divide the group of {group_size}"
        )
    program: AnyProgram
    if operation == "all_to_all":
        options = {"dimension": dimension, **dict(order)}
        exchange = direct.ALGORITHM.build(operation, group_size, **options)
        program = replace(exchange, name="nccl")
    elif operation in ROOTED:
        known_root(root, group_size)
        program = _chains(operation, group_size, where, root, segments, dimension)
    elif algorithm in SWITCH_KINDS:
        inside = {"dimension": dimension, "segments": segments, **dict(switches)}
        program = all_reduce("nccl", group_size, **inside)
    elif algorithm == "pat":
        program = parallel_trees(operation, group_size, buffers or Buffers(), dimension)
    elif algorithm == "tree":
        trees = trees_of(group_size, where)
        program = over_trees("nccl", trees, [{} for _ in trees], segments, dimension, window)
    else:
        program = _rings(operation, group_size, where, dimension)
    return program if protocol is None else replace(program, protocol=protocol)


class _Path(NamedTuple):
    """The path of a message between two members.

    Attributes
    ----------
    rate_bps : int
        Rate of its slowest link.
    latency_ps : int
        Latency of its links.
    nic : int
        The first of its slowest links.
    inside : bool
        Whether it stays in the scale-up network.
    """

    rate_bps: int
    latency_ps: int
    nic: int
    inside: bool


def _paths(setting: Setting, sources: Sequence[int], targets: Sequence[int]) -> list[_Path]:
    """Return the paths between pairs of members."""
    network, ranks = setting.network(), np.asarray(setting.ranks, np.int64)
    paths = network.paths(ranks[list(sources)], ranks[list(targets)])
    found = []
    for begin, end in pairwise(paths.begin.tolist()):
        links = paths.links[begin:end]
        rates = network.rate_bps[links]
        names = {network.dimensions[one] for one in network.dimension[links].tolist()}
        found.append(
            _Path(
                int(rates.min()),
                int(network.latency_ps[links].sum()),
                int(links[np.argmin(rates)]),
                names == {"scale_up"},
            )
        )
    return found


def _local_size(setting: Setting) -> int:
    """Return the members of a server; members without order in servers have one of their own."""
    try:
        return setting.local_size if setting.layout.super_node is not None else 1
    except CollectiveError:
        return 1


def _place(setting: Setting) -> Place:
    """Return where the members are."""
    size, local = len(setting.ranks), _local_size(setting)
    if setting.layout.super_node is None and _paths(setting, [0], [1])[0].inside:
        local = size
    if local in (1, size):
        return Place(local, (0,))
    heads, lasts = dict[int, int](), dict[int, int]()
    for member, path in enumerate(_paths(setting, range(local), range(local, 2 * local))):
        heads.setdefault(path.nic, member)
        lasts[path.nic] = member
    shared = all(last != heads[nic] for nic, last in lasts.items())
    return Place(local, tuple(heads.values()), tuple(lasts.values()) if shared else ())


def _machine(setting: Setting, place: Place) -> Machine:
    """Return what the tuner knows of the machine, from the paths of the network."""
    size, local = len(setting.ranks), place.local_size
    near = _paths(setting, [0], [1])[0] if local > 1 else None
    far = _paths(setting, [0], [local])[0] if size > local else None
    scale_up = 0
    if near is not None:
        network = setting.network()
        up = np.array(network.dimensions) == "scale_up"
        own = (network.source == setting.ranks[0]) & up[network.dimension]
        scale_up = int(network.rate_bps[own].sum())
    return Machine(
        ranks=size,
        servers=size // local,
        scale_up_bps=scale_up,
        nics=len(place.heads),
        nic_bps=0 if far is None else far.rate_bps,
        near_ps=0 if near is None else near.latency_ps + setting.hop_ps,
        far_ps=0 if far is None else far.latency_ps + setting.hop_ps,
        plugin=_plugin(setting),
        cpu=setting.layout.cpu,
        version=int(setting.given.nccl.version.removeprefix("2.")),
        reduces=setting.operation == "all_reduce" and reduces(setting, local),
        joins=setting.operation == "all_reduce" and joins(setting, local),
    )


def _plugin(setting: Setting) -> Plugin:
    """Return how NCCL uses the network, with what the scenario says of it."""
    given = setting.given
    found = PLUGINS[given.nccl.plugin or setting.layout.nccl_plugin]
    if given.nccl.net_latency is not None:
        told = int(given.nccl.net_latency) / _PPM
        found = found._replace(told_us=told, step_us=told)
    if given.nccl.net_step is not None:
        found = found._replace(step_us=int(given.nccl.net_step) / _PPM)
    return found._replace(
        kinds=given.nccl.algorithms or found.kinds,
        protocols=given.nccl.protocols or found.protocols,
        tuner=found.tuner if given.nccl.plugin_tuner else "",
    )


def _ranked(setting: Setting, machine: Machine) -> list[Choice]:
    """Return the algorithms and protocols by their time, the one that NCCL takes first."""
    size = setting.chunks * setting.chunk_bytes
    if setting.operation == "all_to_all":
        small = size // len(setting.ranks) <= P2P_LL_BYTES
        return [Choice("ring", "LL" if small else "Simple", 0.0)]
    others = collnet_candidates(machine, setting.operation, size)
    found = candidates(machine, setting.operation, size, others)
    if not found:
        plugin = machine.plugin
        allowed = ", ".join((*plugin.kinds, *plugin.protocols))
        raise CollectiveError(
            f"NCCL has no algorithm for {setting.operation} here with {allowed}: expected other "
            "nccl.algorithms or nccl.protocols"
        )
    return found


def _wire(setting: Setting, machine: Machine, choice: Choice) -> tuple[float, float]:
    """Return the bytes that a byte of data costs a link inside servers and between them.

    A tree has the same speed everywhere.
    """
    plain = WIRE[choice.protocol]
    if machine.ranks == 1:
        return plain, plain
    size = setting.chunks * setting.chunk_bytes
    if setting.operation == "all_to_all":
        if machine.servers == 1:
            return plain, plain
        posts = posting_wire(machine, size / machine.ranks, setting.given.nccl.step)
        return plain, max(plain, min(posts, _MOST_WIRE))
    alone = machine._replace(ranks=machine.local, servers=1)

    def costs(one: Machine) -> float:
        return min(wire_of(one, choice.kind, choice.protocol, size), _MOST_WIRE)

    far = costs(machine)
    near = plain if alone.ranks == 1 else costs(alone)
    if choice.kind == "tree":  # the threads that write LL are slower than the network, too
        near, far = far, plain if machine.servers > 1 and choice.protocol != "LL" else far
    return near, far


def _held(setting: Setting, machine: Machine, choice: Choice, wire: float) -> tuple[float, int]:
    """Return what a byte costs a link between servers at least, and how much that adds to a step.

    Full buffers slow a channel down, but not the first messages.

    Parameters
    ----------
    wire : float
        What a byte costs the link without buffers.
    """
    size = setting.chunks * setting.chunk_bytes
    held = buffer_wire(machine, choice.kind, choice.protocol, size, setting.given.nccl.step)
    held = max(wire, min(held, _MOST_WIRE))
    message = size / machine.ranks / machine.nics
    if choice.kind == "tree":
        channels = tree_channels(machine)
        message = min(tree_chunk(machine, choice.protocol, size), size / channels)
    return held, round((held - wire) * message * 8e12 / machine.nic_bps)


def _protocol(setting: Setting, machine: Machine, choice: Choice) -> Protocol:
    """Return the bytes and delays of a protocol, less what the network already simulates."""
    given = setting.given
    steps = step_us(machine, choice.kind, choice.protocol)
    inside, between = (round(one * given.nccl.step * _PPM) for one in steps)
    near, far = _wire(setting, machine, choice)
    near, far = near / given.nccl.scale_up, far / given.nccl.scale_out
    in_rounds = choice.kind == "ring" and setting.operation in _IN_ROUNDS
    if machine.servers > 1 and in_rounds:
        least = round(round_us(machine, choice.protocol) * given.nccl.step * _PPM)
        inside, between = max(inside, least), max(between, least)
    if choice.kind == "tree" and machine.servers > 1:
        pace = _pace(setting, machine, choice)
        inside, between = inside + pace.slow_near, between + pace.slow_far
    if machine.servers > 1 and (in_rounds or choice.kind == "tree"):
        far, longer = _held(setting, machine, choice, far)
        between -= longer
    if machine.scale_up_bps:
        near /= LIMITS[machine.generation].nvlink
    launch = BASE_US[choice.kind][PROTOCOLS.index(choice.protocol)]
    if choice.kind == "pat":
        launch += PAT_RANK_US * machine.ranks * given.nccl.step
    return Protocol(
        local_members=machine.local,
        near_wire_ppm=round(near * _PPM),
        far_wire_ppm=round(far * _PPM),
        near_delay_ps=max(0, inside - machine.near_ps),
        far_delay_ps=max(0, between - machine.far_ps),
        launch_ps=round(launch * _PPM) + int(given.nccl.issue),
    )


class _Pace(NamedTuple):
    """How a channel of a tree between servers moves a chunk, in ps.

    Attributes
    ----------
    near, far : float
        Time of a hop inside a server and between servers, without its latency.
    slow_near, slow_far : int
        What of it is not the time of the link: the threads of the channel are slower.
    each : float
        Time of a chunk of all channels on their slowest link.
    """

    near: float
    far: float
    slow_near: int
    slow_far: int
    each: float


def _pace(setting: Setting, machine: Machine, choice: Choice) -> _Pace:
    """Return how a channel of a tree between servers moves a chunk."""
    size, channels = setting.chunks * setting.chunk_bytes, tree_channels(machine)
    part = min(tree_chunk(machine, choice.protocol, size), size / channels)
    near_wire, far_wire = _wire(setting, machine, choice)
    scale_up = machine.scale_up_bps / 8e12 * LIMITS[machine.generation].nvlink or inf  # bytes a ps
    near, far = part * near_wire / scale_up, part * far_wire / (machine.nic_bps / 8e12)
    alone = 1000 * part / tree_rate(machine, choice.protocol)
    loads = 2 * channels * (machine.local - 1) / machine.local, channels / machine.nics
    return _Pace(
        max(near, alone),
        max(far, alone),
        round(max(0, alone - near)),
        round(max(0, alone - far)),
        max(near * loads[0], far * loads[1]),
    )


def _pipeline(setting: Setting, machine: Machine, choice: Choice) -> dict[str, int]:
    """Return the chunks of each channel of trees between servers, and how many are on the way.

    With fewer on the way, links would wait; with more, results would.
    """
    size = setting.chunks * setting.chunk_bytes
    given, chunk = setting.given.segments, tree_chunk(machine, choice.protocol, size)
    segments = min(SEGMENT_PARTS // setting.chunks, -(-size // (chunk * tree_channels(machine))))
    segments = given if isinstance(given, int) else max(1, segments)
    pace = _pace(setting, machine, choice)
    near, far = step_us(machine, choice.kind, choice.protocol)
    hops = machine.local - 1, filling(machine.servers)
    around = 2 * (hops[0] * (pace.near + near * _PPM) + hops[1] * (pace.far + far * _PPM))
    steps = 4 * (machine.ranks - 1) * tree_channels(machine)
    window = 1 + ceil(around / max(pace.each, 1)) if segments * steps <= _MOST_WAITING else 0
    return {"segments": segments, "window": window if window < segments else 0}


def _segments(setting: Setting, place: Place) -> int:
    """Return the segments of trees; of the chains of a broadcast or a reduce, with their relays."""
    size = len(setting.ranks)
    servers = size // place.local_size
    if setting.operation in ROOTED:
        parts, hops = 1, size - 2 + (servers - 1) * place.relays
    else:
        parts, hops = 2 * len(place.heads), place.local_size - 1 + filling(servers)
    given, chunk = setting.given.segments, setting.chunk_bytes
    return segments_of(given, setting.chunks, chunk, parts, filling=hops)


def _choose(setting: Setting) -> dict[str, Any]:
    options: dict[str, Any] = {"dimension": setting.dimension}
    if setting.operation in ROOTED:
        options["root"] = setting.root
    if len(setting.ranks) == 1:
        return options
    place = _place(setting)
    machine = _machine(setting, place)
    choice = _ranked(setting, machine)[0]
    if choice.kind in SWITCH_KINDS:
        if machine.servers > 1 and choice.kind != "nvls_tree":
            plan = _joined(setting, place, choice.kind)
            inside = collnet_options(setting, machine, choice.kind, plan)
            protocol = collnet_protocol(setting, machine, choice.kind, plan)
        else:
            inside = options_of(setting, machine, choice.kind)
            protocol = protocol_of(setting, machine, choice.kind)
        return options | {
            "algorithm": choice.kind,
            "protocol": protocol,
            "segments": inside.pop("segments"),
            "switches": tuple(sorted(inside.items())),
        }
    options |= {"place": place, "protocol": _protocol(setting, machine, choice)}
    if setting.operation == "all_to_all":
        return options | {"order": tuple(sorted(direct.exchange_options(setting).items()))}
    if choice.kind == "tree" and machine.servers > 1:
        options |= _pipeline(setting, machine, choice)
    elif setting.operation in ROOTED or choice.kind == "tree":
        options["segments"] = _segments(setting, place)
    if choice.kind == "pat":
        block = -(-setting.chunk_bytes // machine.ranks)
        options["buffers"] = buffers_of(setting.operation, machine.ranks, block, machine.nics)
    return options | {"algorithm": choice.kind}


def _joined(setting: Setting, place: Place, kind: Kind) -> Plan:
    """Return the switches of an algorithm in which those between servers add up."""
    return collnet_plan(setting, kind, place.heads, place.local_size)


def _members(setting: Setting, options: Mapping[str, Any]) -> Sequence[int]:
    """Return the ranks, and the switches that add up for them."""
    kind = options.get("algorithm")
    if kind not in SWITCH_KINDS:
        return setting.ranks
    place = _place(setting)
    far = kind != "nvls_tree" and len(setting.ranks) > place.local_size
    plan = _joined(setting, place, kind) if far else plan_of(setting, kind)
    if not plan.options.items() <= dict(options["switches"]).items():
        raise CollectiveError("switches join the groups in different ways")
    return tuple(plan.number)


def _explain(setting: Setting) -> str:
    """Return what NCCL takes, as its log prints it, and the times of its model."""
    if len(setting.ranks) == 1:
        return "nothing to send"
    place = _place(setting)
    machine = _machine(setting, place)
    ranked = _ranked(setting, machine)
    nics = f"{len(place.heads)} channels" if machine.servers > 1 else "one server"
    times = ", ".join(f"{one.kind}/{one.protocol} {one.time_us:.4g} µs" for one in ranked)
    model = f"; {times}" if len(ranked) > 1 else ""
    return f"{ranked[0].name}, {nics}, {machine.generation}{model}"


def _check(setting: Setting) -> None:
    """Accept groups whose steps can be written."""
    size = len(setting.ranks)
    if size == 1 or setting.operation == "all_to_all":
        return
    local = _local_size(setting)
    if setting.operation in ROOTED:
        require_written(2 * size * rounds_of(setting) * local)
        return
    block = 1 if local == size else local
    steps = 2 * rounds_of(setting) * block * block  # of rings; each member has a channel at most
    require_written(steps)
    require_numbers(size // block, steps, block)


_OPERATIONS = ("all_reduce", "all_gather", "reduce_scatter", "broadcast", "reduce", "all_to_all")

ALGORITHM = Algorithm(
    "nccl",
    "as NCCL: rings and trees over channels, with its protocols, chosen by its tuner's model",
    {operation: partial(_build, operation) for operation in _OPERATIONS},
    choose=_choose,
    check=_check,
    explain=_explain,
    members=_members,
)
