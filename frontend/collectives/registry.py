"""The registry of collective algorithms, and `build`, which builds a program by algorithm name."""

from __future__ import annotations

import inspect
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from typing import Any, Literal, get_args

from frontend.collectives.program.composition import AnyProgram
from frontend.collectives.program.program import CollectiveError, Program, StepsError, empty
from frontend.collectives.setting import Setting
from topology_gen.graphs.digraph import Digraph
from topology_gen.lowering.algorithm import Operation
from topology_gen.registry import Registry

CollectiveOperation = Literal[Operation, "barrier"]

OPERATIONS: tuple[str, ...] = get_args(CollectiveOperation)

ROOTED = ("broadcast", "reduce", "gather", "scatter")
"""The operations that start or end at one member."""

UNEVEN = ("direct", "nccl", "auto")
"""The algorithms of an all-to-all whose blocks have sizes of their own."""

Builder = Callable[..., AnyProgram]


def dimension_and_root(setting: Setting) -> dict[str, Any]:
    """Return the options of an algorithm that takes the network dimension, and the root if any."""
    root = {"root": setting.root} if setting.operation in ROOTED else {}
    return {"dimension": setting.dimension} | root


def always_works(setting: Setting) -> None:
    """Accept every group. This is the check of algorithms that support every group size."""


MOST_STEPS = 2**32 - 1
"""Steps of a program that the simulator can number, as in `program-validator.cc` of the stream."""


MOST_WRITTEN_STEPS = 2**25
"""Steps of a program that has those of every member, and not a rule for them. Making them from
arrays takes 6.4 GB of memory, and their record of a stream has half a gigabyte."""

MOST_BUILT_STEPS = 2**24
"""Steps of a program that is built message by message, which takes twice the memory for each."""


def require_numbers(turns: int, steps: int, block: int = 1) -> None:
    """Raise StepsError if blocks of ranks with some steps each have more than can be numbered.

    The number of a step of a block is that of the step, and as many bits as blocks need.
    """
    places, of_ranks = _padded(turns, "ranks" if block == 1 else f"blocks of {block} ranks")
    if steps * places > MOST_STEPS:
        raise StepsError(
            f"{steps} steps of each of {of_ranks} need {steps * places} numbers, and the simulator "
            f"has {MOST_STEPS}"
        )


def require_repeated_numbers(steps: int, times: int) -> None:
    """Raise StepsError if the repetitions of all steps of a program have too many numbers."""
    places, of_steps = _padded(steps, "steps")
    if times * places > MOST_STEPS:
        error = StepsError(
            f"{times} segments of {of_steps} need {times * places} numbers, and the simulator has "
            f"{MOST_STEPS}"
        )
        error.segments = True
        raise error


def _padded(count: int, noun: str) -> tuple[int, str]:
    """Return the next power of two, and the count as text, which tells it where it is larger."""
    places = 1 << (count - 1).bit_length()
    text = f"{count} {noun}"
    return places, text if places == count else f"{text} ({places} for a power of two)"


def require_written(steps: int, most: int = MOST_WRITTEN_STEPS, segments: int = 1) -> None:
    """Raise StepsError if a program has too many steps to write those of every member.

    Parameters
    ----------
    steps : int
        Steps of all members.
    most : int
        `MOST_WRITTEN_STEPS` or `MOST_BUILT_STEPS`.
    segments : int
        Number of segments that each have a part of the steps.
    """
    if steps > most:
        error = StepsError(f"the program has {steps} steps, and cosim writes at most {most}")
        error.segments = segments > 1
        raise error


def rounds_of(setting: Setting) -> int:
    """Return how often each member sends to its neighbour, or once to each other member."""
    return (len(setting.ranks) - 1) * (2 if setting.operation == "all_reduce" else 1)


SEGMENT_PARTS = 256
"""With `segments: auto`, chunks × segments is at most this number. Filling the pipeline then costs
a few percent: a double binary tree of 128 ranks is 14 hops deep, up and down."""

SEGMENT_GAIN = 0.01
"""With `segments: auto`, part of the time by which twice as many segments would have to shorten a
collective."""

SEGMENT_BYTES = 8192
"""With `segments: auto`, no segment is smaller than this: about one packet of a 9000-byte MTU."""


