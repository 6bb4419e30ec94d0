"""Chooses the folder of a result where the user names none."""

from __future__ import annotations

from itertools import chain, count
from pathlib import Path
from typing import Any

from bridge.errors import ResultError
from bridge.results.result import FILE_NAME, Result


def free_folder(wanted: Path, scenario: dict[str, Any] | None) -> Path:
    """Return a folder in which a result of a scenario replaces no result of another scenario.

    Parameters
    ----------
    wanted : Path
        The folder to prefer.
    scenario : dict or None
        The scenario with all defaults. None if it is not known, so that every result is another.

    Returns
    -------
    Path
        `wanted`, or the first of ``wanted-2``, ``wanted-3`` … that is free.
    """
    numbered = (wanted.with_name(f"{wanted.name}-{number}") for number in count(2))
    return next(
        folder for folder in chain([wanted], numbered) if not _holds_another(folder, scenario)
    )


def _holds_another(folder: Path, scenario: dict[str, Any] | None) -> bool:
    if not (folder / FILE_NAME).exists():
        return False
    try:
        return Result.load(folder).scenario != scenario
    except ResultError:
        return True
