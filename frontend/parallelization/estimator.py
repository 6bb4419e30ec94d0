"""Estimate the iteration time of a strategy on a network, quickly.

Each server computes one operator after another: forward in the order of the graph, and backward in
reverse order. It waits for outputs and gradients from other servers.

The micro-batches of a batch go forward one after another, then backward. A server goes on with the
next one while other servers work on an earlier one.

Transfers and all-reduces occupy links, one after another in the order in which they become ready. A
transfer is ready when all its senders have the output. It is done when its last byte arrives on the
last of its links; all its receivers get it at this time. The servers of an operator wait for the
exchange of its partial sums. An all-reduce is ready when all its servers have the gradients. It
overlaps later computations, as in FlexFlow. The iteration ends when all servers have finished all
computations and all all-reduces are done.

The work of an operator and the load of a transfer depend only on placements. A *plan* has these
values for a strategy. To get the plan of a similar strategy, only a few entries have to change.

Source: Z. Jia, M. Zaharia, A. Aiken, "Beyond data and model parallelism for deep neural networks"
(FlexFlow), MLSys 2019, section 5; W. Wang et al., "TopoOpt", NSDI 2023, section 5.1 (FlexNet).
"""

from __future__ import annotations

import heapq
from collections.abc import Callable, Mapping
from dataclasses import dataclass
from functools import cached_property, lru_cache, partial
from itertools import chain
from typing import NamedTuple

import numpy as np

from frontend.collectives.group_rings import group_rings
from frontend.parallelization.demands import reduced_groups
from frontend.parallelization.fabric import Fabric, LinkLoad, Routes, Seconds, Wire
from frontend.parallelization.operators import OperatorGraph, StrategyError, check_graph
from frontend.parallelization.server import Server, work
from frontend.parallelization.strategy import Placement, Strategy, check_placement, check_strategy
from frontend.parallelization.transfers import Numbers, Transfer, partial_sums, transfer
from topology_gen import Network
from topology_gen.topoopt import TopoOptTopology

Key = tuple[int, int]


class LinkQueue:
    """The time at which each link becomes free, and the queue of transfers.

    A queued transfer is carried only when a server waits for it, or for a transfer that becomes
    ready later. Until then, a transfer that becomes ready earlier may still be queued.
    """

    def __init__(self, links: int) -> None:
        self._free = np.zeros(links)
        self._waiting: list[tuple[float, int, Key | None, LinkLoad]] = []
        self._sent = 0
        self._arrived: dict[Key, float] = {}
        self._last = 0.0

    def send(self, key: Key | None, ready: float, load: LinkLoad) -> None:
        """Queue a transfer, with a key for `wait`, or an all-reduce (without a key)."""
        heapq.heappush(self._waiting, (ready, self._sent, key, load))
        self._sent += 1

    def wait(self, key: Key, clock: Seconds, receivers: Numbers) -> None:
        """Carry transfers until the given one arrives, and advance its receivers' clocks."""
        while key not in self._arrived:
            self._carry()
        clock[receivers] = np.maximum(clock[receivers], self._arrived.pop(key))

    def finish(self) -> float:
        """Carry all queued transfers and return the arrival time of the last byte."""
        while self._waiting:
            self._carry()
        return self._last

    def _carry(self) -> None:
        ready, _, key, (links, seconds, latency) = heapq.heappop(self._waiting)
        if links.size == self._free.size:  # all of them: nothing to look up
            free = np.maximum(self._free, ready, out=self._free)
            free += seconds
        else:
            free = np.maximum(self._free[links], ready)
            free += seconds
            self._free[links] = free
        arrived = float(free.max()) + latency
        self._last = max(self._last, arrived)
        if key is not None:
            self._arrived[key] = arrived


@dataclass(frozen=True)
class Move:
    """A transfer: its senders, the receivers that wait for it, and its load on the links."""

    senders: Numbers
    receivers: Numbers
    messages: int
    """Number of pairs of servers that exchange data."""
    make_load: Callable[[], LinkLoad]
    """Finds the load. Most plans with many messages are rejected before anything asks for it."""

    @cached_property
    def load(self) -> LinkLoad:
        """The load on the links."""
        return self.make_load()


class Task(NamedTuple):
    """An operator under a placement. Arrays have an entry per server, 0 where it does not run."""

    forward: Seconds
    backward: Seconds
    summing: Seconds
    memory_bytes: Seconds
    members: Numbers
    all_reduce: LinkLoad | None
    """All-reduces of all groups together."""
    sums: tuple[Move, Move] | None
    """Exchange of partial sums, forward and backward."""


