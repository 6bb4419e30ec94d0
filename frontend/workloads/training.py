"""Workload kind `training`: a model whose operators are placed on servers by a strategy.

Strategies combine data, model and attribute parallelism. In each iteration, a server's compute
stream runs the forward phase of its operators in order, their backward phase in reverse order, and
the update of its weights.

As soon as an operator's output is computed, the servers that have it send it to the servers whose
operators read it: one message for each operator, reader and pair of servers. The gradients take the
same way back. If several servers have the same weights, an all-reduce of their gradients starts as
soon as these are computed. Only the update at the end of the iteration waits for it.

Source: W. Wang et al., "TopoOpt", NSDI 2023, section 2.1; Z. Jia, M. Zaharia, A. Aiken, "Beyond
data and model parallelism for deep neural networks" (FlexFlow), MLSys 2019.
"""

from __future__ import annotations

from collections import Counter, defaultdict
from collections.abc import Iterable, Iterator
from itertools import pairwise
from typing import Any, Literal, NamedTuple

from frontend.collectives.choices import CollectiveAlgorithms
from frontend.errors import ScenarioError
from frontend.models import operator_graph
from frontend.parallelization import (
    OperatorGraph,
    Strategy,
    StrategyError,
    Transfer,
    data_parallel,
    demand,
    from_json,
    hybrid,
    partial_sums,
    reduced_groups,
    transfer,
)
from frontend.parallelization.server import Server, weight_bytes, work
from frontend.parallelization.strategy import bounds
from frontend.roofline import LONGEST_PS, Cost, duration_ps
from frontend.schema.base import Problems
from frontend.schema.training import Training, TrainingWorkload
from frontend.topologies import Layout, TopologyFamily
from frontend.workloads.plan import Issue, Node, NodeType, Plan, Ranks, Trace
from frontend.workloads.registry import WorkloadKind
from topology_gen.topoopt import Demand

Phase = Literal["forward", "backward"]

Arriving = dict[tuple[Phase, int, bool, int], list[int]]
"""Receives of a micro-batch by phase, operator, whether they are of partial sums, and server."""

OPTIMIZER = "optimizer"
_PS_PER_S = 10**12


def server(workload: Training) -> Server:
    """Return the hardware of a server of a workload."""
    compute = workload.compute
    return Server(
        gpus=workload.gpus,
        peak_flops=float(compute.peak_flops),
        memory_bandwidth=float(compute.memory_bandwidth),
        efficiency=compute.efficiency,
        memory_bytes=float(compute.memory),
        link_bandwidth=float(compute.nvlink),
    )


def strategy(workload: Training, graph: OperatorGraph) -> Strategy:
    """Return the parallelization strategy of a workload.

    The batch of `graph` determines the number of servers.

    Raises
    ------
    StrategyError
        If the strategy does not fit the model or the number of servers.
    """
    servers = graph.batch // (workload.batch_per_gpu * workload.gpus)
    chosen = workload.strategy
    if isinstance(chosen, str):
        return (data_parallel if chosen == "data_parallel" else hybrid)(graph, servers)
    result = from_json(chosen, graph)
    if result.servers != servers:
        raise StrategyError(
            f"servers: {result.servers}: expected {servers}, the number of ranks of the topology"
        )
    return result


def transfers(workload: Training, ranks: int) -> Demand:
    """Return the transfers of one iteration under a workload's strategy, for TopologyFinder.

    Raises
    ------
    StrategyError
        As for `strategy`.
    """
    graph = operator_graph(workload, ranks)
    return demand(graph, strategy(workload, graph))


def plan(workload: Training, ranks: int, algorithms: CollectiveAlgorithms, paths: int = 1) -> Plan:
    """Return the plan of `workload.iterations` iterations; servers with equal work share a trace.

    Messages between two servers are spread over `paths` routes.

    Raises
    ------
    ScenarioError
        If the strategy does not fit, or an operator lasts too long.
    """
    graph = operator_graph(workload, ranks)
    chosen = strategy(workload, graph)
    return _PlanBuilder(workload, graph, chosen, server(workload), algorithms, paths).build()


def default_collective() -> CollectiveAlgorithms:
    """Return the default collective algorithms: all-reduces use the rings of the topology."""
    return CollectiveAlgorithms(all_reduce="multi_ring")


