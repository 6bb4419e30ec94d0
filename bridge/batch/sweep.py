"""Makes the points of ``cosim sweep``, all combinations of overrides, and reports them as JSON."""

from __future__ import annotations

import json
import os
from collections.abc import Callable, Iterable, Mapping, Sequence, Set
from contextlib import closing
from dataclasses import dataclass, replace
from itertools import product
from typing import TYPE_CHECKING, Any

from bridge.batch.grid import expanded
from bridge.batch.places import place_at
from bridge.batch.points import Outcome, Point, run_points
from bridge.batch.worker import Progress
from bridge.errors import InputError
from bridge.present.comparison import value_text
from bridge.present.metrics import METRICS, Metric
from bridge.present.names import short_keys
from bridge.results.folders import folder_name
from bridge.results.notebook import require_pandas
from bridge.results.result import Result
from bridge.simulator.simulate import load
from frontend import ScenarioError
from frontend.loading.load import Source, read_scenario
from frontend.loading.overrides import Override, Overrides, listed, python_values
from frontend.yaml_document import read

if TYPE_CHECKING:
    import pandas as pd

SEED = "seed"
SEEDS = "--seeds"
"""The key of the scenario that repetitions change."""


@dataclass(frozen=True)
class Axis:
    """One key of the scenario and the values that it takes, one after the other."""

    key: str
    """Its path, such as ``topology.bandwidth``."""
    values: tuple[str, ...]
    """The values as text, as an override writes them."""
    option: str = "--over"
    """What gave it, for error messages."""

    def shown(self, value: str) -> str:
        """Return a value as people see it: of mappings, the keys whose values differ."""
        if not all(one.startswith("{") for one in self.values):  # as JSON has mappings
            return value
        every = [read(one, self.key, one_line=True).data for one in self.values]
        own = every[self.values.index(value)].items()
        return _flow({key: one for key, one in own if any(x.get(key) != one for x in every)})


@dataclass(frozen=True)
class SweepPoint:
    """One combination of values."""

    changes: tuple[str, ...]
    """The value of each axis, in the order of the axes."""
    texts: tuple[str, ...]
    """The values as tables show them."""
    point: Point
    """The simulation to run, in a folder that is named after the keys and values."""

    def overrides(self, axes: Sequence[Axis]) -> dict[str, Any]:
        """Return the key of each axis with its value, as the scenario reads it."""
        return {
            one.key: read(value, one.key, one_line=True).data
            for one, value in zip(axes, self.changes, strict=True)
        }


def axis(text: str) -> Axis:
    """Return the axis that an option ``--over`` describes.

    Parameters
    ----------
    text : str
        ``key=value,value…``. A value may be a YAML flow value, such as ``{scale_up: 8}``, or a
        range of numbers; see `bridge.batch.grid.expanded`.

    Returns
    -------
    Axis

    Raises
    ------
    InputError
        There is no key, no value, the same value twice, or a range without an end.
    """
    key, equals, values = text.partition("=")
    if not equals or not key.strip():
        raise InputError(f"--over {text}: expected key.path=value,value,…")
    try:
        # Read as a flow sequence, so that commas inside brackets and quotes do not separate.
        entries = read(f"[{values}]", f"--over {text}", one_line=True).data
    except ScenarioError as error:
        raise InputError(str(error)) from None
    if not entries:
        raise InputError(f"--over {text}: no value, expected key.path=value,value,…")
    try:
        entries = [value for entry in entries for value in _values(entry)]
    except ValueError as error:
        raise InputError(f"--over {text}: {error}") from None
    return _axis(key.strip(), entries, f"--over {text}")


def _values(entry: Any) -> Sequence[Any]:
    """Return the values of a range, or of what is none, itself."""
    found = expanded(entry) if isinstance(entry, str) else None
    return [entry] if found is None else found


def given_axes(over: Mapping[str, Iterable[Any] | str]) -> list[Axis]:
    """Return the axes that an argument ``over`` of `sweep` describes.

    Raises
    ------
    InputError
        As for `axis`, or what should be several values is not.
    """
    if not isinstance(over, Mapping):
        raise InputError(f"over: {over!r}: expected a mapping of key paths to lists of values")
    for key, values in over.items():
        if not isinstance(values, Iterable) or isinstance(values, Set):  # which has no order
            raise InputError(f"over: {key}: value {values!r}: expected a list of values")
    return [
        replace(axis(f"{key}={values}"), option="over")
        if isinstance(values, str)
        else _axis(key, values, key, "over")
        for key, values in over.items()
    ]


