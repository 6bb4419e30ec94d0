"""Build programs from algorithm files: MSCCL XML, MSCCL++ execution plans and schedules.

An algorithm of thread blocks is converted to a program, and checked.
"""

from __future__ import annotations

import re
from collections.abc import Iterator
from dataclasses import dataclass
from functools import lru_cache
from itertools import accumulate
from pathlib import Path

import numpy as np

from frontend.collectives.program.program import (
    CollectiveError,
    Head,
    Ints,
    Op,
    Problem,
    Program,
    assemble,
)
from frontend.collectives.verify.check import problems
from topology_gen import TopologyError
from topology_gen.errors import AlgorithmError
from topology_gen.files import read_bytes
from topology_gen.formats.registry import as_algorithm, read
from topology_gen.lowering.algorithm import Algorithm, Instruction, Kind, Place, Step
from topology_gen.lowering.places import Units, adding_to_target, check_places

_REDUCING = (Kind.RECEIVE_REDUCE_COPY, Kind.RECEIVE_REDUCE_SEND, Kind.RECEIVE_REDUCE_COPY_SEND)
MOST_CONTENTS = 2**30
"""Approximate limit in bytes for the memory of a symbolic execution."""

_WHAT = {
    "undefined": "reads chunks that hold nothing yet",
    "mixed": "adds to chunks of other data",
    "double": "adds a contribution that is there already",
}


def from_file(
    path: Path, operation: str, group_size: int, *, dimension: str, root: int | None = None
) -> Program:
    """Return the checked program of an algorithm file.

    Parameters
    ----------
    path : Path
        File with MSCCL XML, an MSCCL++ execution plan, or cosim's own JSON.
    operation : str
        One of `frontend.collectives.OPERATIONS`.
    group_size : int
        Number of members of the group.
    dimension : str
        Network dimension of the program.
    root : int, optional
        The member at which a broadcast or scatter starts, or a reduce or gather ends.

    Raises
    ------
    CollectiveError
        If the file cannot be read, is wrong, or is for another operation, number of ranks or root.
    """
    algorithm = _algorithm(path)
    if (algorithm.operation, algorithm.ranks) != (operation, group_size):
        raise CollectiveError(
            f"{path}: {algorithm.operation} over {algorithm.ranks} ranks: "
            f"expected {operation} over {group_size}"
        )
    if root is not None and root != algorithm.root:
        raise CollectiveError(
            f"{path}: {operation} with root {algorithm.root}: expected root {root}"
        )
    try:
        return checked(algorithm, dimension).program
    except TopologyError as error:
        raise CollectiveError(f"{path}: {error}") from None


def check_size(path: Path, size: int) -> None:
    """Check that the algorithm of a file is made for collectives of a size.

    Parameters
    ----------
    path : Path
        The file.
    size : int
        Bytes of the collective.

    Raises
    ------
    CollectiveError
        If the file cannot be read, or its range of sizes does not contain `size`.
    """
    algorithm = _algorithm(path)
    least, most = algorithm.least_bytes, algorithm.most_bytes
    if not least <= size <= (most or size):
        raise CollectiveError(
            f"{path}: made for {least} … {most or 'any number of'} bytes (minBytes, maxBytes), and "
            f"the runtime does not use it for others: expected a size in this range, not {size} "
            "bytes"
        )


def _algorithm(path: Path) -> Algorithm:
    try:
        return _read(path, path.stat().st_mtime_ns)
    except OSError as error:
        raise CollectiveError(f"{path}: {error.strerror}: expected an algorithm file") from None
    except TopologyError as error:
        raise CollectiveError(f"{path}: {error}") from None


@lru_cache(maxsize=4)
def _read(path: Path, changed_ns: int) -> Algorithm:
    """Return the algorithm of a file, which is read once for each time of change."""
    return as_algorithm(read(read_bytes(path)).what)


@dataclass(frozen=True)
class Checked:
    """An algorithm that passed the check.

    Attributes
    ----------
    program : Program
        The program of the algorithm: out of place if the algorithm supports it, else in place.
    adds_to_target : bool
        Whether the algorithm is correct only if receives that reduce have the meaning of
        msccl-tools; see `topology_gen.lowering.places.adding_to_target`.
    redundant : int
        Number of instructions that receive chunks that are there already, which only wastes time.
    """

    program: Program
    adds_to_target: bool
    redundant: int


def checked(algorithm: Algorithm, dimension: str = "scale_out") -> Checked:
    """Return the program of an algorithm, after checking that it computes its operation's result.

    The check executes the program symbolically and covers every order in which its instructions may
    run. It covers out-of-place and in-place buffers, as far as the algorithm supports them.

    Parameters
    ----------
    algorithm : Algorithm
        The algorithm to check.
    dimension : str
        Network dimension of the program.

    Raises
    ------
    AlgorithmError
        If the algorithm is wrong; the text describes the first problem.

    Examples
    --------
    >>> from topology_gen.schedules import bfb
    >>> from topology_gen import graphs
    >>> from topology_gen.lowering.lowering import lower
    >>> program = checked(lower(bfb.all_gather(graphs.ring(4)))).program
    >>> program.operation, program.units
    ('all_gather', 8)
    """
    try:
        program, redundant = _checked(algorithm, dimension)
        return Checked(program, False, redundant)
    except AlgorithmError as error:
        meant = adding_to_target(algorithm)
        if meant is algorithm:
            raise
        try:
            program, redundant = _checked(meant, dimension)
            return Checked(program, True, redundant)
        except AlgorithmError:
            raise error from None


