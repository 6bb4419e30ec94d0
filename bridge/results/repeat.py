"""The block of a result that says which iterations were skipped."""

from __future__ import annotations

from typing import Literal

from bridge.results.measurements import Block


class SkippedIterations(Block):
    """Iterations in a row that were not simulated."""

    after: int
    """Index of the iteration after which they come."""
    iterations: int
    """How many they are."""
    period: int
    """They repeat the last so many iterations."""


class CheckedIteration(Block):
    """An iteration that was simulated after skipped ones, to check them."""

    iteration: int
    """Index of the iteration."""
    time_ns: float
    """Time from a point of it to the same point of the next iteration."""
    expected_ns: float
    """The same time in the iteration that the skipped ones repeat."""


class Repeat(Block):
    """Which iterations were skipped, and how far the checked ones were off."""

    mode: Literal["exact", "approximate"]
    """As in the scenario. exact: all of the result except `simulator` is that of a run without
    skips. approximate: skipped iterations repeat the one before them in all times and counters."""
    skipped: tuple[SkippedIterations, ...]
    """What was skipped."""
    simulated_iterations: int
    """Number of iterations that were simulated."""
    checks: tuple[CheckedIteration, ...]
    """The checked iterations, with approximate."""
    largest_error: float
    """Largest difference between time_ns and expected_ns of a check, as a part of expected_ns."""
    note: str
    """Why nothing was skipped; empty if something was."""
