"""Programs: a collective algorithm as data, with steps and dependencies for each member."""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from dataclasses import dataclass, field, fields
from enum import IntEnum
from typing import Any, NamedTuple

import numpy as np
import numpy.typing as npt


class CollectiveError(ValueError):
    """Raised if no registered algorithm supports a collective; the text says what is accepted.

    Attributes
    ----------
    inside : str
        Key path of the wrong value inside the choice of the algorithm, such as
        ``levels.0.algorithm``; empty for the choice itself.
    value : str
        The wrong value, if `inside` is given.
    """

    inside: str = ""
    value: str = ""

    def within(self, inside: str, value: str) -> CollectiveError:
        """Return this error for a value inside the choice of the algorithm."""
        self.inside, self.value = inside, value
        return self


class StepsError(CollectiveError):
    """Raised for a program that has more steps than cosim can number or write.

    Attributes
    ----------
    segments : bool
        Whether fewer segments have fewer steps.
    """

    segments: bool = False


@dataclass(frozen=True)
class Problem:
    """A problem of a program.

    Parameters
    ----------
    kind : str
        ``structure``, ``matching``, ``deadlock``, ``race``, ``undefined``, ``mixed``, ``double``,
        ``duplicate`` or ``result``.
    message : str
        One sentence that names the members and steps.
    steps : tuple of int
        Ids of the steps concerned, or of some of them if there are many.
    """

    kind: str
    message: str
    steps: tuple[int, ...] = ()

    def __str__(self) -> str:
        return f"{self.kind}: {self.message}"


class ScheduleError(ValueError):
    """Raised for a program that does not compute the result of its operation.

    Attributes
    ----------
    problems : tuple of Problem
        All problems found, the most basic first.
    """

    def __init__(self, name: str, problems: Sequence[Problem]) -> None:
        self.problems = tuple(problems)
        more = f" (and {len(problems) - 1} more)" if len(problems) > 1 else ""
        super().__init__(f"program {name}: {problems[0]}{more}")


Array = npt.NDArray[np.uint32]
Ints = npt.NDArray[np.int64]
Flags = npt.NDArray[np.bool_]
Blocks = tuple[tuple[int, ...], ...]
"""Row i has the units that member i sends to each member, itself included."""

_STEP_COLUMNS = ("member", "phase", "op", "peer", "offset", "count", "target")
COLUMNS = ("step_begin", *_STEP_COLUMNS[1:], "dep_begin", "dep", "route")
"""Names of the arrays of a `Program`."""


class Op(IntEnum):
    """Operation of a step; the values equal those of ``Program.Op`` in the stream."""

    SEND = 0
    RECV = 1
    RECV_REDUCE = 2
    COPY = 3
    REDUCE = 4


class Protocol(NamedTuple):
    """What a communication library adds to the messages of a program.

    Attributes
    ----------
    local_members : int
        Members of a server, which are together. A message inside a server is near.
    near_wire_ppm, far_wire_ppm : int
        Bytes on the wire of near messages and of the others, in parts of 10^6 of their payload.
    near_delay_ps, far_delay_ps : int
        Time that the library takes for a message before it is sent.
    launch_ps : int
        Time from the issue of a collective to its first step.
    near_from : int
        Members from this number on are switches inside servers, and their messages are near; 0: no
        member is.
    """

    local_members: int
    near_wire_ppm: int
    far_wire_ppm: int
    near_delay_ps: int
    far_delay_ps: int
    launch_ps: int
    near_from: int = 0


@dataclass(frozen=True, eq=False)
class Head:
    """What a program says about itself, whether it has all steps or a rule for them.

    Parameters
    ----------
    name, operation : str
        The algorithm ("ring") and the operation that it computes ("all_reduce").
    group_size : int
        Number of members of the group.
    units : int
        Number of parts into which the bytes of a chunk are divided.
    space : int
        Number of units that each member addresses. Units from `units` on are output or scratch.
    equal_units : bool
        Whether all units have the same size (rounded up). Otherwise their sizes may differ by one
        byte and add up to the bytes of the chunk.
    phase_dimension : tuple of str
        For each phase, the network dimension whose chunk slots it occupies, and maybe the level:
        see `in_level`.
    root : int
        The member at which a broadcast or scatter starts, or a reduce or gather ends.
    switches : tuple of int
        Members that are switches, which have no data of their own: what they add up begins with
        nothing, and the operation needs nothing of them.
    protocol : Protocol, optional
        What a communication library adds to the messages.
    """

    name: str
    operation: str
    group_size: int
    units: int
    space: int
    equal_units: bool
    phase_dimension: tuple[str, ...]
    root: int = field(default=0, kw_only=True)
    switches: tuple[int, ...] = field(default=(), kw_only=True)
    protocol: Protocol | None = field(default=None, kw_only=True)

    @property
    def ranks(self) -> int:
        """Number of members that are ranks."""
        return self.group_size - len(self.switches)

    def rank_numbers(self) -> Ints:
        """Return the number of each member among the ranks; -1 for a switch."""
        numbers = np.full(self.group_size, -1, np.int64)
        numbers[np.delete(np.arange(self.group_size), self.switches)] = np.arange(self.ranks)
        return numbers

    @property
    def head(self) -> dict[str, Any]:
        """The fields of the head by name, for another program that has them."""
        return {one.name: getattr(self, one.name) for one in fields(Head)}


