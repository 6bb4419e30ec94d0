"""Stores the answers for a number of nodes and a degree in files."""

from __future__ import annotations

import hashlib
import json
import os
from collections.abc import Sequence
from dataclasses import asdict
from fractions import Fraction
from functools import cache
from pathlib import Path
from typing import Any

from topology_gen.finder.costs import Candidate, Choice
from topology_gen.schedules.throughput import Throughput


def default_directory() -> Path:
    """Return the user's cache folder: $XDG_CACHE_HOME/cosim, or ~/.cache/cosim."""
    root = os.environ.get("XDG_CACHE_HOME", "")
    return (Path(root) if root else Path.home() / ".cache") / "cosim"


def file_name(nodes: int, degree: int, found: bool, duplex: bool = False) -> str:
    """Return the name of the file that stores an answer.

    Examples
    --------
    >>> file_name(1024, 4, found=True)
    'find-1024-4.json'
    """
    kind = ("-duplex" if duplex else "") + ("" if found else "-families")
    return f"find-{nodes}-{degree}{kind}.json"


def dumped(choices: Sequence[Choice], searched: str) -> str:
    """Return the content of a file.

    Parameters
    ----------
    choices : sequence of Choice
        The answer to store.
    searched : str
        Digest of the results of the user's own searches, which the answer depends on.
    """
    return json.dumps(
        {"version": _version(searched), "choices": [_entry(c) for c in choices]}, default=str
    )


def loaded(content: bytes, searched: str) -> list[Choice] | None:
    """Return the answer that a file stores, or None if it has another version or is damaged."""
    try:
        document = json.loads(content)
        if document["version"] != _version(searched):
            return None
        return [_choice(entry) for entry in document["choices"]]
    except (ValueError, KeyError, TypeError, RecursionError):
        return None


def _entry(choice: Choice) -> dict[str, Any]:
    return {
        "name": choice.name,
        "diameter": choice.diameter,
        "rate": asdict(choice.rate),
        "candidate": asdict(choice.candidate),
    }


def _choice(entry: dict[str, Any]) -> Choice:
    fields = dict(entry["candidate"])
    for name in ("bandwidth_time", "bandwidth_time_back", "distance"):
        fields[name] = None if fields[name] is None else Fraction(fields[name])
    return Choice(
        Candidate(**fields), str(entry["name"]), int(entry["diameter"]), Throughput(**entry["rate"])
    )


@cache
def _sources() -> str:
    """Return a digest of this package, as another version may give other answers."""
    digest = hashlib.sha256()
    root = Path(__file__).parent.parent
    for file in sorted([*root.rglob("*.py"), *root.rglob("*.json")]):
        digest.update(file.read_bytes())
    return digest.hexdigest()


def _version(searched: str) -> str:
    return f"{_sources()} {searched}"