def _strategy_problems(workload: Training, servers: int) -> Problems:
    """Yield the problem of a workload's strategy, if any."""
    try:
        strategy(workload, operator_graph(workload, servers))
    except ScenarioError as error:
        yield "workload.strategy", str(error)


def _gpu_problems(workload: Training, family: TopologyFamily[Any]) -> Problems:
    """Yield a problem if the NVLink of a server would count twice."""
    if family.joins_gpus and workload.gpus > 1:
        yield (
            "workload.gpus",
            f"expected 1, because a rank of a {family.label} topology is one GPU, and the topology "
            "has the NVLinks",
        )


class Message(NamedTuple):
    """A message from one server to another: an operator's output, or the gradient of its input.

    If both operators are the same, the message has partial sums of its output, or gradients of
    this output.
    """

    phase: Phase
    operator: int
    """Index of the operator that the message follows."""
    reader: int
    """Index of the operator that waits for the message in the same phase."""
    source: int
    """Sending server."""
    target: int
    """Receiving server."""
    bytes: int
    """Size of the message."""
    route: int = 0
    """Index of the path between the two servers that the message takes."""

    @property
    def sums(self) -> bool:
        """Whether the message belongs to the exchange of partial sums."""
        return self.operator == self.reader


def messages(graph: OperatorGraph, strategy: Strategy, paths: int = 1) -> list[Message]:
    """Return the messages of a micro-batch, ordered by the operators that read the outputs.

    What a server sends to another server after an operator is divided evenly among `paths`
    messages, each with a route of its own.
    """
    return [part for whole in _messages(graph, strategy) for part in _spread(whole, paths)]


def _spread(message: Message, paths: int) -> Iterator[Message]:
    for route, (first, end) in enumerate(pairwise(bounds(message.bytes, paths))):
        if first < end:
            yield Message(*message[:5], end - first, route)


def _messages(graph: OperatorGraph, strategy: Strategy) -> Iterator[Message]:
    placed = strategy.placements
    batch = graph.microbatch(strategy.microbatches).batch
    for reader, operator in enumerate(graph.operators):
        for position, producer in enumerate(operator.inputs):
            read = graph.operators[producer]
            origin, target = placed[producer], placed[reader]
            moved = transfer(read, batch, origin, target, operator, position)
            yield from _both_ways(producer, reader, moved)
        if placed[reader].rows > 1:
            sums = partial_sums(operator, batch, placed[reader])
            yield from _both_ways(reader, reader, sums)


def _both_ways(producer: int, reader: int, moved: Transfer) -> Iterator[Message]:
    for source, target, size in zip(*(each.tolist() for each in moved.messages()), strict=True):
        yield Message("forward", producer, reader, source, target, size)
        yield Message("backward", reader, producer, target, source, size)


