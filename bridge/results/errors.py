"""A run that did not end well, with what was measured until then."""

from __future__ import annotations

from typing import TYPE_CHECKING

from bridge.errors import SaveError

if TYPE_CHECKING:
    from pathlib import Path

    from bridge.results.result import Result


class SimulationError(RuntimeError):
    """A simulation that did not complete: a deadlock, a closed flow, a time limit (exit status 1).

    Attributes
    ----------
    result : Result or None
        The measurements up to the failure, if the simulation started.
    """

    def __init__(self, message: str, result: Result | None = None) -> None:
        super().__init__(message)
        self.result = result


class SimulationInterrupted(KeyboardInterrupt):
    """Ctrl-C during a simulation (exit status 130).

    It is a `KeyboardInterrupt`, so it also stops a script that runs several simulations.

    Attributes
    ----------
    result : Result
        The measurements up to the interrupt; its ``status`` is ``"interrupted"``.
    """

    def __init__(self, message: str, result: Result) -> None:
        super().__init__(message)
        self.result = result


class UnsavedError(SaveError):
    """A result that cannot be saved, or not with all of its outputs.

    Attributes
    ----------
    result : Result
        The result.
    file : Path or None
        Where it is, if only other outputs are missing.
    """

    def __init__(self, message: str, result: Result, file: Path | None = None) -> None:
        super().__init__(message)
        self.result = result
        self.file = file
