"""Programs whose members are ranks and switches, which add up what ranks send and multicast it.

The ranks come first. A unit of a collective takes one way, a tree or a switch of its own, in one
segment. Its messages are those of its owner: the rank that ends with the sum, or begins with the
data.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping, Sequence
from itertools import product
from typing import Any, NamedTuple

from frontend.collectives.program.program import Program, ProgramBuilder, known_root
from frontend.collectives.program.rotation import Repetition, repetition

Edges = tuple[tuple[int, int], ...]
"""The links of a tree, each from the end that is nearer to the root; its first end is the root."""

Handles = dict[int, list[int]]
"""Steps by member."""

WITH_ROOT = ("broadcast", "reduce")


class Sum:
    """The messages of one segment, and what a pipeline must know of them.

    Of the units, each owner has as many: one for each way in each segment.
    """

    def __init__(
        self, name: str, operation: str, ranks: int, switches: int, dimension: str, owners: int,
        units: int, root: int = 0,
    ) -> None:  # fmt: skip
        self.units, self.owners = units, owners
        self.builder = ProgramBuilder(
            name,
            operation,
            ranks + switches,
            units=units,
            space=2 * units,
            dimensions=(dimension,),
            root=root,
            switches=tuple(range(ranks, ranks + switches)),
        )
        # By member and way: the SENDs that wait for nothing, and the last of the others.
        self.first: dict[tuple[int, int], list[int]] = {}
        self.last: dict[tuple[int, int], int] = {}

    def message(
        self, source: int, target: int, unit: int, after: Iterable[int] = (), **options: Any
    ) -> int:
        """Add a message of one unit, and return its receive."""
        send, receive = self.builder.message(source, target, unit, 1, after=after, **options)
        way = source, unit % self.units % (self.units // self.owners)
        if after:
            self.last[way] = send
        else:
            self.first.setdefault(way, []).append(send)
        return receive

    def gather(
        self, tree: Edges, center: int, unit: int, after: Mapping[int, list[int]] | None = None
    ) -> list[int]:
        """Add up a unit of the members of a tree; return the receives at the center.

        What comes from below is added to what a member has after some steps of its own.
        """
        own = after or {}
        got = {member: list(steps) for member, steps in own.items()}
        for parent, child in reversed(_from(tree, center)):
            below = got.get(child, [])
            receive = self.message(
                child, parent, unit, below, reduce=True, receive_after=own.get(parent, [])
            )
            got.setdefault(parent, []).append(receive)
        return got[center]

    def spread(self, tree: Edges, center: int, unit: int, after: list[int]) -> Handles:
        """Send a unit from the center to all members of a tree; return their receives."""
        got = {center: after}
        for parent, child in _from(tree, center):
            got[child] = [self.message(parent, child, unit, got[parent])]
        return got

    def load(self, switch: int, ranks: Sequence[int], owner: int, unit: int) -> int:
        """Let a switch add up a unit of some ranks for its owner; return the owner's receive."""
        sums = [self.message(rank, switch, unit, reduce=True) for rank in ranks]
        return self.message(switch, owner, unit, sums)

    def store(
        self, switch: int, ranks: Sequence[int], owner: int, unit: int, after: Iterable[int]
    ) -> None:
        """Let a switch multicast a unit of its owner to some ranks.

        The owner's copy goes to its scratch space.
        """
        scratch = self.units + unit
        at = self.message(owner, switch, unit, after, into=scratch)
        for rank in ranks:
            self.message(switch, rank, scratch, [at], into=scratch if rank == owner else unit)

    def repeated(self, times: int, step: int, window: int = 0) -> Program | Repetition:
        """Return the program of all segments.

        With a window, a member begins a segment when it has sent on what came back of the one that
        is so much earlier. So it sends both in turn, and all members do so in the same order.
        """
        if times == 1:
            return self.builder.build()
        if not window:
            return repetition(self.builder.build(), times, step)
        gates = [
            (send, self.last[way])
            for way, sends in self.first.items()
            if way in self.last
            for send in sends
        ]
        return self.builder.pipeline(times, step, gates, window)


class Servers(NamedTuple):
    """Servers of equally many ranks, one after the other."""

    servers: int
    local: int
    """Ranks of each."""
    inside: int
    """Switches of each; 0: the ranks send to each other."""
    first: int
    """The member that is the first of these switches."""

    def switch(self, rank: int, way: int) -> int:
        """Return the switch of a rank's server that carries a way."""
        return self.first + rank // self.local * self.inside + way % self.inside

    def exchanges(self, ways: int) -> Iterator[tuple[int, int, range, int]]:
        """Yield place, way, ranks of the server, and how many places further the other rank is.

        With switches, all ranks take part at once.
        """
        turns = 1 if self.inside else self.local
        for turn, server, place, way in product(
            *map(range, (turns, self.servers, self.local, ways))
        ):
            yield place, way, range(server * self.local, (server + 1) * self.local), turn


