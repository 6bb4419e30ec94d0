"""Searches for a better parallelization strategy, and with TopoOpt also for its topology."""

from __future__ import annotations

import json
import math
import time
from collections.abc import Callable
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from bridge.batch.scenario_file import SCENARIO_FILE, scenario_yaml
from bridge.batch.training_job import Job
from bridge.errors import InputError
from bridge.files import prepare_directory, remove, sole_writer, write_whole
from frontend import ScenarioError, load_scenario
from frontend.loading.stored import as_now
from frontend.parallelization import (
    Estimator,
    Found,
    Space,
    State,
    Strategy,
    alternate,
    begin,
    demand,
    state_from_json,
    state_to_json,
    to_json,
)
from topology_gen.files import read_bytes
from topology_gen.topoopt import Demand
from topology_gen.topoopt.demand import to_json as demand_to_json

STATE_FILE = "search.json"
STRATEGY_FILE = "strategy.json"
DEMAND_FILE = "demand.json"

SAVE_INTERVAL_S = 10.0
"""Seconds of wall time between two saves of an improvement within a round."""


@dataclass(frozen=True)
class Settings:
    """The limits and numbers of a search; see `frontend.parallelization.alternate`.

    Raises
    ------
    InputError
        `beta` is negative or not finite.
    """

    rounds: int
    budget: int
    beta: float | None
    seed: int
    space: Space = "all"

    def __post_init__(self) -> None:
        if self.beta is not None and not (math.isfinite(self.beta) and self.beta >= 0):
            raise InputError(f"beta {self.beta}: expected a finite number of at least 0")