def seeds_axis(count: int, first: int) -> Axis:
    """Return the axis of so many seeds from a first one on; raise InputError if it has none."""
    if not isinstance(count, int) or count < 1:
        raise InputError(f"seeds: value {count!r}: expected a whole number of at least 1")
    return Axis(SEED, tuple(str(first + number) for number in range(count)), SEEDS)


def _axis(key: str, values: Iterable[Any], where: str, option: str = Axis.option) -> Axis:
    texts = tuple(
        value if isinstance(value, str) else json.dumps(value, ensure_ascii=False)
        for value in map(python_values, values)
    )
    if not texts:
        raise InputError(f"{where}: no value, expected a list of values")
    twice = sorted({value for value in texts if texts.count(value) > 1})
    if twice:
        raise InputError(f"{where}: the value {twice[0]} is given twice, expected different values")
    return Axis(key, texts, option)


def sweep_points(
    source: Source, fixed: Overrides, axes: Sequence[Axis], seed: int | None = None
) -> list[SweepPoint]:
    """Return a point for every combination of the axes' values; the last axis changes fastest.

    Parameters
    ----------
    source : path, mapping or Scenario
        The scenario.
    fixed : mapping or sequence of str
        Overrides that all points share.
    axes : sequence of Axis
        The axes; their keys must differ.
    seed : int, optional
        Replaces the scenario's seed.

    Returns
    -------
    list of SweepPoint

    Raises
    ------
    frontend.ScenarioError
        A combination is not a valid scenario. All combinations are checked before any runs.
    InputError
        Two axes change the same key, or an axis changes what is fixed. Seeds start at a fixed one.
    """
    require_different_keys(axes, fixed, seed)
    content = read_scenario(source)
    every = product(*(one.values for one in axes))
    return [sweep_point(content, fixed, axes, values, seed) for values in every]


def require_different_keys(axes: Sequence[Axis], fixed: Overrides, seed: int | None) -> None:
    """Raise InputError if two axes change the same key, or an axis a key that is fixed."""
    keys = [one.key for one in axes]
    twice = sorted({key for key in keys if keys.count(key) > 1})
    if twice:
        raise InputError(f"--over {twice[0]}: the key is given twice, expected one list of values")
    set_already = [*listed(fixed), *([] if seed is None else [Override(SEED, seed, SEED)])]
    for one in set_already:
        if any(axis.key == one.key.strip() for axis in axes if axis.option != SEEDS):
            raise InputError(f"{one}: --over changes the key, too, expected one of the two")


def sweep_point(
    content: Source,
    fixed: Overrides,
    axes: Sequence[Axis],
    values: tuple[str, ...],
    seed: int | None = None,
) -> SweepPoint:
    """Return the point of one combination; arguments and errors are those of `sweep_points`."""
    changes = [
        Override(one.key, value, one.option) for one, value in zip(axes, values, strict=True)
    ]
    scenario = load(content, [*listed(fixed), *changes], seed)
    name = folder_name(f"{one.key}={one.value}" for one in changes)
    texts = tuple(one.shown(value) for one, value in zip(axes, values, strict=True))
    pairs = zip(short_keys([one.key for one in axes]), texts, strict=True)
    label = ", ".join(f"{key}={text}" for key, text in pairs)
    return SweepPoint(values, texts, Point(name or scenario.name, scenario, label))


def _flow(value: Any) -> str:
    """Return data as YAML's flow style writes it."""
    if isinstance(value, dict):
        return "{" + ", ".join(f"{key}: {_flow(one)}" for key, one in value.items()) + "}"
    return f"[{', '.join(map(_flow, value))}]" if isinstance(value, list) else value_text(value)


@dataclass(frozen=True)
class Swept:
    """One combination of values, and what came of it."""

    overrides: Mapping[str, Any]
    """The value of each key, as the scenario reads it: numbers, texts such as ``100Gbps``, lists or
    mappings."""
    result: Result | None
    """The result: partial if there is an error, None if the simulation could not even begin."""
    error: str | None
    """Why the simulation did not complete; None if it did."""


class Sweep(list[Swept]):
    """What `sweep` returns: a list of its combinations, which also shows itself as a table."""

    def to_pandas(self) -> pd.DataFrame:
        """Return a row for each combination: its values, ``error``, and the metrics of its result.

        Columns of metrics have the names that ``cosim sweep --json`` uses, such as ``time_ns``. A
        metric that no result has is left out.

        Raises
        ------
        InputError
            pandas is not installed.
        """
        pandas = require_pandas()
        rows = [
            {
                **one.overrides,
                "error": one.error,
                **{
                    metric.key: metric.value(one.result)
                    for metric in METRICS.values()
                    if one.result is not None
                },
            }
            for one in self
        ]
        return pandas.DataFrame(rows).dropna(axis="columns", how="all")


