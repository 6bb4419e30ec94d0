"""Barriers and semaphores of the thread blocks of one rank of an MSCCL++ plan."""

from __future__ import annotations

from collections import Counter, defaultdict
from collections.abc import Iterator

from topology_gen.formats.json_fields import Fields
from topology_gen.formats.mscclpp.messages import ThreadBlock
from topology_gen.lowering.algorithm import Step

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
