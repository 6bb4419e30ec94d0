"""Searches for the layout of a language model: which sizes its parallel dimensions have.

Every layout whose model divides over the ranks and fits into their memory is simulated on the
fabric `analytical`. Then the fastest ones are simulated with other orders of the ranks, which
decide which groups share a server.
"""

from __future__ import annotations

import random
from collections.abc import Callable, Iterable, Mapping, Sequence
from contextlib import suppress
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from bridge.batch.places import place_at
from bridge.batch.points import Outcome, Point, run_points
from bridge.batch.scenario_file import SCENARIO_FILE, scenario_yaml
from bridge.errors import InputError
from bridge.files import prepare_directory, write_whole
from frontend import Scenario, ScenarioError, load_scenario
from frontend.resolve.layout import layout

ESTIMATOR = "analytical"
"""The fabric on which layouts are compared."""

FASTEST = 3
"""Number of layouts that are tried with other orders of the ranks."""

POINTS = "layouts"
"""Folder of the simulated layouts."""

NAMED = ("tp", "cp", "pp", "chunks", "ep")
"""Keys of a layout that are part of its name."""

Watch = Callable[[Outcome], object]
"""Called with each finished layout."""


@dataclass(frozen=True)
class Tried:
    """A simulated layout."""

    scenario: Scenario
    """The scenario with this layout, on its own fabric."""
    seconds: float
    """Time of an iteration on `analytical`."""

    @property
    def keys(self) -> dict[str, Any]:
        """The keys of ``workload.layout`` that differ from their defaults."""
        chosen: Any = self.scenario.workload
        data: dict[str, Any] = chosen.layout.model_dump(mode="json", exclude_defaults=True)
        return data


def has_layouts(scenario: Scenario) -> bool:
    """Return whether the workload has layouts among which to choose."""
    work = scenario.only_work
    return any(True for _ in work.kind.sizes(work.workload, 1))


class LayoutSearch:
    """A search among the layouts of a workload.

    Parameters
    ----------
    scenario : Scenario
        The scenario; what its layout says besides sizes and order stays.
    budget : int
        The greatest number of sizes, and of orders, to simulate beside the scenario's own. If there
        are more, a random choice of them is tried, according to the scenario's seed.
    folder : Path, optional
        The folder that keeps what was simulated, and the scenario with the best layout. What it
        holds is not simulated again.
    address : str, optional
        Where the simulations run, as for `bridge.batch.places.place_at`; by default, on this
        machine.

    Raises
    ------
    InputError
        The budget is 0.
    """

    def __init__(
        self,
        scenario: Scenario,
        budget: int,
        folder: Path | None = None,
        address: str | None = None,
    ) -> None:
        if budget < 1:
            raise InputError("--budget 0: expected at least 1 layout to try")
        self._scenario = scenario
        self._budget = budget
        self._address = address
        self._folder = prepare_directory(folder) if folder is not None else None
        self._ranks = layout(scenario).ranks
        self._kind = scenario.only_work.kind
        self._tried: dict[str, Tried] = {}

    @property
    def start(self) -> Tried | None:
        """The layout of the scenario, if it was simulated."""
        return self._tried.get(_name(self._scenario))

    @property
    def best(self) -> list[Tried]:
        """The layouts that were simulated so far, the fastest first."""
        return sorted(self._tried.values(), key=lambda one: one.seconds)

    def run(self, on_points: Callable[[int], Watch] | None = None) -> list[Tried]:
        """Return the layouts that were simulated, the fastest first.

        Parameters
        ----------
        on_points : callable, optional
            Called with the number of layouts before they are simulated, first the sizes and then
            the orders. It returns what is called with each outcome.

        Raises
        ------
        InputError
            No layout fits.
        """
        own = self._scenario
        sizes = self._variants([(own, self._kind.sizes(own.workload, self._ranks))])
        self._simulate([own, *sizes], on_points)
        if not self._tried:
            raise InputError(
                "workload.layout: no layout fits: expected a model that divides over "
                f"{self._ranks} ranks and fits into their memory"
            )
        fastest = [one.scenario for one in self.best[:FASTEST]]
        ordered = [(one, self._kind.orders(one.workload, self._ranks)) for one in fastest]
        self._simulate(self._variants(ordered), on_points)
        if self._folder is not None:
            data = self.best[0].scenario.model_dump(mode="json", exclude_unset=True)
            write_whole(self._folder / SCENARIO_FILE, scenario_yaml(data))
        return self.best

    def _variants(
        self, of: Sequence[tuple[Scenario, Iterable[Mapping[str, Any]]]]
    ) -> list[Scenario]:
        """Return scenarios with changed layouts, without those that do not fit."""
        found = []
        for scenario, every in of:
            for changes in every:
                keys = {f"workload.{key}": value for key, value in changes.items()}
                with suppress(ScenarioError):
                    found.append(load_scenario(scenario, keys))
        if len(found) > self._budget:
            found = random.Random(self._scenario.seed).sample(found, self._budget)
        return found

    def _simulate(
        self, scenarios: Sequence[Scenario], on_points: Callable[[int], Watch] | None
    ) -> None:
        points = {_name(one): one for one in scenarios}
        new = [
            Point(name, load_scenario(one, {"fabric": ESTIMATOR}))
            for name, one in points.items()
            if name not in self._tried
        ]
        watch = on_points(len(new)) if on_points is not None else None
        folder = self._folder / POINTS if self._folder is not None else None
        for outcome in run_points(new, place=place_at(self._address), folder=folder, on_done=watch):
            if outcome.result is not None and outcome.error is None:
                seconds = outcome.result.iterations[0].time_ns / 1e9
                self._tried[outcome.point.name] = Tried(points[outcome.point.name], seconds)


def _name(scenario: Scenario) -> str:
    """Return a name for a layout."""
    chosen: Any = scenario.workload
    keys = chosen.layout.model_dump(mode="json")
    return "-".join(f"{key}{keys[key]}" for key in NAMED) + f"-{keys['order']}"
