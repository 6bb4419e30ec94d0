"""What ranks of MSCCL++ plans exchange outside of channels: messages, packets, reads and writes.

Each message has a connection of its own.

A packet is a chunk with a flag, on which a reader waits, in the scratch buffer. It needs no signal.
So an operation that reads packets waits for what writes them: a put of a peer, or a copy of its own
rank.

A rank that reads asks the owner with an empty message, and the owner sends what it has when the
question arrives. A rank that writes goes on when it has sent the data. It gets an empty answer when
the data is there, for which it waits before it signals or meets other thread blocks, as a release
fence does. So a plan that depends on lucky timing is found wrong. A switch channel is modelled as
reads from and writes to each rank of its group.
"""

from __future__ import annotations

from collections import Counter, defaultdict
from collections.abc import Iterator, Sequence
from dataclasses import dataclass, field
from typing import NamedTuple

from topology_gen.formats.json_fields import Fields
from topology_gen.lowering.algorithm import Block, Buffer, Instruction, Kind, Place, Step

MOST_WAITS = 2**20
"""Greatest number of waits of a rank's thread blocks for each other at barriers.

A barrier of n blocks has n² of them, so a short plan could have more than fit into memory.
"""


class Meetings:
    """Makes the thread blocks of a rank wait for each other.

    Parameters
    ----------
    fields : Fields
        The rank's part of the plan.
    blocks : list of ThreadBlock
        Its thread blocks, to which instructions are added.
    """

    def __init__(self, fields: Fields, blocks: list[ThreadBlock]) -> None:
        self._fields, self._blocks = fields, blocks
        self._barriers: dict[int, dict[int, list[int]]] = defaultdict(lambda: defaultdict(list))
        self._users: dict[int, set[int]] = defaultdict(set)
        """The blocks that use each barrier."""
        self._waits = 0
        semaphores = fields.parts("semaphores") if fields.has("semaphores") else []
        self._initial = [part.number("init_value") for part in semaphores]
        self._releases: dict[int, Counter[int]] = defaultdict(Counter)
        """For each semaphore, how often each block releases it."""
        for block, part in enumerate(fields.parts("threadblocks")):
            for operation in operations(part):
                name = operation.text("name")
                if name == "sem_release":
                    for semaphore in self._ids(operation):
                        self._releases[semaphore][block] += 1
                elif name == "barrier":
                    self._users[operation.number("barrier_id")].add(block)
        self._released: dict[tuple[int, int], list[int]] = defaultdict(list)
        self._acquired: list[tuple[int, int, int, int, int]] = []
        self._turns: Counter[tuple[int, int]] = Counter()

    def barrier(self, number: int, fields: Fields) -> None:
        """Read a barrier of thread block `number`.

        Raises
        ------
        FileFormatError
            It names another number of blocks than use it, or there are too many waits.
        """
        barrier = fields.number("barrier_id")
        blocks = len(self._users[barrier])
        if fields.number("num_threadblocks", 1) != blocks:
            raise fields.error(
                "num_threadblocks",
                f"barrier {barrier}: expected {blocks}, the number of blocks that use it",
            )
        self._waits += blocks
        if self._waits > MOST_WAITS:
            raise fields.error("name", f"expected at most {MOST_WAITS} waits at barriers of a rank")
        self._barriers[barrier][number].append(self._blocks[number].add_waits(blocks))

    def release(self, number: int, fields: Fields) -> None:
        """Read a release of semaphores by thread block `number`."""
        place = self._blocks[number].add_waits()
        for semaphore in self._ids(fields):
            self._released[semaphore, number].append(place)

    def acquire(self, number: int, fields: Fields) -> None:
        """Read an acquisition of semaphores by thread block `number`.

        The n-th acquisition by a block needs n releases, less the semaphore's initial value. Of
        these, a block has certainly done those that all others together cannot do.
        """
        for semaphore in self._ids(fields):
            self._turns[semaphore, number] += 1
            needed = self._turns[semaphore, number] - self._initial[semaphore]
            releases = self._releases[semaphore]
            if needed > releases.total():
                raise fields.error(
                    "semaphore_ids",
                    f"expected at least {needed} releases of semaphore {semaphore}, not "
                    f"{releases.total()}",
                )
            for other, times in releases.items():
                certain = needed - (releases.total() - times)
                if other != number and certain > 0:
                    place = self._blocks[number].add_waits()
                    self._acquired.append((semaphore, number, place, other, certain))

    def settle(self) -> None:
        """Fill in what the blocks wait for, when all of them are read.

        Raises
        ------
        FileFormatError
            Blocks use a barrier in different ways.
        """
        for semaphore, number, place, other, certain in self._acquired:
            step = Step(other, self._released[semaphore, other][certain - 1])
            self._blocks[number].wait(place, step)
        for barrier, blocks in self._barriers.items():
            times = {len(indices) for indices in blocks.values()}
            if len(times) > 1:
                raise self._fields.error(
                    "threadblocks",
                    f"barrier {barrier}: expected all blocks to use it the same number of times",
                )
            for number, indices in blocks.items():
                others = [other for other in blocks if other != number]
                for turn, index in enumerate(indices):
                    for place, other in enumerate(others, index + 1):
                        self._blocks[number].wait(place, Step(other, blocks[other][turn]))

    def _ids(self, fields: Fields) -> list[int]:
        ids: list[int] = []
        for number in fields.array("semaphore_ids"):
            if type(number) is not int or not 0 <= number < len(self._initial):
                raise fields.error(
                    "semaphore_ids", f"{number!r:.40}: expected 0 … {len(self._initial) - 1}"
                )
            ids.append(number)
        return ids


