"""Files that a scenario names: where they are, and whether it may read them.

A scenario from a file may come from a stranger, so it reads only regular files that came with it:
those in its own folder, and in the Git repository of the user that it is in. What the user names by
an option or in `VARIABLE`, and what Python code names, may be anywhere. A result also reads files
whose content is that of its run, which its author knows.
"""

import hashlib
import json
import os
from collections.abc import Iterable, Iterator, Mapping
from contextlib import contextmanager
from contextvars import ContextVar
from itertools import chain
from os import PathLike
from pathlib import Path
from typing import Any

from pydantic import ValidationInfo

from frontend.errors import ScenarioError
from topology_gen import files

FOLDER = "folder"
"""Key of the validation context: the folder in which files are looked for."""

GIVEN = "given"
"""Key of the validation context of a scenario from a file: the names that options give."""

OWN = "own"
"""Key of the validation context of a scenario from a file: the folders that it may read. These are
its own, and if it is a link, that of the file it leads to."""

KNOWN = "known"
"""Key of the validation context of the scenario of a result: the SHA-256 of each file that the run
read, by its absolute path."""

VARIABLE = "COSIM_FILES"
"""The environment variable with folders that every scenario may read, as `PATH` has folders."""

_PIECE_BYTES = 2**20

_ALLOWED: ContextVar[tuple[Path, ...]] = ContextVar("allowed", default=())


@contextmanager
def allow_files(*folders: str | PathLike[str]) -> Iterator[None]:
    """Let scenarios from files also read files in other folders than their own.

    Parameters
    ----------
    *folders : path
        The folders, with all folders inside them.

    Examples
    --------
    >>> with allow_files("/data/topologies"):
    ...     pass  # load or run scenarios here
    """
    token = _ALLOWED.set((*_ALLOWED.get(), *(Path(folder).resolve() for folder in folders)))
    try:
        yield
    finally:
        _ALLOWED.reset(token)


def located(name: str, info: ValidationInfo) -> Path:
    """Return the path of a file that a scenario names, which starts at the scenario's folder.

    Parameters
    ----------
    name : str
        Path, from the folder of the validation context.
    info : ValidationInfo
        What pydantic passes to a validator.

    Raises
    ------
    ValueError
        The scenario may not read it.
    """
    path: Path = (info.context or {}).get(FOLDER, Path()) / name
    require_allowed(path, name, info.context or {})
    return path


def require_allowed(path: Path, name: str, context: Mapping[str, Any]) -> None:
    """Raise ValueError if a scenario may not read a file.

    Parameters
    ----------
    path : Path
        The file.
    name : str
        What the scenario says.
    context : mapping
        The validation context.
    """
    if GIVEN not in context or name in context[GIVEN]:
        return
    file = path.resolve()
    folders = chain(context[OWN], _ALLOWED.get(), _listed(), _repositories(context[OWN]))
    if not any(file.is_relative_to(folder) for folder in folders):
        known = context.get(KNOWN, {})
        if known and not file.exists():
            return  # a file that is missing has no content; the workload says whether it needs one
        expected = known.get(absolute(os.fspath(path)))
        if expected is None or digest(file) != expected:
            where = "outside the folder of the scenario"
            accepted = "a file in it" if expected is None else "the file that the run has read"
            raise ValueError(
                f"{where}: expected {accepted}, or the option --allow-files {file.parent} "
                f"(for all scenarios: {VARIABLE}={file.parent})"
            )
    if file.exists() and not file.is_file():
        raise ValueError("expected a regular file")


def _listed() -> Iterator[Path]:
    """Yield the folders that the user allows all scenarios to read."""
    for folder in os.environ.get(VARIABLE, "").split(os.pathsep):
        if folder:
            yield Path(folder).resolve()


def _repositories(folders: Iterable[Path]) -> Iterator[Path]:
    """Yield the Git repositories of the user that some folders are in; the home folder is none."""
    for folder in folders:
        for root in (folder, *folder.parents):
            if (root / ".git").exists():
                closed = (Path(os.environ.get("HOME", "/")).resolve(), Path(root.anchor))
                if root.stat().st_uid == os.getuid() and root not in closed:
                    yield root
                break


def absolute(path: str) -> str:
    """Return the path of a file from the root, which is the same from every working directory."""
    folder, name = os.path.split(path)
    return os.path.join(os.path.realpath(folder), name)


def digest(path: Path) -> str | None:
    """Return the SHA-256 of a regular file in hexadecimal digits; None if it cannot be read."""
    if not path.is_file():
        return None  # reading a pipe would take its content away
    try:
        found = hashlib.sha256()
        with files.open_regular(path) as file:
            while piece := file.read(_PIECE_BYTES):
                found.update(piece)
        return found.hexdigest()
    except OSError:
        return None


def read_bytes(name: str, info: ValidationInfo) -> bytes:
    """Return the bytes of a file.

    Parameters
    ----------
    name, info
        As for `located`.

    Raises
    ------
    ValueError
        As for `located`, or the file cannot be read.
    """
    path = located(name, info)
    try:
        return files.read_bytes(path)
    except OSError as error:
        raise ValueError(f"{error.strerror or error}: expected a readable file") from None


def read_yaml(text: str) -> Any:
    """Return the content of a YAML 1.2 or JSON text; raise ValueError if it is neither."""
    from frontend.yaml_document import read  # few scenarios name such a file

    try:
        return read(text, "text").data
    except ScenarioError as error:
        raise ValueError(f"not YAML: {error}") from None


def read_json(name: str, info: ValidationInfo) -> Any:
    """Return the content of a file.

    Parameters
    ----------
    name, info
        As for `located`.

    Raises
    ------
    ValueError
        A file that may not or cannot be read, or is not JSON.
    """
    content = read_bytes(name, info)
    try:
        return json.loads(content)
    except (ValueError, RecursionError) as error:
        raise ValueError(f"expected JSON ({error})") from None
