"""The nodes of a pipeline stage: computation in order, and collectives beside it."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Sequence
from itertools import chain, pairwise, zip_longest
from typing import NamedTuple

from frontend.collectives.choices import AnyAlgorithm
from frontend.collectives.program.program import Blocks
from frontend.workloads.llm.grid import Groups, Part
from frontend.workloads.llm.workload import DimensionAlgorithms
from frontend.workloads.plan import Issue, Node, NodeType, Plan, Trace

COMPUTE_LAYERS = ("embedding", "attention", "feed_forward", "experts", "output", "optimizer")

COMMUNICATION_LAYERS = {
    "tp": "tensor_parallel",
    "cp": "context_parallel",
    "ep": "expert_parallel",
    "pp": "pipeline_parallel",
    "dp": "data_parallel",
}
"""The layer of the result that a parallel dimension's communication counts for."""

RECOMPUTE = "recompute"
"""The layer that a forward phase counts for which the backward phase computes again."""

LAYERS = (*COMPUTE_LAYERS, *COMMUNICATION_LAYERS.values(), RECOMPUTE)

_ANSWER = 1
"""Bytes of an answer to a message."""


class Transfer(NamedTuple):
    """A collective of a parallel dimension, or several one after the other."""

    dimension: str
    operation: str
    groups: Groups
    bytes: int
    """Buffer of one rank."""
    blocks: Blocks | None = None
    """all_to_all: parts of `bytes` that each rank of a group sends to each, if they differ."""
    slows_ppm: int = 0
    """By how much computation beside it takes longer [10^-6]."""