def operations(block: Fields) -> Iterator[Fields]:
    """Yield the operations of a thread block, and those of a pipeline in its place, as one pass."""
    for operation in block.parts("ops"):
        if operation.text("name") == "pipeline":
            yield from operation.parts("ops")
        else:
            yield operation


FIRST_CHANNEL = 2**16
"""The channel of the first message; the plan's own channels have smaller numbers."""

NOWHERE = Place(Buffer.SCRATCH, 0)
"""The place of instructions without data."""

_EMPTY = Instruction(Kind.SEND, NOWHERE, NOWHERE, 0)

PACKET_OPERATIONS = ("ppkt", "rppkt", "cpkt", "upkt", "repkt", "recpkt", "respkt", "recspkt")
"""Operations on packets: put, read and put, copy, unpack; reduce, also with a copy and a send."""


@dataclass(eq=False)
class ThreadBlock:
    """A thread block of a rank, to which instructions are added."""

    rank: int
    number: int
    """Its place among the thread blocks of the rank."""
    instructions: list[Instruction] = field(default_factory=list)

    @property
    def last(self) -> Step | None:
        """The latest instruction; None if there is none."""
        return Step(self.number, len(self.instructions) - 1) if self.instructions else None

    @property
    def next(self) -> Step:
        """The instruction that is added next."""
        return Step(self.number, len(self.instructions))

    def add(self, kind: Kind, source: Place, target: Place, chunks: int) -> None:
        """Add an instruction."""
        self.instructions.append(Instruction(kind, source, target, chunks, None, True))

    def add_waits(self, count: int = 1) -> int:
        """Add instructions that only wait, see `wait`, and return the place of the first one."""
        self.instructions += [Instruction(Kind.NOP, NOWHERE, NOWHERE, 0, None, True)] * count
        return len(self.instructions) - count

    def wait(self, place: int, after: Step | None) -> None:
        """Say what an instruction waits for."""
        self.instructions[place] = self.instructions[place]._replace(after=after)


class Message(NamedTuple):
    """A message.

    Attributes
    ----------
    source, target : int
        The ranks that send and receive it.
    send, landing : Instruction
        What they execute.
    answers : int or None
        A message that the source must have received before; replaces `send.after`.
    behind : int or None
        A message that the target must have received before.
    """

    source: int
    target: int
    send: Instruction
    landing: Instruction
    answers: int | None
    behind: int | None


