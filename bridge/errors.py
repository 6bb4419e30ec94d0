"""The errors of the package, each with the exit status that the command line gives it.

Every message is one sentence that can be shown to the user as it is.
"""

from __future__ import annotations

from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from bridge.results.result import Result


class InputError(ValueError):
    """An input that cannot be used: a stream, a hook or a folder (exit status 2)."""


class StreamError(InputError):
    """A stream that cannot be read, or that the simulator rejects."""


class HookError(InputError):
    """A hook that cannot be loaded, or ns-3 Python bindings that are not installed."""


class OutputError(InputError):
    """A file or folder that results cannot be written to."""


class ResultError(InputError):
    """A file that is not a result of this version."""


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
