"""Collectives in which switches add up what ranks send, and multicast the result.

`nvls` is NVLink SHARP: the ranks share one or several switches, each of which takes an equal part.
A rank owns a shard, loads the sum of it through the switches, and stores it to all ranks by a
multicast, its own copy included. Of D bytes and N ranks, a rank sends and receives (1 + 1/N)·D in
an all-reduce, and D one way and D/N the other way in a reduce-scatter and an all-gather; a ring
sends 2(N-1)/N·D and (N-1)/N·D. A broadcast and a reduce take the switches as trees.

`sharp` is a tree of switches: each adds up what comes from below and passes it on, and the root
sends the result down. A rank sends and receives D in an all-reduce. In servers, the ranks first add
up shards inside, by the server's own switches if these reduce, and each shard has a tree of its own
between the ranks at the same place. In other operations, the tree spreads from the rank that has
something, and what is reduced runs towards the rank that wants it.

All are pipelines of segments. Where what a rank sends first would hold up what it sends later by
the same link, it keeps no more segments in flight than the way to the result needs.

Source: B. Klenk et al., "An in-network architecture for accelerating shared-memory multiprocessor
collectives", ISCA 2020; R. L. Graham et al., "Scalable Hierarchical Aggregation Protocol (SHArP)",
COMHPC 2016; NVIDIA/nccl (0e35f5d), src/device/all_reduce.h (NVLS, and CollNet beside it).
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Mapping, Sequence
from functools import partial
from math import ceil
from typing import Any, NamedTuple

import numpy as np

from frontend.collectives.program.in_switches import (
    Edges,
    all_reduce,
    along_trees,
    shards,
    star_of,
)
from frontend.collectives.program.program import CollectiveError
from frontend.collectives.reduction_trees import star, trees
from frontend.collectives.registry import (
    MOST_BUILT_STEPS,
    ROOTED,
    Algorithm,
    dimension_and_root,
    require_repeated_numbers,
    require_written,
    segments_of,
)
from frontend.collectives.setting import Setting
from frontend.topologies.registry import IN_NETWORK

_PS_BITS = 8 * 10**12  # picoseconds of a byte at 1 bit/s

_AUTO_STEPS = 2**22
"""With `segments: auto`, steps of a program that has those of every segment."""


class Plan(NamedTuple):
    """The switches of a collective, and what the options of its program depend on."""

    number: dict[int, int]
    """The member that each node is: the ranks, and then switches."""
    options: dict[str, Any]
    links: list[tuple[int, int]]
    """The links that decide how fast it is, each from a switch to a switch or a rank."""
    lanes: int
    """Switches to which a rank sends at the same time."""
    ways: int
    """Parts of a segment that are messages of their own."""
    messages: int
    """Messages of a segment."""
    hops: int
    """Messages one after the other, from the first of a segment to the last."""
    filling: int
    """Messages for which a link waits while the pipeline fills and runs dry."""
    back: int
    """Of `hops`, those until what a rank sends first comes back to it to be sent on; 0: never."""
    load: float
    """Bytes that a rank sends to all lanes, over those of its buffer."""


def numbers_of(ranks: Sequence[int], found: Iterable[Edges], last: Iterable[int]) -> dict[int, int]:
    """Return the member that each node is: the ranks, the switches of trees, and the last ones."""
    nodes = dict.fromkeys(ranks)
    for tree in found:
        nodes |= dict.fromkeys(node for edge in tree for node in edge)
    return {node: number for number, node in enumerate(nodes | dict.fromkeys(last))}


def _owners(setting: Setting) -> int:
    """Return the members that own a part of the buffer."""
    return 1 if setting.operation in ROOTED else len(setting.ranks)


def nvls_plan(setting: Setting) -> Plan:
    ranks, size = setting.ranks, len(setting.ranks)
    shared = star(setting, ranks, is_inside=True) or star(setting, ranks, is_inside=False)
    if not shared:
        raise CollectiveError(
            f"the {size} ranks share no switch that reduces: expected the ranks of one server, or "
            "another algorithm"
        )
    lanes, whole = len(shared), setting.operation == "all_reduce"
    options: dict[str, Any] = {"switches": lanes}
    if whole:
        options["inside"] = lanes
    elif setting.operation in ROOTED:
        options["trees"] = tuple(star_of(size, size + way) for way in range(lanes))
    ways = _owners(setting) * lanes
    return Plan(
        number=numbers_of(ranks, (), shared),
        options=options,
        links=[(switch, rank) for switch in shared for rank in ranks],
        lanes=lanes,
        ways=ways,
        messages=ways * (size + 1) * (1 + whole),
        hops=4 if whole else 2,
        # In an all-reduce, a rank gets the first sum when it has sent a whole segment, and at the
        # end it waits for the last segment; its own messages pass meanwhile.
        filling=2 * size - 1 if whole else 1,
        back=2 if whole else 0,
        load=1 + 1 / size if whole else 1,
    )


def sharp_plan(setting: Setting, *, own_switches: bool = True) -> Plan:
    """Return the plan of trees of switches.

    Parameters
    ----------
    own_switches : bool
        Whether the switches of servers add up inside, if they can; otherwise ranks do.
    """
    ranks, size = list(setting.ranks), len(setting.ranks)
    local = 1
    if setting.operation == "all_reduce" and setting.layout.super_node is not None:
        local = setting.local_size
    servers = size // local
    places = [trees(setting, ranks[place::local]) for place in range(local if servers > 1 else 0)]
    if not places:
        raise CollectiveError(f"the {size} ranks are in one server: expected nvls")
    stars = [
        star(setting, ranks[first : first + local], is_inside=True)
        for first in range(0, size, local)
    ]
    inside = min(map(len, stars)) if local > 1 and own_switches else 0
    every = [tree for place in places for tree in place]
    number = numbers_of(ranks, every, (switch for one in stars for switch in one[:inside]))
    numbered = tuple(
        tuple(tuple((number[one], number[other]) for one, other in tree) for tree in place)
        for place in places
    )
    whole = setting.operation == "all_reduce"
    lanes = len(places[0])
    ways = (local if whole else _owners(setting)) * max(inside, 1) * lanes
    own = servers * (2 * local + 2 if inside else 2 * local - 2)
    edges, depth = max(map(len, every)), 2 * max(map(depth_of, every))
    own_hops = 0 if local == 1 else 2 if inside else 1
    return Plan(
        number=number,
        options={"switches": len(number) - size}
        | ({"servers": servers, "inside": inside, "places": numbered} if whole
           else {"trees": numbered[0]}),
        links=[edge for tree in every for edge in tree],
        lanes=lanes,
        ways=ways,
        messages=ways * (2 * edges + own if whole else edges),
        hops=depth + 2 * own_hops,
        filling=depth + 2 * own_hops - 1,
        back=depth + own_hops if local > 1 else 0,
        load=1 / local,
    )  # fmt: skip


def depth_of(tree: Edges) -> int:
    """Return the most links from the root of a tree to a rank."""
    level = {tree[0][0]: 0}
    for parent, child in tree:
        level[child] = level[parent] + 1
    return max(level.values())


class Pace(NamedTuple):
    """How fast a plan is."""

    rate_bps: float
    """Total rate of the slowest rank to its switches."""
    latency_ps: float
    """The longest latency between a rank and a switch, or two switches."""

    def message_ps(self, plan: Plan, part: float) -> float:
        """Return the time to send a message, for parts of a size in bytes."""
        return part / plan.ways * _PS_BITS * plan.lanes / self.rate_bps

    def hop_ps(self, plan: Plan, part: float) -> float:
        """Return the time until a message has arrived, for parts of a size in bytes."""
        return self.latency_ps + self.message_ps(plan, part)


def pace_of(setting: Setting, plan: Plan) -> Pace:
    """Return how fast a plan is."""
    network, ends = setting.network(), np.array(plan.links, np.int64)
    paths = network.node_paths(ends[:, 1], ends[:, 0])
    begin = paths.begin[:-1].astype(np.int64)
    latency = np.add.reduceat(network.latency_ps[paths.links], begin)
    rate = np.minimum.reduceat(network.rate_bps[paths.links], begin)
    total = np.bincount(ends[:, 1], rate, network.nodes)[list(setting.ranks)]
    return Pace(float(total.min()), float(latency.max()))


def _filling(setting: Setting, plan: Plan) -> float:
    """Return the time to fill the pipeline of one segment, over all other time of a chunk."""
    pace, chunk = pace_of(setting, plan), setting.chunk_bytes
    latency = plan.hops * (pace.latency_ps + setting.hop_ps / 2)
    data = plan.load * chunk * _PS_BITS / pace.rate_bps
    filling = plan.filling * pace.message_ps(plan, chunk)
    return filling / max(data + latency / setting.chunks, 1)


def _segments(setting: Setting, plan: Plan, filling: float) -> int:
    given = setting.given.segments
    count = segments_of(given, setting.chunks, setting.chunk_bytes, plan.ways, filling=filling)
    if isinstance(given, int) or not plan.back:
        return count
    return max(1, min(count, _AUTO_STEPS // (2 * plan.messages)))


def window_of(setting: Setting, plan: Plan, segments: int, waits_ps: float = 0) -> int:
    """Return the segments that a rank begins until the first comes back; 0: all of them.

    With fewer, its links would wait; with more, the first result would.

    Parameters
    ----------
    waits_ps : float
        Time on the way that is not the network's.
    """
    pace, segment = pace_of(setting, plan), setting.chunk_bytes / segments
    each = max(plan.load * segment * _PS_BITS / pace.rate_bps, 1)
    around = plan.back * pace.hop_ps(plan, segment) + 2 * setting.hop_ps + waits_ps
    window = 1 + ceil(around / each)
    return window if window < segments else 0


def _choose(make: Callable[[Setting], Plan], setting: Setting) -> dict[str, Any]:
    plan = make(setting)
    segments = _segments(setting, plan, _filling(setting, plan))
    options = dimension_and_root(setting) | plan.options | {"segments": segments}
    if plan.back:
        options["window"] = window_of(setting, plan, segments)
    return options


def _members(
    make: Callable[[Setting], Plan], setting: Setting, options: Mapping[str, Any]
) -> Sequence[int]:
    plan = make(setting)
    if not plan.options.items() <= options.items():
        raise CollectiveError("switches join the groups in different ways")
    return tuple(plan.number)


def segments_in(setting: Setting, plan: Plan, *, filling: float | None = None) -> int:
    """Return the segments of a plan; raise StepsError if the steps cannot be numbered.

    Parameters
    ----------
    filling : float, optional
        That of `segments_of`, instead of what the network makes of the plan.
    """
    segments = _segments(setting, plan, _filling(setting, plan) if filling is None else filling)
    require_written(2 * plan.messages, MOST_BUILT_STEPS)
    require_repeated_numbers(2 * plan.messages, segments)
    if plan.back:
        require_written(2 * plan.messages * segments, segments=segments)
    return segments


def _check(make: Callable[[Setting], Plan], setting: Setting) -> None:
    """Accept groups whose switches reduce, and in which the steps can be numbered."""
    if len(setting.ranks) > 1:
        segments_in(setting, make(setting))


def estimate_ps(setting: Setting) -> dict[str, float]:
    """Return the time of each algorithm of this module that works, without contention."""
    times = {}
    for name, make in _PLANS.items():
        if setting.operation not in OPERATIONS or IN_NETWORK not in setting.layout.features:
            continue
        try:
            plan = make(setting)
            segments = segments_in(setting, plan)
        except CollectiveError:
            continue
        pace = pace_of(setting, plan)
        segment = setting.chunk_bytes / segments
        data = plan.load * setting.chunks * setting.chunk_bytes
        times[name] = (
            data * _PS_BITS / pace.rate_bps
            + plan.hops * (pace.latency_ps + setting.hop_ps / 2)
            + plan.filling * pace.message_ps(plan, segment)
        )
    return times


_PLANS = {"nvls": nvls_plan, "sharp": sharp_plan}

OPERATIONS = ("all_reduce", "reduce_scatter", "all_gather", "broadcast", "reduce")


def _algorithm(name: str, description: str, **own: Callable[..., Any]) -> Algorithm:
    make = _PLANS[name]
    return Algorithm(
        name,
        description,
        {operation: partial(along_trees, name, operation) for operation in OPERATIONS}
        | {"all_reduce": partial(all_reduce, name)}
        | own,
        needs=frozenset({IN_NETWORK}),
        choose=partial(_choose, make),
        check=partial(_check, make),
        members=partial(_members, make),
    )


NVLS = _algorithm(
    "nvls",
    "the switches that all ranks share add up and multicast (NVLink SHARP)",
    reduce_scatter=partial(shards, "reduce_scatter"),
    all_gather=partial(shards, "all_gather"),
)
SHARP = _algorithm("sharp", "trees of switches add up and multicast (SHARP)")
