"""Reads the files that users name: regular files up to a size, so that none hangs or fills memory.

The open file is checked, not its name, so nothing can change in between.
"""

from __future__ import annotations

import errno
import io
import os
import re
import stat
from typing import BinaryIO

MOST_BYTES = 2**28
"""Greatest size of a file that people write, such as a network or a schedule."""

MOST_RECORD_BYTES = 2**32
"""Greatest size of a file that programs write, such as a stream, a trace or a result."""

_PIECE_BYTES = 2**20

# The shell makes such names for `<(command)`, and a pipe to stdin has one.
_INHERITED = re.compile(r"/dev/stdin|(/dev|/proc/self)/fd/\d+")


class UnfitFileError(OSError):
    """A file that is not regular or is too large; `strerror` says what is accepted."""

    def __init__(self, problem: str, path: str | os.PathLike[str]) -> None:
        super().__init__(errno.EINVAL, problem, os.fspath(path))


def open_regular(
    path: str | os.PathLike[str], most_bytes: int | None = MOST_RECORD_BYTES
) -> BinaryIO:
    """Open a file for reading.

    A pipe is accepted if the process has inherited it: ``/dev/stdin`` and ``/dev/fd/3``.

    Parameters
    ----------
    path : path
        The file.
    most_bytes : int or None
        Its greatest size; None if the caller reads a part at a time.

    Returns
    -------
    binary stream

    Raises
    ------
    OSError
        The file cannot be opened. It is an `UnfitFileError` if it is a named pipe, a device or a
        socket, or too large.
    """
    # Without O_NONBLOCK, opening a named pipe would wait for its other end.
    descriptor = os.open(path, os.O_RDONLY | os.O_NONBLOCK | os.O_NOCTTY | os.O_CLOEXEC)
    try:
        found = os.fstat(descriptor)
        if stat.S_ISDIR(found.st_mode):
            raise IsADirectoryError(errno.EISDIR, os.strerror(errno.EISDIR), os.fspath(path))
        is_inherited = _INHERITED.fullmatch(os.fspath(path)) and stat.S_ISFIFO(found.st_mode)
        if not stat.S_ISREG(found.st_mode) and not is_inherited:
            raise UnfitFileError("not a regular file", path)
        if most_bytes is not None and found.st_size > most_bytes:
            raise _too_large(path, most_bytes)
        os.set_blocking(descriptor, True)
        return os.fdopen(descriptor, "rb")
    except BaseException:
        os.close(descriptor)
        raise


def read_bytes(path: str | os.PathLike[str], most_bytes: int = MOST_BYTES) -> bytes:
    """Return the content of a file.

    Parameters
    ----------
    path, most_bytes
        As for `open_regular`.

    Raises
    ------
    OSError
        As for `open_regular`, or the file cannot be read.
    """
    with open_regular(path, most_bytes) as file:
        # Usually the whole file; but a pipe has no size, and a file may grow.
        pieces = [file.read(os.fstat(file.fileno()).st_size + 1)]
        size = len(pieces[0])
        while size <= most_bytes and (piece := file.read(_PIECE_BYTES)):
            pieces.append(piece)
            size += len(piece)
    if size > most_bytes:
        raise _too_large(path, most_bytes)
    return b"".join(pieces)


def read_text(path: str | os.PathLike[str], most_bytes: int = MOST_BYTES) -> str:
    """Return the text of a file in UTF-8, with or without a byte order mark; lines end in ``\\n``.

    Raises
    ------
    OSError
        As for `read_bytes`.
    UnicodeDecodeError
        The file is not UTF-8.
    """
    return io.TextIOWrapper(io.BytesIO(read_bytes(path, most_bytes)), encoding="utf-8-sig").read()


def _too_large(path: str | os.PathLike[str], most_bytes: int) -> UnfitFileError:
    return UnfitFileError(f"larger than {most_bytes >> 20} MiB", path)
