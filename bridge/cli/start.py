"""Starts ``cosim``. It imports nothing before it can answer Ctrl-C: imports take a while."""

from __future__ import annotations

import codecs
import gc
import io
import os
import signal
import sys
from contextlib import suppress

from bridge.cli.status import INTERRUPTED, NOT_BEGUN

_LACKING = "cosim-lacking"
"""The name of the error handler of the streams."""


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


def prepare_streams() -> None:
    """Make stdin, stdout and stderr usable for all that commands print.

    A closed stream becomes an empty one, so that no file that cosim opens gets its number. What the
    encoding of a stream lacks is written as in JSON, such as ``\\u2192``. What stderr cannot write,
    because nobody reads it any more, is dropped.
    """
    for descriptor in range(3):
        try:
            os.fstat(descriptor)
        except OSError:
            os.dup2(os.open(os.devnull, os.O_RDWR), descriptor)
    codecs.register_error(_LACKING, _escaped)
    if sys.stdout is None:
        sys.stdout = _text(io.FileIO(1, "w", closefd=False), "utf-8")
    elif isinstance(sys.stdout, io.TextIOWrapper):
        sys.stdout.reconfigure(errors=_LACKING)
    encoding = "utf-8" if sys.stderr is None else sys.stderr.encoding
    sys.stderr = _text(_Unread(2, "w", closefd=False), encoding)


class _Unread(io.FileIO):
    """A file whose reader may have gone, such as a closed terminal."""

    def write(self, content: object) -> int:
        with suppress(OSError):
            return super().write(content)  # type: ignore[arg-type]
        return len(content)  # type: ignore[arg-type]


def _text(raw: io.FileIO, encoding: str) -> io.TextIOWrapper:
    return io.TextIOWrapper(
        io.BufferedWriter(raw),
        encoding=encoding,
        errors=_LACKING,
        line_buffering=True,
        write_through=True,
    )


def _escaped(error: UnicodeError) -> tuple[str, int]:
    """Return the characters that cannot be encoded as JSON escapes them."""
    if not isinstance(error, UnicodeEncodeError):
        raise error
    units = error.object[error.start : error.end].encode("utf-16-be", "surrogatepass").hex()
    codes = (units[at : at + 4] for at in range(0, len(units), 4))
    return "".join(f"\\u{code}" for code in codes), error.end