def _checked(algorithm: Algorithm, dimension: str) -> tuple[Program, int]:
    """Return the program and the number of redundant receives."""
    check_places(algorithm)
    space = 4 * algorithm.chunks + max(gpu.scratch for gpu in algorithm.gpus)
    if space * algorithm.ranks * (8 + algorithm.ranks / 8) > MOST_CONTENTS:
        raise AlgorithmError(
            f"{algorithm.ranks} ranks with {space} chunks each in all buffers: expected what fits "
            f"into {MOST_CONTENTS >> 20} MiB while it is executed"
        )
    programs = []
    redundant = 0
    modes = ((False, algorithm.out_of_place), (True, algorithm.in_place))
    for in_place in [mode for mode, wanted in modes if wanted]:
        translation = _Translation(algorithm, in_place)
        program = translation.program(dimension)
        found = problems(program)
        wasted = [problem for problem in found if problem.kind == "duplicate"]
        redundant = max(redundant, len(wasted))
        found = [problem for problem in found if problem.kind != "duplicate"]
        if found:
            where = "in place" if in_place else "out of place"
            more = f" (and {len(found) - 1} more)" if len(found) > 1 else ""
            raise AlgorithmError(f"{where}, {translation.explain(found[0])}{more}")
        programs.append(program)
    return programs[0], redundant


