"""What can go wrong, each with the exit status that the command line gives it.

Every message is one sentence that can be shown as it is.
"""

from __future__ import annotations

from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from bridge.results.result import Result


class InputError(ValueError):
    """Something that was handed in cannot be used: a stream, a hook, a folder (exit status 2)."""


class StreamError(InputError):
    """A stream that cannot be read, or that the simulator refuses."""


class HookError(InputError):
    """A scripting hook that cannot be loaded, or whose bindings are not installed."""


class OutputError(InputError):
    """A folder that results cannot be written to."""


class ResultError(InputError):
    """A file that is not a result of this version."""


class SimulationError(RuntimeError):
    """A simulation that did not complete: a deadlock, a closed flow, a time limit (exit status 1).

    Attributes
    ----------
    result : Result or None
        What was measured until then, if the simulation got that far.
    """

    def __init__(self, message: str, result: Result | None = None) -> None:
        super().__init__(message)
        self.result = result


class SimulationInterrupted(KeyboardInterrupt):
    """Ctrl-C during a simulation (exit status 130).

    It is a `KeyboardInterrupt`, so that a script which runs one simulation after another stops
    as a whole.

    Attributes
    ----------
    result : Result
        What was measured until then; its ``status`` is ``"interrupted"``.
    """

    def __init__(self, message: str, result: Result) -> None:
        super().__init__(message)
        self.result = result
