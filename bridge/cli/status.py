"""The exit statuses of ``cosim``."""

FAILED = 1
"""The simulation failed, or its output could not be written."""

BAD_INPUT = 2
"""The input cannot be used."""

INTERRUPTED = 130
"""Ctrl-C, as in a shell."""

NOT_BEGUN = "interrupted before the simulation began; nothing was saved"
"""The message after Ctrl-C before a run."""