class Stream:
    """The traces of the ranks of a pipeline stage.

    Computation waits for the nodes in `after`. A collective that overlaps delays only the node
    after the next computation. With a time to launch them, nodes also wait for the host, which
    launches them in their order. Ranks share a trace, unless their experts get different numbers of
    tokens, or they are at different places of a ring: then the traces have the same nodes, but
    other durations, collectives or peers.

    Parameters
    ----------
    plan : Plan
        Receives the issued collectives.
    algorithms : DimensionAlgorithms
        The algorithms.
    parts : sequence of Part
        Ranks of the stage that share a trace.
    world_size : int
        Number of all ranks.
    exchange_launch_ps : int
        What the host takes to launch a collective or a message of a ring.
    """

    def __init__(
        self,
        plan: Plan,
        algorithms: DimensionAlgorithms,
        parts: Sequence[Part],
        world_size: int,
        exchange_launch_ps: int = 0,
    ) -> None:
        self.plan = plan
        self.algorithms = algorithms
        self.parts = parts
        self.world_size = world_size
        self._exchange_launch_ps = exchange_launch_ps
        self.nodes: list[Node] = []
        self.iteration = 0
        self.recomputes = False
        """Whether computations count as computed again."""
        self.after: tuple[int, ...] = ()
        self.last: tuple[int, ...] = ()  # the latest computation, if any
        self._launched: tuple[int, ...] = ()  # the latest launch, if any
        self._late: list[int] = []
        self._overlapping: list[int] = []
        self._shifts = 0
        self._together: list[list[range]] = []
        # Nodes that differ between the parts: a field, the dimension that decides, and the values.
        self._various: list[tuple[int, str, str, Sequence[int]]] = []

    def begin(self, iteration: int) -> None:
        """Begin an iteration; the host has waited for the end of the one before."""
        self.iteration = iteration
        self._launched = self.after

    def let_host_wait(self) -> None:
        """Let the host launch what follows when the latest computation is done."""
        if self._exchange_launch_ps:
            self._launched += self.last

    def compute(
        self, layer: str, name: str, duration_ps: int | Sequence[int], launch_ps: int = 0
    ) -> int:
        """Append a computation, and return its index; the parts may have different durations.

        The host takes `launch_ps` to launch it.
        """
        waits = (*self.done, *self._launch(layer, launch_ps))
        self._late, self._overlapping = self._overlapping, []
        each = (duration_ps,) if isinstance(duration_ps, int) else duration_ps
        own = RECOMPUTE if self.recomputes else layer
        node = self._add(f"{layer}.{name}", NodeType.COMPUTE, own, waits, duration_ps=each[0])
        if len(each) > 1:
            self._various.append((node, "duration_ps", "ep", each))
        self.after = self.last = (node,)
        return node

    @property
    def done(self) -> tuple[int, ...]:
        """What has to be done before the results of the latest computation are complete."""
        return (*self.after, *self._late)

    def wait(
        self, transfer: Transfer | Sequence[Transfer], name: str, overlaps: bool = False
    ) -> None:
        """Issue a collective after the latest computation; what follows waits for it.

        Parts of the stage with collectives of their own have one in `transfer` each.
        """
        self.wait_all([(transfer, name)], overlaps)

    def wait_all(
        self,
        transfers: Sequence[tuple[Transfer | Sequence[Transfer], str]],
        overlaps: bool = False,
    ) -> None:
        """Issue collectives with their names together; what follows waits for all of them."""
        waits = self.done
        issued = [self.issue(transfer, name, waits) for transfer, name in transfers]
        nodes = tuple(node for node in issued if node is not None)
        if overlaps:
            self._overlapping += nodes
        elif nodes:
            self.after, self._late = nodes, []

    def issue(
        self, transfer: Transfer | Sequence[Transfer], name: str, after: Iterable[int]
    ) -> int | None:
        """Issue a collective after some nodes; return None if its groups have one rank only."""
        each = (transfer,) if isinstance(transfer, Transfer) else transfer
        if each[0].groups.size == 1 or not any(one.bytes for one in each):
            return None
        numbers = [self.add_issue(one, name) for one in each]
        layer = COMMUNICATION_LAYERS[each[0].dimension]
        after = (*after, *self._launch(layer, self._exchange_launch_ps))
        node = self.collective(numbers[0], each[0].dimension, name, after)
        if len(numbers) > 1:
            self._various.append((node, "collective", "ep", numbers))
        return node

    def add_issue(self, transfer: Transfer, name: str) -> int:
        """Add a collective to the plan, and return its number."""
        dimension, operation, groups, size, blocks, slows_ppm = transfer
        algorithm: AnyAlgorithm = getattr(self.algorithms, dimension, "auto")
        self.plan.issues.append(
            Issue(
                name,
                operation,
                algorithm,
                self.algorithms,
                size,
                self.iteration,
                LAYERS.index(COMMUNICATION_LAYERS[dimension]),
                ranks=groups.ranks,
                root=groups.ranks[0],
                blocks=blocks,
                groups=groups.number,
                slows_ppm=slows_ppm,
            )
        )
        return len(self.plan.issues) - 1

    def collective(self, number: int, dimension: str, name: str, after: Iterable[int]) -> int:
        """Append the node that takes part in a collective of the plan; return its index."""
        layer = COMMUNICATION_LAYERS[dimension]
        return self._add(name, NodeType.COLLECTIVE, layer, after, collective=number)

    def receive(self, offset: int, size: int, tag: int, *, answers: bool = False) -> None:
        """Receive a message from the rank `offset` places on; the next computation waits for it.

        If the sender waits for an answer, it gets one byte.
        """
        node = self._message(NodeType.RECV, "stage.receive", (), offset, size, tag)
        self.after = (*self.after, node)
        if answers:
            self._message(NodeType.SEND, "stage.answer", (node,), offset, _ANSWER, tag)

    def send(self, offset: int, size: int, tag: int, *, waits: bool = False) -> None:
        """Send the result of the latest computation to the rank `offset` places on.

        If it `waits`, what follows does until the receiver has answered.
        """
        self._message(NodeType.SEND, "stage.send", self.done, offset, size, tag)
        if waits:
            answer = self._message(NodeType.RECV, "stage.answer", (), offset, _ANSWER, tag)
            self.after = (*self.after, answer)

    def shift(
        self, ring: tuple[Sequence[int], Sequence[int]], name: str, size: int, after: Iterable[int]
    ) -> int:
        """Send to the next rank of a ring of cp after some nodes, and receive from the one before.

        Parameters
        ----------
        ring : tuple of sequence of int
            What to add to a rank for the next rank, and for the one before, by the place in cp.
        name : str
            What is sent.
        size : int
            Its bytes.
        after : iterable of int
            Nodes.

        Returns
        -------
        int
            The node that receives.
        """
        self._shifts += 1
        layer = COMMUNICATION_LAYERS["cp"]
        waits = (*after, *self._launch(layer, self._exchange_launch_ps))
        onward, back = ring
        for kind, offsets in ((NodeType.SEND, onward), (NodeType.RECV, back)):
            node = self._message(kind, name, waits, offsets[0], size, self._shifts, "cp")
            self._various.append((node, "peer", "cp", offsets))
        return node

    def join(self, nodes: Sequence[int]) -> None:
        """Let what follows also wait for some nodes."""
        self.after = tuple(sorted({*self.after, *nodes}))

    def together(self, *parts: Callable[[], object]) -> None:
        """Append parts that do not wait for each other; what follows waits for all of them.

        One computes while the tokens of another one travel to experts or back.
        """
        begin = self.after, self._late, self._overlapping
        ends: list[int] = []
        places = [len(self.nodes)]
        for part in parts:
            self.after, self._late, self._overlapping = begin
            part()
            ends += (*self.done, *self._overlapping)
            places.append(len(self.nodes))
        self.after, self._late, self._overlapping = tuple(sorted(set(ends))), [], []
        self._together.append([range(*pair) for pair in pairwise(places)])

    def traces(self) -> list[Trace]:
        """Return the traces of the stage's ranks, one for each part."""
        found = []
        for part in self.parts:
            nodes = list(self.nodes)
            for node, name, dimension, values in self._various:
                value = values[getattr(part, dimension)]
                nodes[node] = nodes[node]._replace(**{name: value})
            own = self._in_order(nodes)
            found.append(Trace(part.ranks, tuple(own), peer_modulus=self.world_size))
        return found

    def _in_order(self, nodes: list[Node]) -> list[Node]:
        """Return nodes in the order in which a rank computes them; parts together take turns."""
        if not self._together:
            return nodes
        order: list[int] = []
        for parts in self._together:
            order += range(len(order), parts[0].start)
            turns = zip_longest(*map(self._between_exchanges, parts), fillvalue=range(0))
            order += chain.from_iterable(chain.from_iterable(turns))
        order += range(len(order), len(nodes))
        places = {node: place for place, node in enumerate(order)}
        return [
            nodes[node]._replace(
                dependencies=tuple(sorted(places[one] for one in nodes[node].dependencies))
            )
            for node in order
        ]

    def _between_exchanges(self, part: range) -> list[range]:
        """Cut nodes after each exchange of tokens with experts."""
        exchange = LAYERS.index(COMMUNICATION_LAYERS["ep"])
        own = [self.nodes[node].layer == exchange for node in part]
        cuts = [part[place + 1] for place, (one, after) in enumerate(pairwise(own)) if one > after]
        return [range(*pair) for pair in pairwise((part.start, *cuts, part.stop))]

    def _launch(self, layer: str, duration_ps: int) -> tuple[int, ...]:
        """Let the host launch something after all that it has launched; return what to wait for."""
        if not duration_ps:
            return ()
        node = self._add(
            "host.launch", NodeType.TIMER, layer, self._launched, duration_ps=duration_ps
        )
        self._launched = (node,)
        return self._launched

    def _message(
        self, kind: NodeType, name: str, after: Iterable[int], offset: int, size: int, tag: int,
        dimension: str = "pp",
    ) -> int:  # fmt: skip
        layer = COMMUNICATION_LAYERS[dimension]
        return self._add(name, kind, layer, after, peer=offset, bytes=size, tag=tag)

    def _add(
        self, name: str, kind: NodeType, layer: str, after: Iterable[int], **values: int
    ) -> int:
        waits, place = tuple(sorted(set(after))), LAYERS.index(layer)
        self.nodes.append(Node(name, kind, place, self.iteration, dependencies=waits, **values))
        return len(self.nodes) - 1
