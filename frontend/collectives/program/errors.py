"""Errors about collectives: an unsupported request, or a program that is wrong."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass


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
