"""Starts ``cosim``. It imports nothing before it can answer Ctrl-C: imports take a while."""

from __future__ import annotations

import gc
import os
import signal
import sys

from bridge.cli.status import INTERRUPTED, NOT_BEGUN
from bridge.cli.streams import prepare_streams


def main() -> None:
    """Run the command line with the arguments of the process."""
    # Imports make no garbage, but looking for it takes a tenth of their time.
    gc.disable()
    # numpy would start threads for products of matrices, which cosim does not compute.
    os.environ.setdefault("OPENBLAS_NUM_THREADS", "1")
    # What ends a job (a batch system, `docker stop`, a terminal that is closed) is as Ctrl-C: the
    # partial result is saved. `nohup` lets cosim ignore SIGHUP.
    for number in (signal.SIGTERM, signal.SIGHUP):
        if signal.getsignal(number) is signal.SIG_DFL:
            signal.signal(number, signal.default_int_handler)
    prepare_streams()
    try:
        from bridge.cli.main import main as command

        command(prog_name="cosim")
    except KeyboardInterrupt:
        print(f"cosim: {NOT_BEGUN}", file=sys.stderr)
        sys.exit(INTERRUPTED)
