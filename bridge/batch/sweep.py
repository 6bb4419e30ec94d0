"""The Cartesian product of overrides: what ``cosim sweep`` simulates, and what it tells of it."""

from __future__ import annotations

import json
from collections.abc import Sequence
from dataclasses import dataclass
from itertools import product
from pathlib import Path
from typing import Any
from urllib.parse import quote

from bridge.batch.points import Outcome, Point
from bridge.errors import InputError
from bridge.simulator.simulate import with_absolute_hook
from frontend import ScenarioError, load_scenario
from frontend.loading.yaml_document import read


@dataclass(frozen=True)
class Axis:
    """One key of the scenario and the values that it takes in turn."""

    key: str
    """Its path, such as ``topology.bandwidth``."""
    values: tuple[str, ...]
    """As an override writes them."""


@dataclass(frozen=True)
class SweepPoint:
    """One combination of values."""

    changes: tuple[str, ...]
    """The value of each axis, in their order."""
    point: Point
    """What to simulate, in a folder named by keys and values."""


def axis(text: str) -> Axis:
    """Read an axis as the command line gives it.

    Parameters
    ----------
    text : str
        ``key=value,value…``; a value may be a YAML flow value, such as ``{scale_up: 8}``.

    Returns
    -------
    Axis

    Raises
    ------
    InputError
        If there is no key, no value, or one value twice.
    """
    key, equals, values = text.partition("=")
    if not equals or not key.strip():
        raise InputError(f"--over {text}: expected key.path=value,value,…")
    try:
        # A flow sequence: commas inside brackets, braces and quotes separate nothing.
        entries = read(f"[{values}]", f"--over {text}", one_line=True).data
    except ScenarioError as error:
        raise InputError(str(error)) from None
    texts = tuple(
        value if isinstance(value, str) else json.dumps(value, ensure_ascii=False)
        for value in entries
    )
    if not texts:
        raise InputError(f"--over {text}: no value, expected key.path=value,value,…")
    twice = sorted({value for value in texts if texts.count(value) > 1})
    if twice:
        raise InputError(
            f"--over {text}: {twice[0]} stands there twice, expected values that differ"
        )
    return Axis(key.strip(), texts)


def sweep_points(file: Path, fixed: Sequence[str], axes: Sequence[Axis]) -> list[SweepPoint]:
    """Give every combination of the axes' values; the last axis changes fastest.

    Parameters
    ----------
    file : Path
        The scenario.
    fixed : sequence of str
        Overrides ``key=value`` that all points share.
    axes : sequence of Axis
        Of different keys.

    Returns
    -------
    list of SweepPoint

    Raises
    ------
    frontend.ScenarioError
        If a combination is not a valid scenario: nothing runs unless all are.
    InputError
        If two axes change one key.
    """
    keys = [one.key for one in axes]
    twice = sorted({key for key in keys if keys.count(key) > 1})
    if twice:
        raise InputError(f"--over {twice[0]}: given several times, expected one list of values")
    points = []
    for values in product(*(one.values for one in axes)):
        changes = [f"{key}={value}" for key, value in zip(keys, values, strict=True)]
        scenario = with_absolute_hook(load_scenario(file, [*fixed, *changes]), file)
        name = quote("_".join(changes) or scenario.name, safe="=.")
        points.append(SweepPoint(values, Point(name, scenario)))
    return points


def short_keys(axes: Sequence[Axis]) -> list[str]:
    """Give the last part of each key, or all of it where that would not tell them apart."""
    last = [one.key.rpartition(".")[2] for one in axes]
    return [
        name if last.count(name) == 1 else one.key for name, one in zip(last, axes, strict=True)
    ]


def document(
    axes: Sequence[Axis], points: Sequence[SweepPoint], outcomes: Sequence[Outcome]
) -> Any:
    """Give what a sweep measured as JSON has it.

    Parameters
    ----------
    axes, points
        The sweep.
    outcomes : sequence of Outcome
        One a point, in their order.

    Returns
    -------
    list of dict
        ``overrides``, ``point`` (its folder) and ``error`` (null if there is none), and of its
        result ``time_ns``, ``iterations``, ``network`` and ``simulator``, null without one; where
        jobs share a cluster, ``iteration_times`` as well.
    """
    entries = []
    for point, outcome in zip(points, outcomes, strict=True):
        measured = outcome.result.to_dict() if outcome.result else {}
        entries.append(
            {
                "overrides": {
                    one.key: value for one, value in zip(axes, point.changes, strict=True)
                },
                "point": point.point.name,
                "error": outcome.error,
                **{
                    key: measured.get(key)
                    for key in ("time_ns", "iterations", "network", "simulator")
                },
                **{key: measured[key] for key in ("iteration_times",) if key in measured},
            }
        )
    return entries
