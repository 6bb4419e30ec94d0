"""Searches for the layout of a language model: the sizes of its parallel dimensions, and more.

Every layout whose model divides over the ranks and fits into their memory is estimated by a closed
form, and so are other orders of the ranks for the fastest ones; orders decide which groups share a
server. The fastest of all are simulated on the fabric `flow`.
"""

from __future__ import annotations

import random
from collections.abc import Callable, Collection, Iterable, Mapping, Sequence
from contextlib import closing
from dataclasses import dataclass
from itertools import chain
from pathlib import Path
from typing import Any

from bridge.batch.places import place_at
from bridge.batch.points import Outcome, Point, run_points
from bridge.batch.scenario_file import SCENARIO_FILE, scenario_yaml
from bridge.errors import InputError
from bridge.files import prepare_directory, write_whole
from frontend import Scenario, load_scenario
from frontend.compiler.costs import Costs
from frontend.errors import one_of
from frontend.resolve import resolve
from frontend.workloads.registry import Estimate

ESTIMATOR = "flow"
"""The fabric on which layouts are simulated."""

SIMULATED = 10
"""Number of layouts that are simulated."""

POINTS = "layouts"
"""Folder of the simulated layouts."""

_ALIKE = ("layout.zero", "layout.order", "recompute")
"""Of layouts that differ only in these keys, the fastest one is simulated."""

Watch = Callable[[Outcome], object]
"""Called with each finished layout."""


@dataclass(frozen=True)
class Tried:
    """A simulated layout."""

    scenario: Scenario
    """The scenario with this layout, on its own fabric."""
    estimate: Estimate
    """What it was chosen by."""
    seconds: float
    """Time of an iteration on `flow`."""

    @property
    def keys(self) -> dict[str, Any]:
        """The keys of the layout that differ from their defaults."""
        chosen: Any = self.scenario.workload
        data: dict[str, Any] = chosen.layout.model_dump(mode="json", exclude_defaults=True)
        fields, keys = type(chosen).model_fields, self.scenario.only_work.kind.layout_keys
        for name in (key for key in keys if key in fields):
            if getattr(chosen, name) != fields[name].default:
                data[name] = getattr(chosen, name)
        return data

    @property
    def mfu(self) -> float:
        """The model FLOPs utilization of the simulated iteration."""
        return self.estimate.mfu * self.estimate.seconds / self.seconds


def has_layouts(scenario: Scenario) -> bool:
    """Return whether the workload has layouts among which to choose."""
    return bool(scenario.only_work.kind.layout_keys)