class Search:
    """A search that keeps the best strategy so far in a folder.

    The folder holds the best strategy so far in ``strategy.json`` and ``scenario.yaml``, and in
    ``demand.json`` if its topology was made for the demand of another strategy. ``search.json``
    holds the state from which a search can resume.

    Parameters
    ----------
    job : Job
        The training job to improve.
    settings : Settings
        The limits and numbers of the search.
    folder : Path, optional
        The folder to write to; nothing is written without one.
    resume : bool
        Whether to continue from the state in the folder.
    on_proposal : callable, optional
        Called with the round (from 0), the number of proposals in it so far, and the iteration
        time in seconds of the best strategy so far.

    Raises
    ------
    InputError
        The folder cannot be written to, holds the state of another search, or holds none to resume.
    """

    def __init__(
        self,
        job: Job,
        settings: Settings,
        folder: Path | None = None,
        *,
        resume: bool = False,
        on_proposal: Callable[[int, int, float], None] | None = None,
    ) -> None:
        self.job = job
        self.settings = settings
        if resume and folder is None:
            raise InputError("--resume: expected a folder that holds the state, --out DIR")
        if resume and folder is not None and not (folder / STATE_FILE).exists():
            raise InputError(
                f"{folder / STATE_FILE}: no such file to resume from: search without --resume"
            )
        self._folder = prepare_directory(folder) if folder is not None else None
        self._on_proposal = on_proposal
        self._saved = time.monotonic()
        self._better: Found | None = None
        self._estimator = _Estimators(job)
        self.state = (
            self._kept(self._folder / STATE_FILE)
            if resume and self._folder is not None
            else begin(job.graph, self._estimator, job.start, settings.beta)
        )

    def run(self) -> State:
        """Search until the rounds are done; save the best so far if interrupted.

        Raises
        ------
        KeyboardInterrupt
            The user pressed Ctrl-C; the message says what was saved.
        """
        if self._folder is None:
            return self._run()
        with sole_writer(self._folder):
            return self._run()

    def _run(self) -> State:
        self._save()
        try:
            alternate(
                self.job.graph,
                self._estimator,
                self.state,
                self.settings.rounds,
                self.settings.budget,
                self.settings.seed,
                self.settings.space,
                self._proposed,
                self._round_done,
            )
        except KeyboardInterrupt:
            self._save_better()
            done = f"interrupted after {self.state.rounds} of {self.settings.rounds} rounds"
            if self._folder is None:
                raise KeyboardInterrupt(f"{done}, nothing was saved") from None
            raise KeyboardInterrupt(
                f"{done}: {self._folder} holds the best so far, and --resume continues from there"
            ) from None
        return self.state

    def _proposed(self, number: int, found: Found) -> None:
        better = found if found.seconds < self.state.best.seconds else None
        if better is not None and better != self._better:
            self._better = better
        if self._better is not None and time.monotonic() - self._saved > SAVE_INTERVAL_S:
            self._save_better()
        if self._on_proposal is not None:
            best = min(found.seconds, self.state.best.seconds)
            self._on_proposal(self.state.rounds, number, best)

    def _round_done(self, state: State) -> None:
        self.state, self._better = state, None
        self._save()

    def _save(self) -> None:
        if self._folder is None:
            return
        self._save_best(self.state.best.strategy, self.state.best.demand)
        content = {**self._identity(), "state": state_to_json(self.state, self.job.graph)}
        write_whole(self._folder / STATE_FILE, _json(content))

    def _save_better(self) -> None:
        """Save the best strategy of the round in progress, if it beats all finished rounds."""
        self._saved = time.monotonic()
        if self._better is not None:
            self._save_best(self._better.strategy, self.state.demand)

    def _save_best(self, strategy: Strategy, wanted: Demand) -> None:
        if self._folder is None:
            return
        data = self.job.changed(strategy, wanted)
        own = demand_to_json(demand(self.job.graph, strategy))
        algorithm = (data.get("collective") or {}).get("all_reduce")
        if isinstance(algorithm, dict):
            # A scenario reads files of its own folder only.
            file = Path(algorithm["file"])
            if file.exists():
                write_whole(self._folder / file.name, read_bytes(file))
            algorithm["file"] = file.name
        topology = data["topology"]
        if isinstance(topology.get("demand"), dict):
            if topology["demand"] == own:
                topology |= {"n": strategy.servers, "demand": "workload"}
            else:
                write_whole(self._folder / DEMAND_FILE, _json(topology.pop("demand")))
                topology["file"] = DEMAND_FILE
        write_whole(self._folder / STRATEGY_FILE, _json(to_json(strategy, self.job.graph)))
        write_whole(self._folder / SCENARIO_FILE, scenario_yaml(data))
        if topology.get("file") != DEMAND_FILE:
            remove(self._folder / DEMAND_FILE)  # of an earlier best

    def _identity(self) -> dict[str, Any]:
        """Return the settings that a resumed search must share with the saved one."""
        settings = self.settings
        scenario = json.loads(json.dumps(self.job.scenario.resolved()))
        return {
            "scenario": scenario,
            "budget": settings.budget,
            "beta": settings.beta,
            "seed": settings.seed,
            "space": settings.space,
        }

    def _kept(self, file: Path) -> State:
        try:
            content = {"space": "all"} | json.loads(read_bytes(file))  # it may be older than spaces
            # The file may be older than some keys of a scenario, or their units.
            content["scenario"] = load_scenario(as_now(content["scenario"])).resolved()
            for key, value in self._identity().items():
                if content[key] != value:
                    raise InputError(
                        f"{file}: saved by a search with another {key}: use the same {key}, or "
                        "search without --resume"
                    )
            return state_from_json(content["state"], self.job.graph)
        except OSError as error:
            raise InputError(f"{file}: {error.strerror}: expected a readable file") from None
        except InputError:
            raise
        except ScenarioError as error:
            raise InputError(f"{file}: {error}") from None
        except (KeyError, TypeError, ValueError, RecursionError):  # the last: nested very deeply
            raise InputError(f"{file}: expected a file that `cosim search` wrote") from None


class _Estimators:
    """Makes estimators and keeps the last one, which the next round starts with."""

    def __init__(self, job: Job) -> None:
        self._job = job
        self._last: tuple[dict[str, Any], Estimator] | None = None

    def __call__(self, wanted: Demand) -> Estimator:
        key = demand_to_json(wanted)
        if self._last is None or (self._job.alternates and self._last[0] != key):
            self._last = key, self._job.estimator(wanted)
        return self._last[1]


def _json(content: Any) -> bytes:
    return f"{json.dumps(content, ensure_ascii=False)}\n".encode()