class _PlanBuilder:
    """Builds the streams of all servers, one iteration after another.

    Raises
    ------
    ScenarioError
        If an operator lasts too long.
    """

    def __init__(
        self,
        workload: Training,
        graph: OperatorGraph,
        strategy: Strategy,
        server: Server,
        algorithms: CollectiveAlgorithms,
        paths: int,
    ) -> None:
        self.workload = workload
        self.server = server
        self.graph = graph
        self.strategy = strategy
        self.algorithms = algorithms
        self.names = [operator.name for operator in self.graph.operators]
        self.plan = Plan(layers=(*self.names, OPTIMIZER))
        self.streams: list[list[Node]] = [[] for _ in range(strategy.servers)]
        # Of each server: the latest weight update, which the next iteration waits for.
        self.latest_update: list[tuple[int, ...]] = [()] * strategy.servers
        self.reductions: list[list[int]] = []
        self.messages = messages(self.graph, self.strategy, paths)
        self.owners = [self.owner(message) for message in self.messages]
        self.sent: dict[tuple[Phase, int, bool], list[int]] = defaultdict(list)
        for number, message in enumerate(self.messages):
            self.sent[message.phase, message.operator, message.sums].append(number)
        self.durations: dict[Phase, list[list[int]]] = {"forward": [], "backward": []}
        # The backward phase of the last micro-batch also sums gradients inside the servers.
        self.last: list[list[int]] = []
        self.updates = [Cost(0, 0)] * strategy.servers
        self.iteration = 0
        self.flows = 0  # all-reduces that are flows
        self.measure()

    def measure(self) -> None:
        """Compute the duration of each operator, and the cost of the updates, on each server."""
        accesses = self.workload.compute.weight_update_accesses
        batch = self.graph.microbatch(self.strategy.microbatches).batch
        for operator, placement in zip(self.graph.operators, self.strategy.placements, strict=True):
            done = work(operator, placement, batch, self.server)
            ends = done.backward + done.summing
            for phase, seconds, times in (
                ("forward", done.forward, self.durations["forward"]),
                ("backward", done.backward, self.durations["backward"]),
                ("backward", ends, self.last),
            ):
                if max(seconds) * _PS_PER_S > LONGEST_PS:
                    raise ScenarioError(
                        f"workload.compute: {operator.name}.{phase} would last {max(seconds):.0f} "
                        f"s: expected rates that keep it below {LONGEST_PS // _PS_PER_S} s"
                    )
                times.append([round(each * _PS_PER_S) for each in seconds.tolist()])
            if operator.table:
                continue  # the backward phase of a table already updates the rows in use
            sizes = weight_bytes(operator, placement)
            for number, size in zip(placement.servers, sizes, strict=True):
                self.updates[number] = self.updates[number].plus(Cost(0, accesses * size))

    def build(self) -> Plan:
        """Return the plan; servers with equal work share a trace."""
        for iteration in range(self.workload.iterations):
            self.iterate(iteration)
        together: dict[tuple[Node, ...], list[int]] = defaultdict(list)
        for rank, stream in enumerate(self.streams):
            together[tuple(stream)].append(rank)
        self.plan.traces = [Trace(tuple(ranks), nodes) for nodes, ranks in together.items()]
        return self.plan

    def iterate(self, iteration: int) -> None:
        self.iteration = iteration
        parts = range(self.strategy.microbatches)
        arriving = [self.receive(part) for part in parts]
        operators = range(len(self.graph.operators))
        for part in parts:
            for index in operators:
                self.compute("forward", index, part, arriving[part])
        for part in parts[:-1]:
            for index in reversed(operators):
                self.compute("backward", index, part, arriving[part])
        groups = [
            reduced_groups(operator, placement)
            for operator, placement in zip(
                self.graph.operators, self.strategy.placements, strict=True
            )
        ]
        left = Counter(group for one in groups for group, _ in one)
        collected: Counter[Ranks] = Counter()
        self.reductions = [[] for _ in self.streams]
        for index in reversed(operators):
            done = self.compute("backward", index, parts[-1], arriving[-1])
            for group, size in groups[index]:
                collected[group] += size
                left[group] -= 1
                if collected[group] >= (self.workload.bucket if left[group] else 1):
                    self.reduce(index, group, collected.pop(group), done)
        for server, waits in enumerate(self.reductions):
            duration = duration_ps(self.updates[server], self.workload.compute)
            name, layer = f"{OPTIMIZER}.update", len(self.names)
            update = self.add(server, name, NodeType.COMPUTE, layer, waits, duration_ps=duration)
            self.latest_update[server] = (update,)

    def add(
        self,
        server: int,
        name: str,
        kind: NodeType,
        layer: int,
        after: Iterable[int],
        **values: int,
    ) -> int:
        """Append a node to the stream of a server, and return its index."""
        node = Node(name, kind, layer, self.iteration, dependencies=tuple(after), **values)
        self.streams[server].append(node)
        return len(self.streams[server]) - 1

    def receive(self, part: int) -> Arriving:
        """Add the receives of a micro-batch."""
        posted: Arriving = defaultdict(list)
        first = self.first_tag(self.iteration, part)
        for number, message in enumerate(self.messages):
            server, (name, layer) = message.target, self.owners[number]
            node = self.add(
                server,
                name,
                NodeType.RECV,
                layer,
                self.latest_update[server],
                peer=message.source,
                bytes=message.bytes,
                tag=first + number,
            )
            posted[message.phase, message.reader, message.sums, server].append(node)
        return posted

    def compute(self, phase: Phase, index: int, part: int, arriving: Arriving) -> dict[int, int]:
        """Add an operator and its messages for a micro-batch; return its node per server."""
        servers = self.strategy.placements[index].servers
        is_last = phase == "backward" and part == self.strategy.microbatches - 1
        lasting = self.last if is_last else self.durations[phase]
        durations = dict(zip(servers, lasting[index], strict=True))
        summed = dict.fromkeys(servers, 0)
        # Name, durations, and whether the step follows the exchange of partial sums.
        steps: list[tuple[str, dict[int, int], bool]] = [(phase, durations, False)]
        if self.sent[phase, index, True]:
            if phase == "forward":
                steps = [(phase, durations, False), ("sum", summed, True)]
            else:
                steps = [("gradient", summed, False), (phase, durations, True)]
        done: dict[int, int] = {}
        for step, times, sums in steps:
            if sums:
                self.send(phase, index, part, done, sums=True)
            name = f"{self.names[index]}.{step}"
            for server, duration in times.items():
                after = arriving.get((phase, index, sums, server), ())
                done[server] = self.add(
                    server, name, NodeType.COMPUTE, index, after, duration_ps=duration
                )
        self.send(phase, index, part, done, sums=False)
        return done

    def send(
        self, phase: Phase, index: int, part: int, done: dict[int, int], *, sums: bool
    ) -> None:
        """Add the messages that follow an operator's nodes `done`."""
        first = self.first_tag(self.iteration, part)
        for number in self.sent[phase, index, sums]:
            message, (name, layer) = self.messages[number], self.owners[number]
            self.add(
                message.source,
                name,
                NodeType.SEND,
                layer,
                (done[message.source],),
                peer=message.target,
                bytes=message.bytes,
                tag=first + number,
                route=message.route,
            )

    def reduce(self, index: int, group: Ranks, size: int, done: dict[int, int]) -> None:
        """Add the all-reduce of the gradients that a group of servers has collected."""
        name = f"{self.names[index]}.all_reduce"
        if self.workload.rings == "flows":
            self.flow(name, index, group, size, done)
            return
        ranks = None if len(group) == len(self.streams) else group
        number = len(self.plan.issues)
        own = self.algorithms
        self.plan.issues.append(
            Issue(name, "all_reduce", own.all_reduce, own, size, self.iteration, index, ranks)
        )
        for server in group:
            waits = (done[server],)
            node = self.add(server, name, NodeType.COLLECTIVE, index, waits, collective=number)
            self.reductions[server].append(node)

    def flow(self, name: str, index: int, group: Ranks, size: int, done: dict[int, int]) -> None:
        """Add a ring all-reduce as one message from each member to the next."""
        ring = sorted(group)
        sent = 2 * (len(ring) - 1) * size // len(ring)
        tag = self.first_tag(self.workload.iterations, 0) + self.flows
        self.flows += 1
        for rank, following in zip(ring, (*ring[1:], ring[0]), strict=True) if sent else ():
            for kind, own, peer in (
                (NodeType.SEND, rank, following),
                (NodeType.RECV, following, rank),
            ):
                waits = (done[own],)
                node = self.add(own, name, kind, index, waits, peer=peer, bytes=sent, tag=tag)
                self.reductions[own].append(node)

    def owner(self, message: Message) -> tuple[str, int]:
        """Return the name and the layer of the nodes that send and receive a message.

        Both phases name the operator that produced the output.
        """
        forward = message.phase == "forward"
        index = message.operator if forward else message.reader
        what = "output" if forward else "gradient"
        return f"{self.names[index]}.{'partial_' if message.sums else ''}{what}", index

    def first_tag(self, iteration: int, part: int) -> int:
        """Return the tag of a micro-batch's first message. Every message has a tag of its own."""
        return (iteration * self.strategy.microbatches + part) * len(self.messages)


class _Training(WorkloadKind[TrainingWorkload]):
    model = TrainingWorkload

    def default_collective(self) -> CollectiveAlgorithms:
        return default_collective()

    def problems(
        self, workload: TrainingWorkload, ranks: int, family: TopologyFamily[Any]
    ) -> Problems:
        yield from _gpu_problems(workload, family)
        yield from _strategy_problems(workload, ranks)

    def job(self, workload: TrainingWorkload) -> Training:
        return workload

    def demand(self, workload: TrainingWorkload, ranks: int) -> Demand:
        return transfers(workload, ranks)

    def plan(
        self, workload: TrainingWorkload, layout: Layout, collective: CollectiveAlgorithms | None
    ) -> Plan:
        """Return the plan of `workload.iterations` iterations; see `plan`."""
        algorithms = collective or default_collective()
        return plan(workload, layout.ranks, algorithms, layout.paths)


KIND = _Training()