def segments_of(
    given: int | str, chunks: int, chunk_bytes: int, trees: int = 2, *, filling: float
) -> int:
    """Return the number of segments of a chunk. Each of the trees carries an equal part of it.

    With S segments, C chunks and a filling f, the collective takes 1 + f / (C S) of the time of its
    bytes. S is a power of two, or the most segments that are not too small. Twice as many segments
    would gain at most `SEGMENT_GAIN` of the time, and half as many would lose more than that.

    Parameters
    ----------
    given : int or "auto"
        The value in the scenario.
    chunks, chunk_bytes : int
        Number of chunks of the collective, and size of each in bytes.
    trees : int
        Number of trees.
    filling : float
        Time to fill the pipeline of a chunk of one segment, over the time of the chunk's bytes.

    Examples
    --------
    >>> segments_of("auto", 1, 160_000, filling=7)  # 80 000 bytes in segments of at least 8 KiB
    9
    >>> segments_of("auto", 1, 10**9, filling=0.5)
    32
    """
    if isinstance(given, int):
        return given
    most = max(1, min(SEGMENT_PARTS // chunks, chunk_bytes // trees // SEGMENT_BYTES))
    enough = filling / chunks * (0.5 - SEGMENT_GAIN) / SEGMENT_GAIN
    count = 1
    while count < min(most, enough):
        count *= 2
    return min(count, most)


@dataclass(frozen=True)
class Algorithm:
    """A collective algorithm: it builds programs for some operations and any group size.

    Parameters
    ----------
    name : str
        Name in scenarios.
    description : str
        One line for ``cosim list``.
    operations : mapping of str to callable
        For each operation that the algorithm supports, a function that takes the group size and
        keyword-only options and returns the `Program`, or a rule for it: a `Rotation` or a
        `Composition`. It is called for groups of at least two.
    needs : frozenset of str
        Features that the topology must have; see `Layout.features`.
    choose : callable
        Function that returns the options for a `Setting`. By default, it returns the dimension,
        and the root of an operation that has one.
    graph_problem : callable, optional
        Function of the links between ranks. It returns None if the algorithm can use them, and a
        phrase that says what is accepted otherwise.
    check : callable, optional
        Function that takes a `Setting` and raises `CollectiveError` if the program cannot be built.
        Without it, ``cosim validate`` builds the program to find out.
    explain : callable, optional
        Function that takes a `Setting` and returns why `choose` returns what it does, for the
        result. Without it, the scenario alone determines the program.
    members : callable, optional
        Function that takes a `Setting` and the options of the program, and returns the nodes that
        run it: the ranks in order, and switches that reduce. Without it, the ranks alone. It raises
        `CollectiveError` if the program is not for these ranks.

    Raises
    ------
    CollectiveError
        If `operations` is empty, or contains an unknown operation or what is no function.
    """

    name: str
    description: str
    operations: Mapping[str, Builder]
    needs: frozenset[str] = frozenset()
    choose: Callable[[Setting], dict[str, Any]] = dimension_and_root
    graph_problem: Callable[[Digraph], str | None] | None = None
    check: Callable[[Setting], None] | None = None
    explain: Callable[[Setting], str] | None = None
    members: Callable[[Setting, Mapping[str, Any]], Sequence[int]] | None = None

    def __post_init__(self) -> None:
        if not self.operations:
            raise CollectiveError(f"{self.name}: expected at least one operation with its function")
        for operation, function in self.operations.items():
            _known_operation(operation)
            if not callable(function):
                raise CollectiveError(
                    f"{self.name}: {operation}: expected a function, not {function!r:.60}"
                )

    def build(self, operation: str, group_size: int, **chosen: Any) -> AnyProgram:
        """Return the program of an operation that the algorithm supports; see `build` below.

        A program by a rule is returned as the rule.
        """
        builder = self.operations[operation]
        if isinstance(group_size, bool) or not isinstance(group_size, int) or group_size < 1:
            raise CollectiveError(f"group size {group_size!r} is not a positive number of members")
        parameters = _parameters(builder)
        for option in chosen:
            if option not in parameters:
                accepted = ", ".join(sorted(parameters)) or "none"
                raise CollectiveError(
                    f"option {option!r} is not known to {operation} by {self.name!r}; "
                    f"accepted: {accepted}"
                )
        missing = [
            name
            for name, parameter in parameters.items()
            if parameter.default is parameter.empty and name not in chosen
        ]
        if missing:
            raise CollectiveError(f"{operation} by {self.name!r} needs the option {missing[0]!r}")
        if group_size == 1:
            names = chosen.get("dimensions", (chosen.get("dimension", "scale_out"),))
            return empty(self.name, operation, str(names[0]))
        return builder(group_size, **chosen)


ALGORITHMS = Registry[Algorithm]("collective algorithm", "cosim.collectives", Algorithm)
"""Every collective algorithm by name."""


def algorithm_names() -> dict[str, list[str]]:
    """Return, for each operation, the names of the algorithms that support it."""
    return {
        operation: [a.name for a in ALGORITHMS.values() if operation in a.operations]
        for operation in OPERATIONS
    }


def options(operation: str, algorithm: str) -> frozenset[str]:
    """Return the names of the options that `build` takes for an operation by an algorithm."""
    return frozenset(_parameters(_offering(operation, algorithm).operations[operation]))


def build(operation: str, algorithm: str, group_size: int, **chosen: Any) -> Program:
    """Return the program of a collective, with the steps of every member.

    Parameters
    ----------
    operation : str
        One of `OPERATIONS`.
    algorithm : str
        One of ``algorithm_names()[operation]``.
    group_size : int
        Number of members of the group, at least 1. The program of a group of one has no steps.
    **chosen
        Options of the algorithm (see `options`).

    Raises
    ------
    CollectiveError
        If the operation, algorithm, group size or an option is not supported. The text says what is
        accepted.

    Examples
    --------
    >>> build("all_reduce", "ring", 4).steps
    48
    """
    return _offering(operation, algorithm).build(operation, group_size, **chosen).table()


def _known_operation(operation: str) -> None:
    if operation not in OPERATIONS:
        raise CollectiveError(
            f"operation {operation!r} is not known; accepted: {', '.join(OPERATIONS)}"
        )


def _offering(operation: str, algorithm: str) -> Algorithm:
    """Return an algorithm by name; raise CollectiveError if it does not support the operation."""
    _known_operation(operation)
    offered = ", ".join(algorithm_names()[operation])
    if algorithm not in ALGORITHMS:
        raise CollectiveError(
            f"algorithm {algorithm!r} is not known; accepted for {operation}: {offered}"
        )
    if operation not in ALGORITHMS[algorithm].operations:
        raise CollectiveError(
            f"{operation} by {algorithm!r} is not supported; accepted for {operation}: {offered}"
        )
    return ALGORITHMS[algorithm]


def _parameters(builder: Builder) -> dict[str, inspect.Parameter]:
    return {
        name: parameter
        for name, parameter in inspect.signature(builder).parameters.items()
        if parameter.kind is parameter.KEYWORD_ONLY
    }
