"""The search for a strategy without files: from the best of several starts."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

from bridge.batch.strategy_search import Search, Settings
from bridge.batch.training_job import Job
from frontend.parallelization import StrategyError, demand
from topology_gen.topoopt.demand import to_json


def best_strategy(jobs: Sequence[Job], settings: Settings) -> dict[str, Any]:
    """Return the scenario of a job, as data, with the best strategy that a search finds.

    With TopoOpt, the scenario also has the topology that was found with the strategy.

    Parameters
    ----------
    jobs : sequence of Job
        The same job with different strategies. The search starts with the one whose estimate is
        the least of those that fit into the memory of the servers.
    settings : Settings
        The limits and numbers of the search. The same settings give the same strategy.

    Raises
    ------
    StrategyError
        If no start fits into the memory.
    """
    searches: list[Search] = []
    refusal: StrategyError | None = None
    for job in jobs:
        try:
            searches.append(Search(job, settings))
        except StrategyError as error:
            refusal = error
    if not searches:
        raise refusal or StrategyError("no job to search for")
    search = min(searches, key=lambda one: one.state.start_seconds)
    best = search.run().best
    data = search.job.changed(best.strategy, best.demand)
    topology = data["topology"]
    if topology.get("demand") == to_json(demand(search.job.graph, best.strategy)):
        topology |= {"n": best.strategy.servers, "demand": "workload"}
    return data
