"""Process groups of Chakra traces: from a file, or from METADATA nodes of the trace."""

from __future__ import annotations

import json
from collections.abc import Iterator, Mapping
from pathlib import Path
from typing import Any

from frontend.errors import ScenarioError
from frontend.formats.chakra.decode import ChakraTrace
from topology_gen.files import read_bytes

Groups = Mapping[str, tuple[int, ...]]
"""The ranks of each process group, by name."""

EVERY_RANK = ("", "0")
"""Names of the group of all ranks, unless the names are given other ranks."""


def read_groups(path: Path, ranks: int) -> Groups:
    """Return the groups of ASTRA-sim's file of communicator groups.

    Parameters
    ----------
    path : Path
        A JSON object that maps names to lists of ranks.
    ranks : int
        Number of all ranks.

    Raises
    ------
    ScenarioError
        If the file cannot be read, or has something else.
    """
    try:
        content = json.loads(read_bytes(path))
    except OSError as error:
        raise ScenarioError(f"{path}: {error.strerror}: expected a readable file") from None
    except (ValueError, RecursionError) as error:
        raise ScenarioError(f"{path}: expected JSON ({error})") from None
    if not isinstance(content, dict):
        raise ScenarioError(f"{path}: expected an object that maps names of groups to ranks")
    return {
        name: _members(f"{path}: group {name}", value, ranks) for name, value in content.items()
    }


def groups_of(trace: ChakraTrace, ranks: int) -> Groups:
    """Return the groups that the METADATA nodes of a trace list.

    PyTorch's observer writes them as JSON, such as ``[{"pg_name": "1", "ranks": [0, 2]}]``, inside
    a list. An empty list of ranks means all ranks. Other metadata are skipped.

    Raises
    ------
    ScenarioError
        If a group has other members than ranks.
    """
    found: dict[str, tuple[int, ...]] = {}
    for node, values in trace.inputs:
        for one in _listed(values):
            place = f"{trace.describe(node)}: group {one['pg_name']}"
            found[str(one["pg_name"])] = _members(place, one["ranks"] or list(range(ranks)), ranks)
    return found


def _listed(values: str) -> Iterator[Mapping[str, Any]]:
    """Yield the descriptions of groups in the inputs of a node, however deep they are quoted."""
    for text in (values, values[2:-2]):
        try:
            content = json.loads(text)
        except (ValueError, RecursionError):
            continue
        for one in content if isinstance(content, list) else ():
            if isinstance(one, str):
                yield from _listed(one)
            elif isinstance(one, dict) and "pg_name" in one and "ranks" in one:
                yield one
        return


def _members(place: str, value: Any, ranks: int) -> tuple[int, ...]:
    whole = isinstance(value, list) and all(type(rank) is int for rank in value)
    if not whole or not value or len(set(value)) != len(value):
        raise ScenarioError(f"{place}: value {_short(value)}: expected a list of different ranks")
    for rank in value:
        if not 0 <= rank < ranks:
            raise ScenarioError(f"{place}: rank {rank}: expected a rank from 0 to {ranks - 1}")
    return tuple(value)


def _short(value: Any) -> str:
    text = repr(value)
    return text if len(text) <= 60 else text[:59] + "…"