@dataclass(frozen=True, eq=False)
class Program(Head):
    """One collective algorithm over a group. Each chunk of a collective runs it once.

    The class mirrors the stream's ``Program``, with names of dimensions instead of ids. Member
    ``g`` has the steps ``step_begin[g] … step_begin[g + 1] - 1``, sorted by phase. Within a phase,
    the executor posts steps that are ready in this order. Arrays are ``uint32`` and read-only.

    Parameters
    ----------
    step_begin, op, phase, peer, offset, count, target, dep_begin, dep, route : array of uint32
        As in the stream. An empty `route` means route 0 for every step.
    blocks : array of uint32, shape (N, N), optional
        For an all-to-all with unequal blocks: units that each member sends to each member.
    """

    step_begin: Array
    op: Array
    phase: Array
    peer: Array
    offset: Array
    count: Array
    target: Array
    dep_begin: Array
    dep: Array
    route: Array = field(default_factory=lambda: np.zeros(0, np.uint32))
    blocks: Array | None = None

    def __post_init__(self) -> None:
        for name in COLUMNS:
            array = np.array(getattr(self, name), dtype=np.uint32, copy=None)
            array.flags.writeable = False
            object.__setattr__(self, name, array)

    @property
    def steps(self) -> int:
        """Total number of steps of all members."""
        return int(self.op.size)

    def table(self) -> Program:
        """Return the program itself, whose arrays hold the steps of every member."""
        return self

    def members(self) -> Ints:
        """Return the member that runs each step."""
        return np.repeat(np.arange(self.group_size), lengths(self.step_begin))

    def dependents(self) -> Ints:
        """Return, for each entry of ``dep``, the step that waits for it."""
        return np.repeat(np.arange(self.op.size), lengths(self.dep_begin))

    def describe(self, step: int) -> str:
        """Return a description of a step for error messages."""
        member = int(np.searchsorted(self.step_begin, step, side="right")) - 1
        op = Op(int(self.op[step]))
        first, count = int(self.offset[step]), int(self.count[step])
        words = f"member {member} step {step} ({op.name} units {first}…{first + count - 1}"
        if op is Op.SEND:
            return f"{words} to {self.peer[step]})"
        if op in (Op.RECV, Op.RECV_REDUCE):
            return f"{words} from {self.peer[step]})"
        return f"{words} into {self.target[step]})"


def empty(name: str, operation: str, dimension: str) -> Program:
    """Return the program without steps, which implements every collective in a group of one.

    The caller's buffer already is the result. For an all-to-all, the only block stays in place.
    """
    all_to_all = operation == "all_to_all"
    builder = ProgramBuilder(
        name,
        operation,
        1,
        units=1,
        space=2 if all_to_all else 1,
        equal_units=all_to_all,
        dimensions=(dimension,),
    )
    return builder.build()


def in_level(dimension: str, level: int) -> str:
    """Return the name of a level of a dimension, in which a phase takes its slots.

    A name without a level stands for level 0.

    Examples
    --------
    >>> in_level("scale_out", 1)
    'scale_out/1'
    """
    return f"{dimension}/{level}"


def dimension_and_level(name: str) -> tuple[str, int]:
    """Return the dimension and the level of a name.

    Examples
    --------
    >>> dimension_and_level("scale_out/1"), dimension_and_level("scale_up")
    (('scale_out', 1), ('scale_up', 0))
    """
    dimension, _, level = name.partition("/")
    return dimension, int(level or 0)


def known_root(root: int, group_size: int) -> None:
    """Raise CollectiveError unless `root` is a member of the group."""
    if not 0 <= root < group_size:
        raise CollectiveError(f"root {root}: expected a member from 0 to {group_size - 1}")


