"""The names that pictures and pages give results."""

from __future__ import annotations

import re
from collections.abc import Sequence
from pathlib import Path
from urllib.parse import unquote

from bridge.errors import InputError
from bridge.present.comparison import differing_keys
from bridge.present.pictures.charts import key_text
from bridge.results.folders import ORDER_NAME
from bridge.results.result import Result
from frontend import Scenario

#: Characters of what a result sets, if it is the name of the result.
_LONGEST = 60


def names(paths: Sequence[Path], results: Sequence[Result]) -> list[str]:
    """Return a short and different name for each result: what it sets, or the end of its path.

    Parameters
    ----------
    paths : sequence of Path
        The files or folders of the results.
    results : sequence of Result
        The results there.
    """
    if set_there := of_sweep(paths, results):
        return set_there
    folders = _folders(paths)
    for parts in range(1, 1 + max(len(folder.parts) for folder in folders)):
        ends = ["/".join(folder.parts[-parts:]) for folder in folders]
        if len(set(ends)) == len(ends):
            return readable(ends)
    return [f"{folder.name} ({number})" for number, folder in enumerate(folders, start=1)]


def of_sweep(paths: Sequence[Path], results: Sequence[Result]) -> list[str]:
    """Return what each point of a sweep sets; nothing if this is no name: too long, or not unique.

    The arguments are those of `names`.
    """
    folders = _folders(paths)
    if len(folders) < 2 or not all((folder.parent / ORDER_NAME).exists() for folder in folders):
        return []
    found = _settings(results, folders[0].name)
    is_name = len(set(found)) == len(folders) and max(map(len, found)) <= _LONGEST
    return found if is_name else []


def readable(folders: Sequence[str]) -> list[str]:
    """Return paths of folders with what their names set, in short: the last part of each key.

    Paths that would then be equal stay as they are.

    Examples
    --------
    >>> readable(["first", "first/topology.buffer=2MB_workload.algorithm=ring"])
    ['first', 'first / buffer=2MB, algorithm=ring']
    """
    short = [" / ".join(map(_in_short, folder.split("/"))) for folder in folders]
    return [
        one if short.count(one) == 1 else folder for folder, one in zip(folders, short, strict=True)
    ]


_CHANGE = re.compile(rf"(?:^|_)(?=(?:{'|'.join(Scenario.model_fields)})(?:[.=]|$))")
"""Where a key begins in a name of `bridge.results.folders.folder_name`."""


def _in_short(name: str) -> str:
    before, *changes = map(unquote, _CHANGE.split(name))
    if not any("." in one or "=" in one for one in changes):
        return unquote(name)
    parts = [one.partition("=") for one in changes]
    shorts = short_keys([key for key, _, _ in parts])
    pairs = zip(shorts, parts, strict=True)
    text = ", ".join(f"{short}{equals}{value}" for short, (_, equals, value) in pairs)
    return f"{before} {text}".lstrip()


def _folders(paths: Sequence[Path]) -> list[Path]:
    return [(path.parent if path.is_file() else path).absolute() for path in paths]


def short_keys(keys: Sequence[str]) -> list[str]:
    """Return the last part of each key, or the whole key where last parts are not unique."""
    last = [key.rpartition(".")[2] for key in keys]
    return [name if last.count(name) == 1 else key for name, key in zip(last, keys, strict=True)]


def _settings(results: Sequence[Result], order: str) -> list[str]:
    """Return what the results of a sweep set, in the order of a text that has the keys."""
    keys = sorted(differing_keys(results), key=order.find)
    shorts = short_keys(keys)
    try:
        return [
            ", ".join(
                f"{short}={key_text(one, key)}" for key, short in zip(keys, shorts, strict=True)
            )
            for one in results
        ]
    except InputError:  # only some results have a key
        return [""]