class Messages:
    """The messages of all ranks.

    A rank sends and receives each of them in a thread block of its own, because they have no order.
    """

    def __init__(self) -> None:
        self._messages: list[Message] = []
        self._waits: list[tuple[ThreadBlock, int, int, bool]] = []
        self._sending: dict[int, Step] = {}
        self._landing: dict[int, Step] = {}

    def add(
        self,
        where: tuple[int, int],
        send: Instruction,
        landing: Instruction | None = None,
        answers: int | None = None,
        behind: int | None = None,
    ) -> int:
        """Add a message from the first to the second rank of `where`, and return its number.

        Parameters
        ----------
        where : (int, int)
            The ranks that send and receive it.
        send : Instruction
            What the sender executes.
        landing : Instruction, optional
            What the receiver executes. By default, it stores the data in `send.target`.
        answers, behind : int, optional
            Messages that the sender and the receiver must have received before.
        """
        landing = landing or send._replace(kind=Kind.RECEIVE, after=None, awaited=True)
        self._messages.append(Message(*where, send, landing, answers, behind))
        return len(self._messages) - 1

    def wait(self, block: ThreadBlock, number: int, *, sent: bool = False) -> None:
        """Make a thread block wait until its rank has received a message, or has sent it."""
        self._waits.append((block, block.add_waits(), number, sent))

    def place(self, rank: int, first_landing: int, others: int) -> None:
        """Fix the numbers of the blocks in which a rank receives and sends.

        Parameters
        ----------
        rank : int
            The rank.
        first_landing : int
            The number of the first of `landings`.
        others : int
            The number of blocks between the last of `landings` and the first of `sends`.
        """
        here = [n for n, message in enumerate(self._messages) if message.target == rank]
        self._landing.update({n: Step(block, 0) for block, n in enumerate(here, first_landing)})
        first = first_landing + len(here) + others
        here = [n for n, message in enumerate(self._messages) if message.source == rank]
        self._sending.update({n: Step(block, 0) for block, n in enumerate(here, first)})

    def landing(self, number: int) -> Step:
        """Return the instruction that receives a message, at its rank."""
        return self._landing[number]

    def settle(self) -> None:
        """Fill in what the blocks wait for, when the places of all ranks are fixed."""
        for block, place, number, sent in self._waits:
            block.wait(place, self._sending[number] if sent else self.landing(number))

    def landings(self, rank: int) -> list[Block]:
        """Return the blocks in which a rank receives."""
        return [
            Block(None, message.source, FIRST_CHANNEL + number, (self._landed(message),))
            for number, message in enumerate(self._messages)
            if message.target == rank
        ]

    def sends(self, rank: int) -> list[Block]:
        """Return the blocks in which a rank sends."""
        return [
            Block(message.target, None, FIRST_CHANNEL + number, (self._sent(message),))
            for number, message in enumerate(self._messages)
            if message.source == rank
        ]

    def _landed(self, message: Message) -> Instruction:
        after = None if message.behind is None else self.landing(message.behind)
        return message.landing._replace(after=after)

    def _sent(self, message: Message) -> Instruction:
        if message.answers is None:
            return message.send
        return message.send._replace(after=self.landing(message.answers))


Cell = tuple[int, int]
"""A rank and a chunk of its scratch buffer."""