def star_of(size: int, switch: int) -> Edges:
    """Return the tree of one switch and all ranks."""
    return tuple((switch, rank) for rank in range(size))


def _from(tree: Edges, center: int) -> list[tuple[int, int]]:
    """Return the links of a tree, from its center outwards."""
    near: Handles = {}
    for one, other in tree:
        near.setdefault(one, []).append(other)
        near.setdefault(other, []).append(one)
    found: list[tuple[int, int]] = []
    waiting, seen = [center], {center}
    for node in waiting:
        for other in near[node]:
            if other not in seen:
                seen.add(other)
                waiting.append(other)
                found.append((node, other))
    return found


def all_reduce(
    name: str,
    group_size: int,
    *,
    servers: int = 1,
    inside: int = 0,
    places: tuple[tuple[Edges, ...], ...] = (),
    switches: int = 1,
    segments: int = 1,
    window: int = 0,
    dimension: str = "scale_out",
) -> Program | Repetition:
    """Return an all-reduce: add up shards in each server, then between servers, and share them.

    Parameters
    ----------
    servers : int
        Number of servers of equally many members, one after the other.
    inside : int
        Number of switches in each server. They are the last members, server by server; 0: ranks
        send to each other.
    places : tuple of tuples of Edges
        For each place in a server, the trees between servers, all with equally many. By default,
        one switch is the tree of all ranks.
    switches : int
        Number of all switches.
    segments, window : int
        Number of segments, and how many of them are in flight; 0: all.
    """
    if not inside and not places:
        servers, places = group_size, ((star_of(group_size, group_size),),)
    local = group_size // servers
    ways = max(inside, 1) * (len(places[0]) if places else 1)
    units = local * ways * segments
    steps = Sum(name, "all_reduce", group_size, switches, dimension, local, units)
    server = Servers(servers, local, inside, group_size + switches - servers * inside)
    after: dict[tuple[int, int], Handles] = {}  # by place and way: what owners have of their server
    for place, way, ranks, turn in server.exchanges(ways):
        unit, owner, rank = place * segments * ways + way, ranks[place], ranks[place - turn]
        got = after.setdefault((place, way), {}).setdefault(owner, [])
        if inside:
            got.append(steps.load(server.switch(owner, way), ranks, owner, unit))
        elif rank != owner:
            got.append(steps.message(rank, owner, unit, reduce=True))
    for (place, way), own in after.items():
        if places:
            tree, unit = places[place][way // max(inside, 1)], place * segments * ways + way
            whole = steps.gather(tree, tree[0][0], unit, own)
            after[place, way] = steps.spread(tree, tree[0][0], unit, whole)
    for place, way, ranks, turn in server.exchanges(ways):
        unit, owner = place * segments * ways + way, ranks[place]
        rank, got = ranks[(place + turn) % local], after[place, way][owner]
        if inside:
            steps.store(server.switch(owner, way), ranks, owner, unit, got)
        elif rank != owner:
            steps.message(owner, rank, unit, got)
    return steps.repeated(segments, ways, window)


def shards(
    operation: str,
    group_size: int,
    *,
    switches: int = 1,
    segments: int = 1,
    dimension: str = "scale_up",
) -> Program | Repetition:
    """Return a reduce-scatter or an all-gather over the switches that all members share.

    Each switch has an equal part.
    """
    ranks, units = range(group_size), group_size * switches * segments
    steps = Sum("nvls", operation, group_size, switches, dimension, group_size, units)
    for owner in ranks:
        for way in range(switches):
            unit, switch = owner * switches * segments + way, group_size + way
            if operation == "reduce_scatter":
                steps.load(switch, ranks, owner, unit)
            else:
                steps.store(switch, ranks, owner, unit, ())
    return steps.repeated(segments, switches)


def along_trees(
    name: str,
    operation: str,
    group_size: int,
    *,
    trees: tuple[Edges, ...] = (),
    switches: int = 1,
    segments: int = 1,
    root: int = 0,
    dimension: str = "scale_out",
) -> Program | Repetition:
    """Return an operation over trees, each with an equal part; by default, one switch is all."""
    trees = trees or (star_of(group_size, group_size),)
    known_root(root, group_size)
    owners = [root] if operation in WITH_ROOT else range(group_size)
    units = len(owners) * len(trees) * segments
    steps = Sum(name, operation, group_size, switches, dimension, len(owners), units, root)
    for number, owner in enumerate(owners):
        for way, tree in enumerate(trees):
            unit = number * len(trees) * segments + way
            if operation in ("reduce", "reduce_scatter"):
                steps.gather(tree, owner, unit)
            else:
                steps.spread(tree, owner, unit, [])
    return steps.repeated(segments, len(trees))
