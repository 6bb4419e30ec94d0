"""The folders of results: their names where the user gives none, and those that exist."""

from __future__ import annotations

import json
import re
from collections.abc import Callable, Iterable, Sequence
from hashlib import sha256
from itertools import chain, count
from pathlib import Path
from typing import Any
from urllib.parse import quote

from bridge.errors import ResultError
from bridge.files import remove, write_whole
from bridge.results.result import FILE_NAME, Result
from topology_gen.files import read_text

#: Where results go if the user names no folder.
RESULTS = Path("results")

_LONGEST_NAME = 200  # file systems allow 255 bytes


def default_folder(scenario: str, changes: Iterable[str] = ()) -> Path:
    """Return the folder of a result: ``results/<scenario>/<what was set>``.

    Parameters
    ----------
    scenario : str
        The name of the scenario.
    changes : iterable of str
        What was set: ``key=value``, or the keys that a sweep changes. Without changes, the folder
        is that of the scenario. What is written of a run does not count.

    Examples
    --------
    >>> default_folder("first", ["workload.bytes=1MB", "outputs.format=parquet"]).as_posix()
    'results/first/workload.bytes=1MB'
    """
    counted = [one for one in changes if not re.match(r"(outputs|description)\b", one)]
    return RESULTS / scenario / folder_name(counted)


def folder_name(changes: Iterable[str]) -> str:
    """Return the name of a folder for some changes: one part, and short enough for file systems."""
    name = quote("_".join(changes), safe="=.")
    if len(name) <= _LONGEST_NAME:
        return name
    digest = sha256(name.encode()).hexdigest()[:16]
    return f"{name[: _LONGEST_NAME - 17]}-{digest}"


def free_folder(wanted: Path, is_taken: Callable[[Path], bool]) -> Path:
    """Return a folder in which no earlier result is lost.

    Parameters
    ----------
    wanted : Path
        The folder to prefer.
    is_taken : callable
        Whether a folder holds something else than what will be written; see `holds_another`.

    Returns
    -------
    Path
        `wanted`, or the first of ``wanted-2``, ``wanted-3`` … that is not taken.
    """
    numbered = (wanted.with_name(f"{wanted.name}-{number}") for number in count(2))
    return next(folder for folder in chain([wanted], numbered) if not is_taken(folder))


def results_at(path: Path) -> list[Path]:
    """Return the results at a path: the path itself, or those of a sweep in the folder.

    Parameters
    ----------
    path : Path
        A file, the folder of a result, or a folder that holds such folders.

    Returns
    -------
    list of Path
        In the order in which the sweep has them, as `keep_order` wrote it. Others follow in the
        order of their names, with numbers in them by their size.

    Raises
    ------
    ResultError
        The folder holds no result.
    """
    if not path.is_dir() or (path / FILE_NAME).exists():
        return [path]
    found = [file.parent for file in path.glob(f"*/{FILE_NAME}")]
    if not found:
        raise ResultError(f"{path}: expected a {FILE_NAME} in the folder, or in folders of it")
    places = {name: place for place, name in enumerate(_order(path))}
    return sorted(
        found, key=lambda folder: (places.get(folder.name, len(places)), _parts(folder.name))
    )


#: The file in the folder of a sweep with the names of its points in their order.
ORDER_NAME = "points.json"


def keep_order(folder: Path, names: Sequence[str]) -> None:
    """Write the order of the points of a sweep into its folder; points of earlier sweeps stay.

    Raises
    ------
    OutputError
        The file cannot be written.
    """
    order = list(dict.fromkeys([*_order(folder), *names]))
    write_whole(folder / ORDER_NAME, (json.dumps(order, indent=1) + "\n").encode())


def forget_order(point: Path) -> None:
    """Remove the order of a sweep of which a point was removed, if it has no other."""
    sweep = point.resolve().parent
    if point.resolve().name in _order(sweep) and not any(sweep.glob(f"*/{FILE_NAME}")):
        remove(sweep / ORDER_NAME)


def _order(folder: Path) -> list[str]:
    """Return the names in the file of `keep_order`; none if it does not hold names."""
    try:
        names = json.loads(read_text(folder / ORDER_NAME))
    except (OSError, ValueError, RecursionError):
        return []
    return [name for name in names if isinstance(name, str)] if isinstance(names, list) else []


def result_folders(root: Path) -> list[Path]:
    """Return the folders at any depth below a folder, and the folder itself, that hold a result.

    They are in the order of their paths, with numbers in them by their size.
    """
    found = {file.parent for file in root.rglob(FILE_NAME)}
    return sorted(found, key=lambda folder: [_parts(name) for name in folder.parts])


def _parts(name: str) -> list[tuple[str, int]]:
    return [(text, int(number or 0)) for text, number in re.findall(r"(\D*)(\d*)", name)]


def _simulated(scenario: dict[str, Any] | None) -> dict[str, Any] | None:
    """Return the part of a scenario that is simulated: what is written of a run does not count."""
    if scenario is None:
        return None
    return {key: value for key, value in scenario.items() if key != "outputs"}


def holds_another(folder: Path, scenario: dict[str, Any] | None) -> bool:
    """Return whether a folder holds the result of another scenario.

    Parameters
    ----------
    folder : Path
        The folder, which need not exist.
    scenario : dict or None
        The scenario with all defaults. None if it is not known, so that every result is another.
    """
    if not (folder / FILE_NAME).exists():
        return False
    try:
        return _simulated(Result.load(folder).scenario) != _simulated(scenario)
    except ResultError:
        return True