def sweep(
    scenario: Source,
    over: Mapping[str, Iterable[Any] | str],
    overrides: Overrides | None = None,
    *,
    seed: int | None = None,
    seeds: int | None = None,
    jobs: int | None = None,
    on: str | None = None,
    out: str | os.PathLike[str] | None = None,
    progress: Callable[[Point, Progress], object] | None = None,
    allow_hooks: bool = False,
) -> Sweep:
    """Simulate every combination of values, each in a process of its own.

    Parameters
    ----------
    scenario : path, mapping or Scenario
        The scenario that all points share.
    over : mapping of key path to values
        The keys to change, and the values of each: ``{"topology.ranks": [8, 16]}``, or a text as
        ``--over`` takes it: ``{"workload.bytes": "1KB..1GB*4"}``. The last key changes fastest.
    overrides : mapping or sequence of str, optional
        Changes that all points share, as for `run`.
    seed : int, optional
        Replaces the scenario's seed.
    seeds : int, optional
        Simulates each combination with so many seeds, from the scenario's on: the key ``seed``
        changes fastest.
    jobs : int, optional
        How many points run at the same time. By default, the number of cores of the place.
    on : str, optional
        Where the points run: ``ray`` or ``ray://HOST:PORT``, a Ray cluster. By default, on the
        cores that this process may use.
    out : path, optional
        The folder that keeps a result for each point. Points that are complete there do not run
        again. By default, nothing is kept.
    progress : callable, optional
        Called from other threads, several times a second, with a point that runs and a snapshot.
    allow_hooks : bool, optional
        As for `run`.

    Returns
    -------
    Sweep
        A list with a `Swept` for each combination. A simulation that fails does not affect the
        others.

    Raises
    ------
    frontend.ScenarioError
        A combination is not a valid scenario. Nothing has been simulated.
    InputError
        A value is given twice, `out` cannot be written to, or nothing can run on `on`.
    KeyboardInterrupt
        The user pressed Ctrl-C. Complete results stay in `out`.

    Examples
    --------
    >>> runs = sweep("scenarios/collective.yaml", {"topology.ranks": [4, 8]})  # doctest: +SKIP
    >>> [run.result.time_ns for run in runs]  # doctest: +SKIP
    """
    axes = given_axes(over)
    content = read_scenario(scenario)
    if seeds is not None:
        axes.append(seeds_axis(seeds, load(content, overrides, seed).seed))
        seed = None
    points = sweep_points(content, overrides or {}, axes, seed)
    with closing(place_at(on)) as place:
        outcomes = run_points(
            [one.point for one in points],
            jobs=jobs,
            place=place,
            folder=out,
            on_progress=progress,
            allow_hooks=allow_hooks,
        )
    return Sweep(
        Swept(point.overrides(axes), outcome.result, outcome.error)
        for point, outcome in zip(points, outcomes, strict=True)
    )


def document(
    axes: Sequence[Axis],
    points: Sequence[SweepPoint],
    outcomes: Sequence[Outcome],
    metrics: Sequence[Metric],
) -> Any:
    """Return the measurements of a sweep as JSON data.

    Parameters
    ----------
    axes, points
        The sweep.
    outcomes : sequence of Outcome
        The outcome of each point, in the order of `points`.
    metrics : sequence of Metric
        Numbers to add.

    Returns
    -------
    list of dict
        For each point, ``overrides``, ``point`` (its folder), ``error`` (null if there is none) and
        ``metrics``, and from its result ``time_ns``, ``iterations``, ``network`` and ``simulator``
        (null without a result). ``iteration_times`` is there, too, if jobs share the cluster.
    """
    entries = []
    for point, outcome in zip(points, outcomes, strict=True):
        measured = outcome.result.to_dict() if outcome.result else {}
        entries.append(
            {
                "overrides": point.overrides(axes),
                "point": point.point.name,
                "error": outcome.error,
                "metrics": {
                    one.key: one.value(outcome.result) if outcome.result else None
                    for one in metrics
                },
                **{
                    key: measured.get(key)
                    for key in ("time_ns", "iterations", "network", "simulator")
                },
                **{key: measured[key] for key in ("iteration_times",) if key in measured},
            }
        )
    return entries
