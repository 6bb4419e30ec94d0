"""Makes the points of ``cosim sweep``, all combinations of overrides, and reports them as JSON."""

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
    """One key of the scenario and the values that it takes, one after the other."""

    key: str
    """Its path, such as ``topology.bandwidth``."""
    values: tuple[str, ...]
    """The values as text, as an override writes them."""


@dataclass(frozen=True)
class SweepPoint:
    """One combination of values."""

    changes: tuple[str, ...]
    """The value of each axis, in the order of the axes."""
    point: Point
    """The simulation to run, in a folder that is named after the keys and values."""


def axis(text: str) -> Axis:
    """Return the axis that an option ``--over`` describes.

    Parameters
    ----------
    text : str
        ``key=value,value…``. A value may be a YAML flow value, such as ``{scale_up: 8}``.

    Returns
    -------
    Axis

    Raises
    ------
    InputError
        There is no key, no value, or the same value twice.
    """
    key, equals, values = text.partition("=")
    if not equals or not key.strip():
        raise InputError(f"--over {text}: expected key.path=value,value,…")
    try:
        # Read as a flow sequence, so that commas inside brackets and quotes do not separate.
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
            f"--over {text}: the value {twice[0]} is given twice, expected different values"
        )
    return Axis(key.strip(), texts)


def sweep_points(file: Path, fixed: Sequence[str], axes: Sequence[Axis]) -> list[SweepPoint]:
    """Return a point for every combination of the axes' values; the last axis changes fastest.

    Parameters
    ----------
    file : Path
        The scenario.
    fixed : sequence of str
        Overrides ``key=value`` that all points share.
    axes : sequence of Axis
        The axes; their keys must differ.

    Returns
    -------
    list of SweepPoint

    Raises
    ------
    frontend.ScenarioError
        A combination is not a valid scenario. All combinations are checked before any runs.
    InputError
        Two axes change the same key.
    """
    keys = [one.key for one in axes]
    twice = sorted({key for key in keys if keys.count(key) > 1})
    if twice:
        raise InputError(f"--over {twice[0]}: the key is given twice, expected one list of values")
    points = []
    for values in product(*(one.values for one in axes)):
        changes = [f"{key}={value}" for key, value in zip(keys, values, strict=True)]
        scenario = with_absolute_hook(load_scenario(file, [*fixed, *changes]), file)
        name = quote("_".join(changes) or scenario.name, safe="=.")
        points.append(SweepPoint(values, Point(name, scenario)))
    return points


def short_keys(axes: Sequence[Axis]) -> list[str]:
    """Return the last part of each key, or the whole key where last parts are not unique."""
    last = [one.key.rpartition(".")[2] for one in axes]
    return [
        name if last.count(name) == 1 else one.key for name, one in zip(last, axes, strict=True)
    ]


def document(
    axes: Sequence[Axis], points: Sequence[SweepPoint], outcomes: Sequence[Outcome]
) -> Any:
    """Return the measurements of a sweep as JSON data.

    Parameters
    ----------
    axes, points
        The sweep.
    outcomes : sequence of Outcome
        The outcome of each point, in the order of `points`.

    Returns
    -------
    list of dict
        For each point, ``overrides``, ``point`` (its folder) and ``error`` (null if there is none),
        and from its result ``time_ns``, ``iterations``, ``network`` and ``simulator`` (null
        without a result). ``iteration_times`` is there, too, if jobs share the cluster.
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
