"""Searches that points ask for before they are simulated, and the files that keep their finds."""

from __future__ import annotations

import json
from collections.abc import Mapping
from dataclasses import asdict, dataclass
from hashlib import sha256
from pathlib import Path
from typing import Any

from bridge.batch.strategy_search import Search, Settings
from bridge.batch.training_job import Job
from bridge.errors import InputError
from bridge.files import write_whole
from bridge.simulator.simulate import versions
from bridge.stopwatch import Stopwatch
from frontend import Scenario, load_scenario
from frontend.parallelization import StrategyError, demand
from topology_gen.files import read_bytes
from topology_gen.topoopt.demand import to_json

#: The keys of ``topology`` that say for which demand it is made.
_ASKED = ("n", "demand")

Found = Mapping[str, Any]
"""The best strategy (``strategy``), and with TopoOpt the keys of its topology (``topology``)."""


@dataclass(frozen=True)
class StrategySearch:
    """A search for the strategy of a job.

    Points that differ only in what the search does not know can share it.
    """

    starts: tuple[Scenario, ...]
    """The same job with different strategies. The search starts with the one whose estimate is the
    least of those that fit into the memory of the servers."""
    settings: Settings
    """The limits and numbers of the search. The same settings give the same strategy."""

    @property
    def file_name(self) -> str:
        """A name that depends on everything that decides what the search finds."""
        text = json.dumps([self.request(), versions()], sort_keys=True)
        return f"{self.starts[0].name}-{sha256(text.encode()).hexdigest()[:16]}.json"

    def request(self) -> dict[str, Any]:
        """Return the search as JSON, which `of` reads."""
        starts = [one.model_dump(mode="json", exclude_unset=True) for one in self.starts]
        return {"starts": starts, "settings": asdict(self.settings)}

    @classmethod
    def of(cls, request: Mapping[str, Any]) -> StrategySearch:
        """Return the search that `request` describes."""
        return cls(tuple(map(load_scenario, request["starts"])), Settings(**request["settings"]))

    def kept(self, folder: Path) -> Found | None:
        """Return what the search found earlier, or None if the folder does not have it."""
        try:
            found = json.loads(read_bytes(folder / self.file_name))
        except (OSError, ValueError, RecursionError):  # the last: nested very deeply
            return None
        return found if isinstance(found, dict) and "strategy" in found else None

    def run(self, file: Path) -> None:
        """Search, and keep what is found in a file.

        Raises
        ------
        StrategyError
            If no start fits into the memory.
        """
        watch = Stopwatch()
        searches: list[Search] = []
        refusal: StrategyError | None = None
        for start in self.starts:
            try:
                searches.append(Search(Job(start), self.settings))
            except StrategyError as error:
                refusal = error
        if not searches:
            raise refusal or InputError("no strategy to start a search with")
        search = min(searches, key=lambda one: one.state.start_seconds)
        best = search.run().best
        data = search.job.changed(best.strategy, best.demand)
        found = {
            "strategy": data["workload"]["strategy"],
            "cpu_seconds": watch.cost()["cpu_s"],
        }
        if search.job.alternates:
            topology = data["topology"]
            if topology["demand"] == to_json(demand(search.job.graph, best.strategy)):
                topology |= {"n": best.strategy.servers, "demand": "workload"}
            found["topology"] = {key: topology[key] for key in _ASKED if key in topology}
        write_whole(file, f"{json.dumps(found)}\n".encode())


def with_strategy(scenario: Scenario, found: Found) -> Scenario:
    """Return a scenario with the strategy, and with TopoOpt the topology, that a search found."""
    data = scenario.model_dump(mode="json", exclude_unset=True)
    data["workload"]["strategy"] = found["strategy"]
    if "topology" in found:
        kept = {key: value for key, value in data["topology"].items() if key not in _ASKED}
        data["topology"] = kept | found["topology"]
    return load_scenario(data)
