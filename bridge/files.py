"""Writes files whole or not at all."""

from __future__ import annotations

import os
import tempfile
from pathlib import Path

from bridge.errors import OutputError


def write_whole(file: Path, content: bytes) -> None:
    """Write a file such that a reader, or a crash, sees the old content or the new.

    Parameters
    ----------
    file : Path
        The file to make or replace.
    content : bytes
        All of it.

    Raises
    ------
    OutputError
        If it cannot be written; an old file is still there, and nothing else.
    """
    try:
        if file.exists() and not file.is_file():
            file.write_bytes(content)  # a pipe or /dev/stdout, which no file may replace
            return
        descriptor, temporary = tempfile.mkstemp(prefix=f".{file.name}-", dir=file.parent)
    except OSError as error:
        raise OutputError(f"{file}: {error.strerror}, it was not written") from None
    try:
        with open(descriptor, "wb") as stream:
            stream.write(content)
        # mkstemp makes files that only the owner reads; results are for sharing.
        os.chmod(temporary, 0o666 & ~_umask())
        # Atomic within a folder.
        os.replace(temporary, file)
    except BaseException as error:
        Path(temporary).unlink(missing_ok=True)
        if isinstance(error, OSError):
            raise OutputError(f"{file}: {error.strerror}, it was not written") from None
        raise


def prepare_directory(directory: str | os.PathLike[str]) -> Path:
    """Make a folder, and make sure that files can be created in it.

    Parameters
    ----------
    directory : path
        The folder; its parents are made too.

    Returns
    -------
    Path
        The folder.

    Raises
    ------
    OutputError
        If it cannot be made, is something else than a folder, or is not writable.
    """
    folder = Path(directory)
    try:
        folder.mkdir(parents=True, exist_ok=True)
        # Asking the file system is the only sure test: permissions do not tell of read-only
        # mounts, nor of what root may not do.
        with tempfile.TemporaryFile(dir=folder):
            pass
    except FileExistsError:
        raise OutputError(f"{folder}: not a folder, results cannot be written there") from None
    except OSError as error:
        raise OutputError(f"{folder}: {error.strerror}, results cannot be written there") from None
    return folder


def _umask() -> int:
    """Read the process's umask; POSIX has no way but to set it."""
    mask = os.umask(0)
    os.umask(mask)
    return mask