class LayoutSearch:
    """A search among the layouts of a workload.

    Parameters
    ----------
    scenario : Scenario
        The scenario; what the search does not change stays.
    budget : int, optional
        The greatest number of layouts to estimate. If there are more, a random choice of them is
        estimated, according to the scenario's seed. By default, all.
    folder : Path, optional
        The folder that keeps what was simulated, and the scenario with the best layout. What it
        holds is not simulated again.
    address : str, optional
        Where the simulations run, as for `bridge.batch.places.place_at`; by default, on this
        machine.
    kept : collection of str
        Keys of the layout that keep the scenario's values.
    simulated : int
        Number of layouts to simulate, beside the scenario's own.

    Raises
    ------
    InputError
        The budget is 0, or a key is not one of a layout.
    """

    def __init__(
        self,
        scenario: Scenario,
        budget: int | None = None,
        folder: Path | None = None,
        address: str | None = None,
        *,
        kept: Collection[str] = (),
        simulated: int = SIMULATED,
    ) -> None:
        if budget is not None and budget < 1:
            raise InputError("--budget 0: expected at least 1 layout to try")
        self._scenario = scenario
        self._budget = budget
        self._address = address
        self._kind = scenario.only_work.kind
        for key in kept:
            if key not in self._kind.layout_keys:
                raise InputError(f"--keep {key}: {one_of(key, self._kind.layout_keys)}")
        self._folder = prepare_directory(folder) if folder is not None else None
        self._kept = kept
        self._simulated = simulated
        resolved = resolve(scenario)
        self._ranks, self._costs = resolved.ranks, Costs(resolved)
        self._tried: dict[str, Tried] = {}
        self.estimated = 0
        """The number of layouts that fit and were estimated."""

    @property
    def start(self) -> Tried | None:
        """The layout of the scenario, if it was simulated."""
        return self._tried.get(_name(self._scenario))

    @property
    def best(self) -> list[Tried]:
        """The layouts that were simulated, the fastest first."""
        return sorted(self._tried.values(), key=lambda one: one.seconds)

    def run(self, on_points: Callable[[int], Watch] | None = None) -> list[Tried]:
        """Return the layouts that were simulated, the fastest first.

        Parameters
        ----------
        on_points : callable, optional
            Called with the number of layouts before they are simulated. It returns what is called
            with each outcome.

        Raises
        ------
        InputError
            No layout fits.
        """
        self._simulate([*self.estimates([{}]), *self.fastest()], on_points)
        if not self._tried:
            raise InputError(
                "workload.layout: no layout fits: expected a model that divides over "
                f"{self._ranks} ranks and fits into their memory"
            )
        if self._folder is not None:
            data = self.best[0].scenario.model_dump(mode="json", exclude_unset=True)
            write_whole(self._folder / SCENARIO_FILE, scenario_yaml(data))
        return self.best

    def estimates(self, every: Iterable[Mapping[str, Any]]) -> list[Estimate]:
        workload = self._scenario.only_work.workload
        return list(self._kind.estimates(workload, self._ranks, self._costs, every))

    def fastest(self) -> list[Estimate]:
        """Return the layouts to simulate: those with the shortest estimates, the shortest first."""
        every: Iterable[Mapping[str, Any]]
        every = self._kind.layouts(self._scenario.only_work.workload, self._ranks, self._kept)
        if self._budget is not None:
            every = list(every)
            if len(every) > self._budget:
                every = random.Random(self._scenario.seed).sample(every, self._budget)
        found = self.estimates(every)
        best = _different(found)[: self._simulated]
        ordered = self.estimates(chain.from_iterable(map(self._orders, best)))
        self.estimated = len(found) + len(ordered)
        return _different([*best, *ordered])[: self._simulated]

    def _orders(self, one: Estimate) -> list[Mapping[str, Any]]:
        """Return the other orders of the ranks of a layout."""
        workload = self._changed(one).workload
        return [{**one.changes, **order} for order in self._kind.orders(workload, self._ranks)]

    def _changed(self, one: Estimate) -> Scenario:
        """Return the scenario with a layout."""
        keys = {f"workload.{key}": value for key, value in one.changes.items()}
        return load_scenario(self._scenario, keys)

    def _simulate(
        self, estimates: Sequence[Estimate], on_points: Callable[[int], Watch] | None
    ) -> None:
        known: dict[str, tuple[Scenario, Estimate]] = {}
        for one in estimates:
            scenario = self._changed(one)
            known.setdefault(_name(scenario), (scenario, one))
        points = [
            Point(name, load_scenario(scenario, {"fabric": ESTIMATOR}))
            for name, (scenario, _) in known.items()
        ]
        watch = on_points(len(points)) if on_points is not None else None
        folder = self._folder / POINTS if self._folder is not None else None
        with closing(place_at(self._address)) as place:
            outcomes = run_points(points, place=place, folder=folder, on_done=watch)
        for outcome in outcomes:
            if outcome.result is not None and outcome.error is None:
                seconds = outcome.result.iterations[0].time_ns / 1e9
                self._tried[outcome.point.name] = Tried(*known[outcome.point.name], seconds)


def _different(estimates: Iterable[Estimate]) -> list[Estimate]:
    """Return the shortest estimate of layouts that are alike, the shortest first.

    Of equal times, the one with less memory counts as shorter.
    """
    found: dict[tuple[tuple[str, Any], ...], Estimate] = {}
    for one in sorted(estimates, key=lambda one: (one.seconds, one.memory_bytes)):
        rest = tuple(sorted(item for item in one.changes.items() if item[0] not in _ALIKE))
        found.setdefault(rest, one)
    return list(found.values())


def _name(scenario: Scenario) -> str:
    """Return a name for a layout."""
    chosen: Any = scenario.workload
    layout = chosen.layout.model_dump(mode="json")
    values = layout | {name: getattr(chosen, name) for name in type(chosen).model_fields}
    parts = (f"{key}{values[key]}" for key in scenario.only_work.kind.layout_keys)
    return "-".join((*parts, layout["order"]))