class Plan(NamedTuple):
    """A strategy with its tasks and moves."""

    strategy: Strategy
    tasks: tuple[Task, ...]
    """The task of each operator."""
    moves: tuple[tuple[tuple[Move, Move] | None, ...], ...]
    """For each input of each operator, the forward and the backward transfer; None for neither."""
    memory_bytes: Seconds
    """Memory that each server needs."""

    @property
    def messages(self) -> int:
        """Number of messages between servers in an iteration, if each takes one path."""
        pairs = [*(task.sums for task in self.tasks), *chain.from_iterable(self.moves)]
        each = sum(there.messages + back.messages for there, back in filter(None, pairs))
        return each * self.strategy.microbatches


_SUMS = -1
"""Number of the exchange of partial sums among the transfers that an operator waits for."""

_REMEMBERED = 8192
"""Size of each cache of loads, in placements or pairs of them; an entry has a few kilobytes."""


class Estimator:
    """Estimates the iteration time of strategies for a model.

    Parameters
    ----------
    graph : OperatorGraph
        The model.
    server : Server
        Hardware of each server.
    network : Network
        Network with one rank per server.
    topology : TopoOptTopology, optional
        TopoOpt topology whose rings the all-reduces use, if the network has one.
    wire : Wire, optional
        Sizes of packets and headers.
    routes : Routes, optional
        The routes that messages take.

    Raises
    ------
    StrategyError
        If the graph is invalid.
    """

    def __init__(
        self,
        graph: OperatorGraph,
        server: Server,
        network: Network,
        topology: TopoOptTopology | None = None,
        wire: Wire | None = None,
        routes: Routes | None = None,
    ) -> None:
        check_graph(graph)
        self.graph = graph
        self.servers = network.ranks
        self._server = server
        self._topology = topology
        self._fabric = Fabric(network, wire, routes)
        # Operators with equal outputs share cache entries, under the index of the first of them.
        first: dict[tuple[int, int, int], int] = {}
        self._alike = [
            first.setdefault((operator.output_bytes, operator.parts, operator.rows), index)
            for index, operator in enumerate(graph.operators)
        ]
        self._task = lru_cache(_REMEMBERED)(self._make_task)
        self._move = lru_cache(_REMEMBERED)(self._make_move)
        self._all_reduces = lru_cache(_REMEMBERED)(self._make_all_reduces)

    def plan(self, strategy: Strategy) -> Plan:
        """Return the plan of a strategy.

        Raises
        ------
        StrategyError
            If the strategy does not fit the graph or the number of servers.
        """
        check_strategy(strategy, self.graph)
        if strategy.servers != self.servers:
            raise StrategyError(
                f"a strategy for {strategy.servers} servers: expected one for {self.servers}, the "
                "number of servers in the network"
            )
        batch = self.graph.microbatch(strategy.microbatches).batch
        tasks = tuple(
            self._task(equals[0], placement, batch)
            for equals, placement in zip(self.graph.equals, strategy.placements, strict=True)
        )
        moves = tuple(
            tuple(
                self._between(source, index, position, strategy)
                for position, source in enumerate(operator.inputs)
            )
            for index, operator in enumerate(self.graph.operators)
        )
        return Plan(strategy, tasks, moves, sum((task.memory_bytes for task in tasks), np.zeros(1)))

    def changed(self, plan: Plan, proposed: Mapping[int, Placement]) -> Plan:
        """Return the plan after some operators, by index, get another placement.

        Raises
        ------
        StrategyError
            If the placement is not possible.
        """
        chosen = set(proposed)
        placements, tasks, moves = (
            list(plan.strategy.placements),
            list(plan.tasks),
            list(plan.moves),
        )
        memory = plan.memory_bytes.copy()
        batch = self.graph.microbatch(plan.strategy.microbatches).batch
        for index, placement in proposed.items():
            check_placement(placement, self.graph.operators[index], self.servers)
            placements[index] = placement
            memory -= tasks[index].memory_bytes
            tasks[index] = self._task(self.graph.equals[index][0], placement, batch)
            memory += tasks[index].memory_bytes
        strategy = plan.strategy._replace(placements=tuple(placements))
        reading = {reader for index in chosen for reader, _ in self.graph.readers[index]}
        for index in chosen | reading:
            moves[index] = tuple(
                pair
                if not {source, index} & chosen
                else self._between(source, index, position, strategy)
                for position, (source, pair) in enumerate(
                    zip(self.graph.operators[index].inputs, plan.moves[index], strict=True)
                )
            )
        return Plan(strategy, tuple(tasks), tuple(moves), memory)

    @property
    def gpus(self) -> int:
        """Number of GPUs of a server."""
        return self._server.gpus

    @property
    def memory_bytes(self) -> float:
        """Memory of a server."""
        return self._server.gpus * self._server.memory_bytes

    def fits(self, plan: Plan) -> bool:
        """Return whether every server has enough memory for a plan."""
        return bool(plan.memory_bytes.max() <= self.memory_bytes)

    def seconds(self, plan: Plan) -> float:
        """Return the iteration time of a plan in seconds."""
        clock = np.zeros(self.servers)
        links = LinkQueue(self._fabric.network.links)
        count = plan.strategy.microbatches
        for _ in range(count):
            self._forward(plan, clock, links)
        for number in range(count):
            self._backward(plan, clock, links, is_last=number == count - 1)
        return max(float(clock.max()), links.finish())

    def _forward(self, plan: Plan, clock: Seconds, links: LinkQueue) -> None:
        """Advance the clocks of the servers by the forward phase of a micro-batch."""
        moves = plan.moves
        for index, task in enumerate(plan.tasks):
            for number, pair in enumerate(moves[index]):
                if pair is not None:
                    links.wait((index, number), clock, pair[0].receivers)
            clock += task.forward
            self._exchange(links, clock, index, task, 0)
            for reader, number in self.graph.readers[index]:
                pair = moves[reader][number]
                if pair is not None:
                    links.send((reader, number), clock[pair[0].senders].max(), pair[0].load)

    def _backward(self, plan: Plan, clock: Seconds, links: LinkQueue, *, is_last: bool) -> None:
        """Advance the clocks of the servers by the backward phase of a micro-batch."""
        tasks, moves = plan.tasks, plan.moves
        for index in range(len(tasks) - 1, -1, -1):
            task = tasks[index]
            for reader, number in self.graph.readers[index]:
                pair = moves[reader][number]
                if pair is not None:
                    links.wait((reader, number), clock, pair[1].receivers)
            self._exchange(links, clock, index, task, 1)
            clock += task.backward
            if is_last:
                clock += task.summing
                if task.all_reduce is not None:
                    links.send(None, clock[task.members].max(), task.all_reduce)
            for number, pair in enumerate(moves[index]):
                if pair is not None:
                    links.send((index, number), clock[pair[1].senders].max(), pair[1].load)

    @staticmethod
    def _exchange(links: LinkQueue, clock: Seconds, index: int, task: Task, phase: int) -> None:
        """Let the servers of an operator exchange its partial sums, or the gradients of the sum."""
        if task.sums is not None:
            move = task.sums[phase]
            links.send((index, _SUMS), clock[move.senders].max(), move.load)
            links.wait((index, _SUMS), clock, move.receivers)

    def _make_task(self, index: int, placement: Placement, batch: int) -> Task:
        operator = self.graph.operators[index]
        done = work(operator, placement, batch, self._server)
        stored = done.memory_bytes
        if batch < self.graph.batch:
            # The outputs of all micro-batches are stored until these go backward.
            stored = work(operator, placement, self.graph.batch, self._server).memory_bytes
        members = np.array(placement.servers, dtype=np.int64)

        def spread(amount: Seconds) -> Seconds:
            every = np.zeros(self.servers)
            every[members] = amount
            return every

        reduced = self._all_reduces(tuple(reduced_groups(operator, placement)))
        sums = None
        if placement.rows > 1:
            sums = self._both_ways(partial(partial_sums, operator, batch, placement))
        forward, backward = spread(done.forward), spread(done.backward)
        summing, memory = spread(done.summing), spread(stored)
        return Task(forward, backward, summing, memory, members, reduced, sums)

    def _make_all_reduces(self, groups: tuple[tuple[tuple[int, ...], int], ...]) -> LinkLoad | None:
        rings = [(group_rings(members, self._topology), size) for members, size in groups]
        return self._fabric.all_reduces(rings)

    def _between(
        self, source: int, target: int, position: int, strategy: Strategy
    ) -> tuple[Move, Move] | None:
        placed = strategy.placements
        origin, there = placed[source], placed[target]
        if origin == there and there.weight_parts == 1:
            return None
        aligned = position in self.graph.operators[target].aligned
        reader = self._alike[target] if there.weight_parts > 1 else -1
        batch = self.graph.microbatch(strategy.microbatches).batch
        return self._move(self._alike[source], origin, there, reader, aligned, batch)

    def _make_move(
        self,
        source: int,
        origin: Placement,
        target: Placement,
        reader: int,
        aligned: bool,
        batch: int,
    ) -> tuple[Move, Move] | None:
        read = None if reader < 0 else self.graph.operators[reader]
        if read is not None:
            read = read._replace(aligned=(0,) if aligned else ())
        output = self.graph.operators[source]
        return self._both_ways(partial(transfer, output, batch, origin, target, read))

    def _both_ways(self, make: Callable[[], Transfer]) -> tuple[Move, Move] | None:
        # The transfer is made again for the loads: a cache of transfers would be large.
        messages, moved = make().between()
        if not messages:
            return None
        senders, receivers = moved.has.servers, moved.needs.servers
        return (
            Move(senders, receivers, messages, lambda: self._fabric.transfer(make())),
            Move(receivers, senders, messages, lambda: self._fabric.transfer(make().reversed)),
        )
