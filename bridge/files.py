"""Writes files completely or not at all."""

from __future__ import annotations

import errno
import fcntl
import os
import tempfile
from collections.abc import Iterable, Iterator
from contextlib import contextmanager, suppress
from pathlib import Path

from bridge.errors import BusyError, OutputError, SaveError

#: What the disk is to blame for, not the name of a file.
DISK_ERRORS = frozenset({errno.EDQUOT, errno.EFBIG, errno.EIO, errno.ENOSPC})

#: What forbids to write or to read at a place.
PLACE_ERRORS = frozenset({errno.EACCES, errno.EPERM, errno.EROFS})


def write_whole(file: Path, content: bytes) -> None:
    """Write a file atomically: a reader sees the old content or the new, even after a crash.

    Parameters
    ----------
    file : Path
        The file to create or replace.
    content : bytes
        The whole content.

    Raises
    ------
    OutputError
        The file cannot be written; an old file stays as it was. It is a `SaveError` if the disk is
        full or fails.
    """
    try:
        if file.exists() and not file.is_file():
            file.write_bytes(content)  # a pipe or /dev/stdout must not be replaced by a file
            return
    except OSError as error:
        raise not_written(file, error) from None
    write_together([(file, content)])


def write_together(contents: Iterable[tuple[Path, bytes]]) -> None:
    """Write several files, and replace old ones only when the disk has all that is new.

    Parameters
    ----------
    contents : iterable of (Path, bytes)
        Each file, and its whole content.

    Raises
    ------
    OutputError
        As for `write_whole`.
    """
    written: dict[Path, str] = {}
    file = Path()
    try:
        for file, content in contents:
            descriptor, written[file] = tempfile.mkstemp(prefix=f".{file.name}-", dir=file.parent)
            with open(descriptor, "wb") as stream:
                stream.write(content)
            # mkstemp makes files that only their owner can read, but results are shared.
            os.chmod(written[file], 0o666 & ~_umask())
        for file, temporary in written.items():
            os.replace(temporary, file)  # atomic within a folder
    except BaseException as error:
        for temporary in written.values():
            Path(temporary).unlink(missing_ok=True)
        if isinstance(error, OSError):
            raise not_written(file, error) from None
        raise


def require_replaceable(file: Path) -> None:
    """Check that a file is one that a run may replace, if there is one.

    Raises
    ------
    OutputError
        It is a named pipe, a device, a socket or a folder.
    """
    if file.exists() and not file.is_file():
        raise OutputError(f"{file}: not a regular file, it cannot be replaced")


def remove(file: Path) -> None:
    """Remove the file of an earlier run, if there is one.

    Raises
    ------
    OutputError
        It cannot be removed, or is not a regular file.
    """
    require_replaceable(file)
    try:
        file.unlink(missing_ok=True)
    except OSError as error:
        raise OutputError(f"{file}: {error.strerror}, it cannot be removed") from None


def prepare_directory(directory: str | os.PathLike[str]) -> Path:
    """Create a folder, and check that files can be created in it.

    Parameters
    ----------
    directory : path
        The folder; missing parents are created, too.

    Returns
    -------
    Path
        The folder.

    Raises
    ------
    OutputError
        It cannot be created, is not a folder, or is not writable.
    """
    folder = Path(directory)
    try:
        folder.mkdir(parents=True, exist_ok=True)
        # Creating a file is the only sure test: permission bits do not show read-only mounts,
        # nor what root may not do.
        with tempfile.TemporaryFile(dir=folder):
            pass
    except FileExistsError:
        raise OutputError(f"{folder}: not a folder, results cannot be written there") from None
    except OSError as error:
        raise not_written(folder, error, "results cannot be written there") from None
    return folder


@contextmanager
def sole_writer(folder: Path, *, shared: bool = False) -> Iterator[None]:
    """Keep other processes of cosim out of a folder of results.

    The lock leaves no file, and ends with the process, however that ends. File systems without
    locks do not keep others out.

    Parameters
    ----------
    folder : Path
        A folder that exists.
    shared : bool
        Whether to let those in that share the folder, too.

    Raises
    ------
    BusyError
        Another process is writing there.
    """
    descriptor = os.open(folder, os.O_RDONLY | os.O_DIRECTORY)
    try:
        with suppress(OSError):
            try:
                kind = fcntl.LOCK_SH if shared else fcntl.LOCK_EX
                fcntl.flock(descriptor, kind | fcntl.LOCK_NB)
            except BlockingIOError:
                raise BusyError(
                    f"{folder}: another cosim is writing its results there: wait until it ends, or "
                    "name another folder with --out"
                ) from None
        yield
    finally:
        os.close(descriptor)


def not_written(
    file: Path, error: OSError, consequence: str = "the file was not written"
) -> OutputError:
    """Return the error for a file that cannot be written; a `SaveError` if the disk is to blame."""
    kind = SaveError if error.errno in DISK_ERRORS else OutputError
    return kind(f"{file}: {error.strerror}, {consequence}")


def _umask() -> int:
    """Return the process's umask; POSIX can only read it by setting it."""
    mask = os.umask(0)
    os.umask(mask)
    return mask
