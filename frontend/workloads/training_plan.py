"""Build the traces of servers that train a model; see `frontend.workloads.training`."""

from __future__ import annotations

from collections import Counter, defaultdict

from frontend.collectives.choices import CollectiveAlgorithms
from frontend.errors import ScenarioError
from frontend.parallelization import OperatorGraph, Strategy, reduced_groups
from frontend.parallelization.server import Server, weight_bytes, work
from frontend.roofline import LONGEST_PS, Cost, duration_ps
from frontend.schema.training import Training
from frontend.workloads.messages import Message, Phase, messages
from frontend.workloads.plan import Issue, Node, NodeType, Plan, Ranks, Trace

Arriving = dict[tuple[Phase, int, bool, int], list[int]]
"""Receives of a micro-batch by phase, operator, whether they are of partial sums, and server."""

OPTIMIZER = "optimizer"
_PS_PER_S = 10**12


class _Stream:
    """The nodes of one server, and the latest weight update, which the next iteration waits for."""

    def __init__(self) -> None:
        self.nodes: list[Node] = []
        self.updated: tuple[int, ...] = ()

    def add(self, node: Node) -> int:
        self.nodes.append(node)
        return len(self.nodes) - 1


class PlanBuilder:
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
        self.streams = [_Stream() for _ in range(strategy.servers)]
        self.messages = messages(self.graph, self.strategy, paths)
        self.owners = [self.owner(message) for message in self.messages]
        self.sent: dict[tuple[Phase, int, bool], list[int]] = defaultdict(list)
        for number, message in enumerate(self.messages):
            self.sent[message.phase, message.operator, message.sums].append(number)
        self.durations: dict[Phase, list[list[int]]] = {"forward": [], "backward": []}
        # The backward phase of the last micro-batch also sums gradients inside the servers.
        self.last: list[list[int]] = []
        self.updates = [Cost(0, 0)] * strategy.servers
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
            together[tuple(stream.nodes)].append(rank)
        self.plan.traces = [Trace(tuple(ranks), nodes) for nodes, ranks in together.items()]
        return self.plan

    def iterate(self, iteration: int) -> None:
        parts = range(self.strategy.microbatches)
        arriving = [self.receive(iteration, part) for part in parts]
        operators = range(len(self.graph.operators))
        for part in parts:
            for index in operators:
                self.compute("forward", index, iteration, part, arriving[part])
        for part in parts[:-1]:
            for index in reversed(operators):
                self.compute("backward", index, iteration, part, arriving[part])
        groups = [
            reduced_groups(operator, placement)
            for operator, placement in zip(
                self.graph.operators, self.strategy.placements, strict=True
            )
        ]
        left = Counter(group for one in groups for group, _ in one)
        collected: Counter[Ranks] = Counter()
        reductions: list[list[int]] = [[] for _ in self.streams]
        for index in reversed(operators):
            done = self.compute("backward", index, iteration, parts[-1], arriving[-1])
            for group, size in groups[index]:
                collected[group] += size
                left[group] -= 1
                if collected[group] >= (self.workload.bucket if left[group] else 1):
                    self.reduce(index, iteration, group, collected.pop(group), done, reductions)
        for number, stream in enumerate(self.streams):
            duration = duration_ps(self.updates[number], self.workload.compute)
            name, layer = f"{OPTIMIZER}.update", len(self.names)
            node = Node(
                name, NodeType.COMPUTE, layer, iteration, duration, 0, (*reductions[number],)
            )
            stream.updated = (stream.add(node),)

    def receive(self, iteration: int, part: int) -> Arriving:
        """Add the receives of a micro-batch."""
        posted: Arriving = defaultdict(list)
        first = self.first_tag(iteration, part)
        for number, message in enumerate(self.messages):
            stream = self.streams[message.target]
            name, owner = self.owners[number]
            node = Node(
                name,
                NodeType.RECV,
                owner,
                iteration,
                0,
                0,
                stream.updated,
                message.source,
                message.bytes,
                first + number,
            )
            key = message.phase, message.reader, message.sums, message.target
            posted[key].append(stream.add(node))
        return posted

    def compute(
        self, phase: Phase, index: int, iteration: int, part: int, arriving: Arriving
    ) -> dict[int, int]:
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
        for name, times, sums in steps:
            if sums:
                self.send(phase, index, iteration, part, done, sums=True)
            for rank, duration in times.items():
                after = (*arriving.get((phase, index, sums, rank), ()),)
                node = Node(
                    f"{self.names[index]}.{name}",
                    NodeType.COMPUTE,
                    index,
                    iteration,
                    duration,
                    0,
                    after,
                )
                done[rank] = self.streams[rank].add(node)
        self.send(phase, index, iteration, part, done, sums=False)
        return done

    def send(
        self,
        phase: Phase,
        index: int,
        iteration: int,
        part: int,
        done: dict[int, int],
        *,
        sums: bool,
    ) -> None:
        """Add the messages that follow an operator's nodes `done`."""
        first = self.first_tag(iteration, part)
        for number in self.sent[phase, index, sums]:
            message = self.messages[number]
            name, owner = self.owners[number]
            node = Node(
                name,
                NodeType.SEND,
                owner,
                iteration,
                0,
                0,
                (done[message.source],),
                message.target,
                message.bytes,
                first + number,
                message.route,
            )
            self.streams[message.source].add(node)

    def reduce(
        self,
        index: int,
        iteration: int,
        group: Ranks,
        size: int,
        done: dict[int, int],
        reductions: list[list[int]],
    ) -> None:
        """Add the all-reduce of the gradients that a group of servers has collected."""
        name = f"{self.names[index]}.all_reduce"
        if self.workload.rings == "flows":
            self.flow(name, index, iteration, group, size, done, reductions)
            return
        ranks = None if len(group) == len(self.streams) else group
        self.plan.issues.append(
            Issue(
                name,
                "all_reduce",
                self.algorithms.all_reduce,
                self.algorithms,
                size,
                iteration,
                index,
                ranks,
            )
        )
        number = len(self.plan.issues) - 1
        for rank in group:
            node = Node(name, NodeType.COLLECTIVE, index, iteration, 0, number, (done[rank],))
            reductions[rank].append(self.streams[rank].add(node))

    def flow(
        self,
        name: str,
        index: int,
        iteration: int,
        group: Ranks,
        size: int,
        done: dict[int, int],
        reductions: list[list[int]],
    ) -> None:
        """Add a ring all-reduce as one message from each member to the next."""
        ring = sorted(group)
        sent = 2 * (len(ring) - 1) * size // len(ring)
        tag = self.first_tag(self.workload.iterations, 0) + self.flows
        self.flows += 1
        for rank, following in zip(ring, (*ring[1:], ring[0]), strict=True) if sent else ():
            for type_, own, peer in (
                (NodeType.SEND, rank, following),
                (NodeType.RECV, following, rank),
            ):
                node = Node(name, type_, index, iteration, 0, 0, (done[own],), peer, sent, tag)
                reductions[own].append(self.streams[own].add(node))

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
