"""What can be wrong with a collective: a request, or a schedule."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass


class CollectiveError(ValueError):
    """A collective was asked for that no registered algorithm provides; says what is accepted."""


@dataclass(frozen=True)
class Problem:
    """One thing that is wrong with a program.

    Parameters
    ----------
    kind : str
        ``structure``, ``matching``, ``deadlock``, ``race``, ``undefined``, ``mixed``, ``double``,
        ``duplicate`` or ``result``.
    message : str
        One sentence that names the members and steps.
    steps : tuple of int
        Ids of the steps concerned (some of them, when there are many).
    """

    kind: str
    message: str
    steps: tuple[int, ...] = ()

    def __str__(self) -> str:
        return f"{self.kind}: {self.message}"


class ScheduleError(ValueError):
    """A program does not do what its operation promises.

    Attributes
    ----------
    problems : tuple of Problem
        Everything that was found, the most basic first.
    """

    def __init__(self, name: str, problems: Sequence[Problem]) -> None:
        self.problems = tuple(problems)
        more = f" (and {len(problems) - 1} more)" if len(problems) > 1 else ""
        super().__init__(f"program {name}: {problems[0]}{more}")
