"""The table of collective algorithms, and `build`, which looks up and calls them."""

from __future__ import annotations

import inspect
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass

from frontend.collectives.program.errors import CollectiveError
from frontend.collectives.program.program import Program, empty

OPERATIONS = ("all_reduce", "reduce_scatter", "all_gather", "all_to_all")

Builder = Callable[..., Program]


@dataclass(frozen=True)
class Algorithm:
    """A family of programs.

    Parameters
    ----------
    name : str
        As scenarios spell it.
    description : str
        One line for ``cosim list``.
    operations : mapping of str to callable
        Per operation that it offers, a function of the group size and keyword-only options that
        returns the `Program` (called for groups of two and more).
    """

    name: str
    description: str
    operations: Mapping[str, Builder]


_ALGORITHMS: dict[str, Algorithm] = {}


def register(algorithm: Algorithm) -> None:
    """Make an algorithm known to `build`.

    Raises
    ------
    CollectiveError
        The name is taken, or it offers an operation that does not exist.
    """
    if algorithm.name in _ALGORITHMS:
        raise CollectiveError(f"algorithm {algorithm.name!r} is registered twice")
    for operation in algorithm.operations:
        _known_operation(operation)
    _ALGORITHMS[algorithm.name] = algorithm


def algorithm_names() -> dict[str, list[str]]:
    """Return, per operation, the names of the algorithms that offer it."""
    return {
        operation: [a.name for a in _ALGORITHMS.values() if operation in a.operations]
        for operation in OPERATIONS
    }


def describe(algorithm: str) -> str:
    """Return the one-line description of a registered algorithm."""
    return _ALGORITHMS[algorithm].description


def options(operation: str, algorithm: str) -> frozenset[str]:
    """Return the names of the options that `build` takes for an operation by an algorithm."""
    return frozenset(_parameters(_builder(operation, algorithm)))


def build(operation: str, algorithm: str, group_size: int, **chosen: object) -> Program:
    """Return the program of a collective.

    Parameters
    ----------
    operation : str
        "all_reduce", "reduce_scatter", "all_gather" or "all_to_all".
    algorithm : str
        One of ``algorithm_names()[operation]``.
    group_size : int
        Members of the group, at least 1. A group of one gets a program without steps.
    **chosen
        Options of the algorithm (see `options`).

    Raises
    ------
    CollectiveError
        Something was asked for that does not exist; the text says what is accepted.

    Examples
    --------
    >>> build("all_reduce", "ring", 4).steps
    48
    """
    builder = _builder(operation, algorithm)
    if isinstance(group_size, bool) or not isinstance(group_size, int) or group_size < 1:
        raise CollectiveError(f"group size {group_size!r} is not a positive number of members")
    parameters = _parameters(builder)
    for option in chosen:
        if option not in parameters:
            accepted = ", ".join(sorted(parameters)) or "none"
            raise CollectiveError(
                f"option {option!r} is not known to {operation} by {algorithm!r}; "
                f"accepted: {accepted}"
            )
    missing = [
        name
        for name, parameter in parameters.items()
        if parameter.default is parameter.empty and name not in chosen
    ]
    if missing:
        raise CollectiveError(f"{operation} by {algorithm!r} needs the option {missing[0]!r}")
    if group_size == 1:
        names = chosen.get("dimensions", (chosen.get("dimension", "scale_out"),))
        assert isinstance(names, Sequence)
        return empty(algorithm, operation, str(names[0]))
    return builder(group_size, **chosen)


def _known_operation(operation: str) -> None:
    if operation not in OPERATIONS:
        raise CollectiveError(
            f"operation {operation!r} is not known; accepted: {', '.join(OPERATIONS)}"
        )


def _builder(operation: str, algorithm: str) -> Builder:
    _known_operation(operation)
    offered = ", ".join(algorithm_names()[operation])
    if algorithm not in _ALGORITHMS:
        raise CollectiveError(
            f"algorithm {algorithm!r} is not known; accepted for {operation}: {offered}"
        )
    builder = _ALGORITHMS[algorithm].operations.get(operation)
    if builder is None:
        raise CollectiveError(
            f"{operation} by {algorithm!r} is not supported; accepted for {operation}: {offered}"
        )
    return builder


def _parameters(builder: Builder) -> dict[str, inspect.Parameter]:
    return {
        name: parameter
        for name, parameter in inspect.signature(builder).parameters.items()
        if parameter.kind is parameter.KEYWORD_ONLY
    }
