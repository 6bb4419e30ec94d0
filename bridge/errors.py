"""What can go wrong, each with the exit status that the command line gives it.

Every message is one sentence that can be shown as it is.
"""

from __future__ import annotations


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