def is_message(op: npt.NDArray[np.integer]) -> Flags:
    """Return, for each step, whether it has a partner step at another member."""
    return op <= Op.RECV_REDUCE


class ProgramBuilder:
    """Builds a program step by step, for algorithms whose members run different steps.

    Methods return handles of steps, which later calls can pass as ``after``. Within a phase, the
    steps of a member keep the order in which they were added.

    Parameters
    ----------
    name, operation, group_size, units, space, equal_units, root, switches
        As in `Head`. `space` defaults to `units`.
    dimensions : tuple of str
        Network dimension of each phase.

    Examples
    --------
    >>> builder = ProgramBuilder("pair", "all_gather", 2, units=2, dimensions=("scale_out",))
    >>> _ = builder.message(0, 1, 0, 1)
    >>> _ = builder.message(1, 0, 1, 1)
    >>> builder.build().steps
    4
    """

    def __init__(
        self,
        name: str,
        operation: str,
        group_size: int,
        *,
        units: int,
        dimensions: tuple[str, ...],
        space: int | None = None,
        equal_units: bool = False,
        root: int = 0,
        switches: tuple[int, ...] = (),
    ) -> None:
        self._head = Head(
            name,
            operation,
            group_size,
            units,
            space or units,
            equal_units,
            dimensions,
            root=root,
            switches=switches,
        )
        self._steps: list[tuple[int, int, int, int, int, int, int]] = []
        self._edges: list[tuple[int, int]] = []
        self._routes: dict[int, int] = {}

    def _add(
        self, member: int, phase: int, op: Op, peer: int, offset: int, count: int, target: int,
        after: Iterable[int],
    ) -> int:  # fmt: skip
        handle = len(self._steps)
        self._steps.append((member, phase, op, peer, offset, count, target))
        self._edges.extend((handle, dep) for dep in after)
        return handle

    def message(
        self,
        source: int,
        target: int,
        offset: int,
        count: int,
        *,
        into: int | None = None,
        reduce: bool = False,
        after: Iterable[int] = (),
        receive_after: Iterable[int] = (),
        phase: int = 0,
        route: int = 0,
    ) -> tuple[int, int]:
        """Add a SEND at member `source` and its RECV (or RECV_REDUCE) at member `target`.

        Parameters
        ----------
        source, target : int
            Sending and receiving member.
        offset, count : int
            First unit to send, and the number of units.
        into : int, optional
            First unit that `target` writes; `offset` by default.
        reduce : bool
            Whether `target` reduces the units into its own instead of overwriting them.
        after, receive_after : iterable of int
            Steps of `source` and of `target` that must be complete before the SEND and the receive.
        phase : int
            Phase of both steps.
        route : int
            Index of the path of the pair that the message takes.

        Returns
        -------
        (int, int)
            Handles of the SEND and of the receive.
        """
        handle = len(self._steps)
        first = offset if into is None else into
        op = Op.RECV_REDUCE if reduce else Op.RECV
        self._add(source, phase, Op.SEND, target, offset, count, handle + 1, after)
        self._routes[handle] = route
        self._add(target, phase, op, source, first, count, handle, receive_after)
        return handle, handle + 1

    def copy(
        self, member: int, offset: int, target: int, count: int, *,
        after: Iterable[int] = (), phase: int = 0,
    ) -> int:  # fmt: skip
        """Add a COPY of `count` units from `offset` to `target`, and return its handle."""
        return self._add(member, phase, Op.COPY, member, offset, count, target, after)

    def reduce(
        self, member: int, offset: int, target: int, count: int, *,
        after: Iterable[int] = (), phase: int = 0,
    ) -> int:  # fmt: skip
        """Add a REDUCE of `count` units at `offset` into those at `target`; return its handle."""
        return self._add(member, phase, Op.REDUCE, member, offset, count, target, after)

    def build(self) -> Program:
        """Return the program of the steps added so far."""
        return self.pipeline(1, 0, (), 1)

    def pipeline(
        self, times: int, step: int, gates: Iterable[tuple[int, int]], window: int
    ) -> Program:
        """Return the program that runs the steps added so far several times.

        Parameters
        ----------
        times : int
            Number of repetitions.
        step : int
            Number of units between the addresses of a repetition and of the next one.
        gates : iterable of (int, int)
            Each is a step, and a step of the same member in an earlier repetition that it waits
            for.
        window : int
            How much earlier: repetition r waits for repetition r - window.
        """
        once = np.array(self._steps, np.int64).reshape(-1, 7)
        own = np.array(self._edges, np.int64).reshape(-1, 2)
        gate = np.array(list(gates), np.int64).reshape(-1, 2)
        turn = np.arange(times)[:, None, None]
        message = is_message(once[:, 2])
        shift = np.zeros((len(once), 7), np.int64)
        shift[:, 4] = step
        shift[:, 6] = np.where(message, len(once), step)
        edges = own + turn * len(once)
        waits = gate + turn[window:] * len(once) - np.array([0, window * len(once)])
        routes = np.zeros(len(once), np.int64)
        routes[list(self._routes)] = list(self._routes.values())
        return assemble(
            self._head,
            (once + turn * shift).reshape(-1, 7),
            np.concatenate((edges.reshape(-1, 2), waits.reshape(-1, 2))),
            np.tile(routes, times),
        )