class Packets:
    """What every packet of all ranks waits for; `messages` gets the puts."""

    def __init__(self, messages: Messages) -> None:
        self._messages = messages
        self._local: dict[Cell, Step] = {}
        self._arrives: dict[Cell, int] = {}
        self._reads: list[tuple[ThreadBlock, int, list[Cell]]] = []

    def operate(
        self,
        block: ThreadBlock,
        sources: Sequence[tuple[Place, int]],
        local: Sequence[Place],
        remote: Sequence[tuple[int, Place]],
        *,
        waits: bool,
    ) -> None:
        """Add an operation: sum the sources, store the sum, and put it to other ranks.

        Parameters
        ----------
        block : ThreadBlock
            The thread block, to which the operation's instructions are added.
        sources : sequence of (Place, int)
            What is added, and the number of chunks. Places in scratch memory may hold packets.
        local : sequence of Place
            Where the rank keeps the sum; in scratch memory, it becomes packets.
        remote : sequence of (int, Place)
            Ranks that get the sum as packets, and their places.
        waits : bool
            Whether the block goes on only when it has sent them.
        """
        for place, chunks in sources:
            if place.buffer is Buffer.SCRATCH:
                cells = _cells(block.rank, place, chunks)
                self._reads.append((block, block.add_waits(chunks), cells))
        (first, chunks), *others = sources
        kept = local[0] if local else first
        if kept != first:
            self._add(block, Kind.COPY, first, kept, chunks)
        for place, _ in others:
            self._add(block, Kind.REDUCE, place, kept, chunks)
        for place in local[1:]:
            self._add(block, Kind.COPY, kept, place, chunks)
        for target, place in remote:
            send = Instruction(Kind.SEND, kept, place, chunks, block.last)
            put = self._messages.add((block.rank, target), send)
            if waits:
                self._messages.wait(block, put, sent=True)
            if place.buffer is Buffer.SCRATCH:
                self._arrives.update(dict.fromkeys(_cells(target, place, chunks), put))

    def _add(
        self, block: ThreadBlock, kind: Kind, source: Place, target: Place, chunks: int
    ) -> None:
        if target.buffer is Buffer.SCRATCH:
            self._local.update(dict.fromkeys(_cells(block.rank, target, chunks), block.next))
        block.add(kind, source, target, chunks)

    def settle(self) -> None:
        """Make the readers wait for what writes their packets."""
        for block, first, cells in self._reads:
            for place, cell in enumerate(cells, first):
                after = self._local.get(cell)
                if cell in self._arrives:
                    after = self._messages.landing(self._arrives[cell])
                block.wait(place, after)


def _cells(rank: int, place: Place, chunks: int) -> list[Cell]:
    return [(rank, place.offset + chunk) for chunk in range(chunks)]


class Read(NamedTuple):
    """A read: the rank that is read from, its place there, and the place that gets the data."""

    owner: int
    source: Place
    target: Place
    chunks: int


class Remote:
    """Reads and writes of all ranks in the memory of others; `messages` gets the messages."""

    def __init__(self, messages: Messages) -> None:
        self._messages = messages
        self._answers: dict[ThreadBlock, list[int]] = defaultdict(list)

    def read(self, block: ThreadBlock, reads: Sequence[Read], *, adds: bool = False) -> None:
        """Add reads that a thread block starts at once, and for which it waits.

        If `adds` is true, the data is added to the target, in the order of `reads`.
        """
        after = block.last
        kind = Kind.RECEIVE_REDUCE_COPY if adds else Kind.RECEIVE
        answers: list[int] = []
        for owner, source, target, chunks in reads:
            question = self._messages.add((block.rank, owner), _EMPTY._replace(after=after))
            answers.append(
                self._messages.add(
                    (owner, block.rank),
                    Instruction(Kind.SEND, source, target, chunks),
                    Instruction(kind, target, target, chunks, None, True),
                    answers=question,
                    behind=answers[-1] if adds and answers else None,
                )
            )
        for answer in answers:
            self._messages.wait(block, answer)

    def write(
        self, block: ThreadBlock, source: Place, targets: Sequence[tuple[int, Place]], chunks: int
    ) -> None:
        """Add writes of one place of a rank to places of other ranks."""
        after = block.last
        for owner, target in targets:
            send = Instruction(Kind.SEND, source, target, chunks, after)
            written = self._messages.add((block.rank, owner), send)
            self._messages.wait(block, written, sent=True)
            answer = self._messages.add((owner, block.rank), _EMPTY, answers=written)
            self._answers[block].append(answer)

    def confirm(self, block: ThreadBlock) -> None:
        """Make a thread block wait until all that it has written is there."""
        for answer in self._answers.pop(block, ()):
            self._messages.wait(block, answer)
