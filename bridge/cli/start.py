"""Starts ``cosim``. It imports nothing before it can answer Ctrl-C: imports take a while."""

from __future__ import annotations

import sys

INTERRUPTED = 130
"""The exit status after Ctrl-C, as in a shell."""

NOT_BEGUN = "interrupted before the simulation began; nothing was saved"


def main() -> None:
    """Run the command line with the arguments of the process."""
    try:
        from bridge.cli.main import main as command

        command(prog_name="cosim")
    except KeyboardInterrupt:
        print(f"cosim: {NOT_BEGUN}", file=sys.stderr)
        sys.exit(INTERRUPTED)