class _Translation:
    """Translates an algorithm to a program, and maps the steps back to instructions.

    An instruction becomes one or more steps. Each step waits for the previous one in its thread
    block. If a result is not where a program's result belongs, a final COPY moves it there. A COPY
    takes no time.
    """

    def __init__(self, algorithm: Algorithm, in_place: bool) -> None:
        self._algorithm = algorithm
        self._units = Units(algorithm, in_place)
        self._rows: list[list[int]] = []
        self._edges: list[tuple[int, int]] = []
        self._origin: list[Step | None] = []
        self._last: dict[tuple[int, Step], int] = {}  # last step of each instruction
        self._waits: list[tuple[int, int, Step]] = []  # step, rank, instruction that it waits for
        self._sends: dict[tuple[int, Step], int] = {}
        self._receives: dict[tuple[int, Step], int] = {}
        self._known: list[dict[Step, tuple[int, ...]]] = [{} for _ in algorithm.gpus]
        self._spare = 0
        for rank in range(algorithm.ranks):
            self._gpu(rank)
        for handle, rank, step in self._waits:
            self._edges += [(handle, before) for before in self._ends(rank, step)]
        for rank in range(algorithm.ranks):
            self._deliver(rank)
        for connection, (sent, received) in algorithm.connections().items():
            for first, second in zip(sent, received, strict=True):
                send = self._sends[connection.source, first]
                receive = self._receives[connection.target, second]
                self._rows[send][3], self._rows[send][6] = connection.target, receive
                self._rows[receive][3], self._rows[receive][6] = connection.source, send

    def program(self, dimension: str) -> Program:
        """Return the translated program."""
        algorithm, steps = self._algorithm, np.array(self._rows, np.int64).reshape(-1, 7)
        head = Head(
            algorithm.name or "file",
            algorithm.operation,
            algorithm.ranks,
            algorithm.chunks,
            self._units.spare + self._spare,
            self._shifts(steps),
            (dimension,),
            root=algorithm.root,
        )
        return assemble(head, steps, np.array(self._edges, np.int64).reshape(-1, 2))

    def explain(self, problem: Problem) -> str:
        """Describe a problem of the program in terms of the algorithm's instructions."""
        # `assemble` numbers the steps by rank, and in the order in which they were added.
        rows = np.argsort([row[0] for row in self._rows], kind="stable")
        handles = [int(rows[step]) for step in problem.steps[:2]]
        if problem.kind == "undefined" and self._origin[handles[0]] is None:
            return f"gpu {self._rows[handles[0]][0]} ends without all chunks of its output"
        names = [self._name(handle) for handle in handles]
        match problem.kind:
            case "deadlock":
                return (
                    f"deadlock: {len(problem.steps)} steps wait for each other, such as {names[0]}"
                )
            case "race":
                return f"{names[0]} and {names[1]} touch the same chunks in no fixed order"
            case kind if kind in _WHAT:
                return f"{names[0]} {_WHAT[kind]}"
        text = problem.message.replace("member", "rank").replace("unit", "chunk")
        chunks = self._algorithm.chunks
        return re.sub(r"(?<=chunk )\d+", lambda found: str(int(found[0]) % chunks), text)

    def _name(self, handle: int) -> str:
        rank, step = self._rows[handle][0], self._origin[handle]
        if step is None:
            return f"gpu {rank}, when all is done,"
        kind = self._algorithm.instruction(rank, step).kind
        return f"gpu {rank} tb {step.block} step {step.number} ({kind})"

    def _gpu(self, rank: int) -> None:
        blocks = self._algorithm.gpus[rank].blocks
        # A fused receive that stores nothing reduces into spare units, which belong to its block.
        # A chunk has the same number there as in its buffer (modulo `chunks`), so that its size is
        # the same.
        keeping = [
            any(step.kind is Kind.RECEIVE_REDUCE_SEND for step in block.instructions)
            for block in blocks
        ]
        ends = [2 * self._algorithm.chunks * count for count in accumulate(keeping, initial=0)]
        self._spare = max(self._spare, ends[-1])
        for number, block in enumerate(blocks):
            previous: int | None = None
            waits: list[Step] = []
            for index, instruction in enumerate(block.instructions):
                step = Step(number, index)
                waits += [instruction.after] if instruction.after else []
                spare = self._units.spare + ends[number]
                for op, offset, target in self._parts(rank, instruction, spare):
                    handle = len(self._rows)
                    self._rows.append([rank, 0, op, rank, offset, instruction.chunks, target])
                    self._origin.append(step)
                    self._edges += [(handle, previous)] if previous is not None else []
                    self._waits += [(handle, rank, wait) for wait in waits]
                    waits = []
                    previous = handle
                    if op is Op.SEND:
                        self._sends[rank, step] = handle
                    elif op in (Op.RECV, Op.RECV_REDUCE):
                        self._receives[rank, step] = handle
                    self._last[rank, step] = handle

    def _parts(
        self, rank: int, instruction: Instruction, spare: int
    ) -> Iterator[tuple[Op, int, int]]:
        """Yield the op, offset and target of each step of an instruction."""

        def first(place: Place) -> int:
            return self._units.first(rank, place)

        kind = instruction.kind
        if kind is Kind.SEND:
            yield Op.SEND, first(instruction.source), 0
        elif kind is Kind.REDUCE:
            yield Op.REDUCE, first(instruction.source), first(instruction.target)
        elif kind is not Kind.NOP:
            into = spare + first(instruction.source) % self._algorithm.chunks
            if kind is not Kind.RECEIVE_REDUCE_SEND:
                into = first(instruction.target)
            if kind is Kind.COPY or kind in _REDUCING:
                source = first(instruction.source)
                if source != into:
                    yield Op.COPY, source, into
            if kind.receives:
                yield Op.RECV_REDUCE if kind in _REDUCING else Op.RECV, into, 0
            if kind.sends:
                yield Op.SEND, into, 0

    def _ends(self, rank: int, step: Step) -> tuple[int, ...]:
        """Return the steps that must be complete for an instruction to be complete.

        This is the last step of the instruction. An instruction without steps (a nop) is complete
        when the previous instruction and the one that it waits for are complete.
        """
        known, open_ = self._known[rank], {step}
        stack = [step]
        while stack:
            at = stack[-1]
            needed: list[Step] = []
            if (rank, at) not in self._last:
                after = self._algorithm.instruction(rank, at).after
                needed += [Step(at.block, at.number - 1)] if at.number else []
                needed += [after] if after is not None else []
            missing = [wait for wait in needed if wait not in known]
            for wait in missing:
                if wait in open_:
                    raise AlgorithmError(
                        f"gpu {rank} tb {at.block} step {at.number} waits for itself, through nops"
                    )
            if missing:
                open_.add(missing[0])
                stack.append(missing[0])
                continue
            ends = [end for wait in needed for end in known[wait]]
            if (rank, at) in self._last:
                ends = [self._last[rank, at]]
            known[at] = tuple(dict.fromkeys(ends))
            open_.discard(stack.pop())
        return known[step]

    def _deliver(self, rank: int) -> None:
        move = self._units.delivery(rank)
        if move is None:
            return
        handle = len(self._rows)
        source, target, count = move
        self._rows.append([rank, 0, Op.COPY, rank, source, count, target])
        self._origin.append(None)
        for number, block in enumerate(self._algorithm.gpus[rank].blocks):
            if block.instructions:
                last = Step(number, len(block.instructions) - 1)
                self._edges += [(handle, before) for before in self._ends(rank, last)]

    def _shifts(self, steps: Ints) -> bool:
        """Return whether data moves to chunks with other numbers, which needs equal sizes."""
        op, offset, target = steps[:, 2], steps[:, 4], steps[:, 6]
        sends = op == Op.SEND
        local = (op == Op.COPY) | (op == Op.REDUCE)
        moved = np.concatenate(
            [offset[sends] - offset[target[sends]], offset[local] - target[local]]
        )
        return bool(np.any(moved % self._algorithm.chunks))
