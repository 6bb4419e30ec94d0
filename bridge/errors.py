"""The errors of the package, each with the exit status that the command line gives it.

Every message is one sentence that can be shown to the user as it is.
"""

from __future__ import annotations


class InputError(ValueError):
    """An input that cannot be used: a stream, a hook or a folder (exit status 2)."""


class StreamError(InputError):
    """A stream that cannot be read, or that the simulator rejects."""


class HookError(InputError):
    """A hook that cannot be loaded, or ns-3 Python bindings that are not installed."""


class OutputError(InputError):
    """A file or folder that results cannot be written to."""


class BusyError(OutputError):
    """A folder in which another process of cosim is writing a result."""


class SaveError(OutputError):
    """Output that was computed but cannot be written, as on a full disk (exit status 1)."""


class ResultError(InputError):
    """A file that is not a result of this version."""