def assemble(head: Head, steps: Ints, edges: Ints, route: Ints | None = None) -> Program:
    """Sort steps by member and phase, renumber them, and return the program.

    Parameters
    ----------
    head : Head
        The head of the program.
    steps : array, shape (n, 7)
        Rows of member, phase, op, peer, offset, count, target. Row numbers are the ids that
        `target` (of messages) and `edges` use.
    edges : array, shape (m, 2)
        Each row is a step and a step that it waits for.
    route : array, shape (n,), optional
        For each SEND, the index of the path of the pair that it takes; 0 by default.
    """
    order = np.lexsort((steps[:, 1], steps[:, 0]))  # stable, so it keeps the order in a phase
    number = np.empty_like(order)
    number[order] = np.arange(order.size)
    # One column at a time: a large program is sorted without a second copy of all of it.
    column: dict[str, Any] = {
        name: narrowed(steps[order, i]) for i, name in enumerate(_STEP_COLUMNS)
    }
    message = is_message(column["op"])
    column["target"][message] = number[column["target"][message]]
    waiting = number[edges[:, 0]]
    by_step = np.argsort(waiting, kind="stable")
    return Program(
        **head.head,
        step_begin=starts(column.pop("member"), head.group_size),
        dep_begin=starts(waiting, order.size),
        dep=narrowed(number[edges[by_step, 1]]),
        route=narrowed(np.zeros(0, np.int64) if route is None or not route.any() else route[order]),
        **column,
    )


def rows_of(program: Program, first: int = 0) -> Ints:
    """Return the steps of a program as rows for `assemble`, of which the first has a number."""
    rows = np.column_stack((program.members(), *(getattr(program, n) for n in _STEP_COLUMNS[1:])))
    rows = rows.astype(np.int64)
    rows[is_message(program.op), 6] += first
    return rows


def edges_of(program: Program) -> Ints:
    """Return the dependencies of a program as edges for `assemble`."""
    return np.column_stack((program.dependents(), program.dep)).astype(np.int64)


def routes_of(program: Program) -> Ints:
    """Return the route of each step of a program."""
    return (program.route if program.route.size else np.zeros(program.steps)).astype(np.int64)


def lengths(begin: npt.NDArray[np.unsignedinteger]) -> Ints:
    """Return the lengths of the slices that a ``*_begin`` array delimits."""
    ends = begin.astype(np.int64)
    return ends[1:] - ends[:-1]


def ranges(counts: Ints) -> Ints:
    """Return the concatenation of the ranges 0 … count-1, one for each count."""
    ends = np.cumsum(counts)
    return np.arange(int(ends[-1]) if ends.size else 0) - np.repeat(ends - counts, counts)


def starts(owner: npt.NDArray[np.integer], owners: int) -> Array:
    """Return the start of each owner's slice in an array sorted by owner."""
    return narrowed(np.concatenate(([0], np.cumsum(np.bincount(owner, minlength=owners)))))


def narrowed(values: npt.ArrayLike) -> Array:
    """Return numbers as the type of the arrays of a program."""
    return np.asarray(values).astype(np.uint32)


def block_units(blocks: Sequence[Sequence[int]]) -> int:
    """Return the units of a buffer that holds the data of any member, sent or received."""
    table = np.array(blocks, np.int64)
    return max(1, int(table.sum(axis=0).max()), int(table.sum(axis=1).max()))


def block_places(blocks: Ints) -> tuple[Ints, Ints]:
    """Return where each block begins in the data of its sender, and in that of its receiver.

    Both arrays have the shape (N, N) of `blocks`: senders in rows.
    """
    return np.cumsum(blocks, axis=1) - blocks, np.cumsum(blocks, axis=0) - blocks
