"""``cosim search``: find a strategy or a layout for a job, and with TopoOpt its topology."""

from __future__ import annotations

import json
import time
from collections import Counter
from collections.abc import Mapping, Sequence
from contextlib import ExitStack, closing
from pathlib import Path
from typing import Any

import click
from click.core import ParameterSource
from rich.console import Console
from rich.progress import BarColumn, Progress, TextColumn, TimeRemainingColumn
from rich.table import Table

from bridge.batch.key_search import BUDGET, Goal
from bridge.batch.key_search import SIMULATED as KEYS_SIMULATED
from bridge.batch.layout_search import SIMULATED, LayoutSearch, Tried, Watch, has_layouts
from bridge.batch.places import place_at
from bridge.batch.points import Point, run_points
from bridge.batch.scenario_file import SCENARIO_FILE
from bridge.batch.strategy_search import Search, Settings
from bridge.batch.sweep import axis
from bridge.batch.training_job import Job
from bridge.cli.options import (
    allow_hooks_option,
    json_option,
    out_folder_option,
    scenario_argument,
    seed_option,
    set_option,
    with_seed,
)
from bridge.cli.runs.points import Counter as PointsCounter
from bridge.cli.runs.points import on_option_for, over_option, require_all
from bridge.cli.runs.search_keys import search_over
from bridge.errors import InputError
from bridge.present.metrics import METRICS
from bridge.present.progress import LINE_INTERVAL_S, LiveBar, Reporter, reporter_for
from bridge.present.quantities import percent_text, scaled_text, time_text
from bridge.present.table import table, unbroken
from bridge.results.result import Result
from bridge.simulator import simulate
from bridge.stopwatch import Stopwatch
from frontend import Scenario, load_scenario
from frontend.errors import one_of
from frontend.fabrics import FABRICS
from frontend.loading.overrides import Override
from frontend.parallelization import Space, State
from frontend.resolve import resolve

CHECKS_NAME = "checks"
"""The folder of the simulations that ran elsewhere, in the folder of the search."""

STRATEGIES = 5000
"""Number of strategies that a round tries by default."""

_NO_ROUNDS = "expected none for a language model: its layouts are all estimated"
_NO_LAYOUT = "expected none for a training job with a strategy: it has no layout"

_NO_OVER = "expected none with --over"

_NOT_OF_KEYS = ("rounds", "keep", "beta", "space", "resume", "check")

_NAMES = {"start": "start, estimated", "estimate": "found, estimated"}


@click.command("search")
@scenario_argument
@set_option
@over_option
@click.option(
    "--minimize",
    "minimize",
    metavar="NAME",
    help="With --over: the number of the result to make as small as possible, time by default; one "
    "of " + ", ".join(METRICS) + ".",
)
@click.option(
    "--maximize",
    "maximize",
    metavar="NAME",
    help="With --over: the number to make as large as possible.",
)
@click.option(
    "--rounds",
    type=click.IntRange(min=0),
    default=10,
    help="Greatest number of rounds; the search ends earlier when a round brings no improvement.",
)
@click.option(
    "--budget",
    type=click.IntRange(min=0),
    help="Number of strategies that a round tries, 5000 by default; greatest number of layouts to "
    f"estimate, by default all; with --over, of combinations, {BUDGET} by default.",
)
@click.option(
    "--keep",
    metavar="KEY,…",
    default="",
    help="Keys of the layout that keep their values, such as zero,recompute.",
)
@click.option(
    "--best",
    type=click.IntRange(min=1),
    help="Number of layouts or combinations to simulate: those with the best estimates. By "
    f"default {SIMULATED} layouts, {KEYS_SIMULATED} combinations.",
)
@click.option(
    "--beta",
    type=float,
    help="How strict the search is: it accepts a strategy that is D ms slower with probability "
    "exp(-beta D). By default, it accepts one that is 1 % slower with probability 1/e.",
)
@click.option(
    "--space",
    type=click.Choice(["all", "samples"]),
    default="all",
    help="What may be divided. With samples, an operator is on one server or its samples are "
    "divided, as in FlexFlow without its flags for more.",
)
@seed_option
@allow_hooks_option
@out_folder_option(
    "Folder for the best scenario so far and the state of the search: results/NAME-search by "
    "default, with --over results/NAME/search_KEYS; none with --json.",
)
@click.option("--resume", is_flag=True, help="Continue the search in the folder.")
@click.option(
    "--check",
    metavar="FABRIC,…",
    default="flow,express",
    help="Fabrics on which to simulate the result, or none.",
)
@on_option_for("the simulations of --check and of layouts run, at the same time")
@json_option
@click.pass_context
def search_command(
    context: click.Context,
    scenario: Path,
    overrides: list[Override],
    over: tuple[str, ...],
    minimize: str | None,
    maximize: str | None,
    rounds: int,
    budget: int | None,
    keep: str,
    best: int | None,
    beta: float | None,
    space: Space,
    seed: int | None,
    allow_hooks: bool,
    out: Path | None,
    resume: bool,
    check: str,
    address: str | None,
    as_json: bool,
) -> None:
    """Search for a faster strategy of a training job, or for the best values of any keys.

    With --over, the search is over the values of these keys, for any scenario. It estimates
    combinations, as many as --budget says, and simulates the best ones on the scenario's fabric.
    If you stop it, the same command continues it.

    Without --over, FILE is a scenario of `kind: training` or `kind: llm`. With `kind: training`,
    the search starts with its parallelization strategy, proposes random placements of operators on
    servers, and accepts or rejects each as FlexFlow does. With `family: topoopt`, each round also
    makes a topology for its strategy. With `kind: llm`, the search estimates all layouts that fit
    into the memory of a rank, and simulates the best ones. The folder of --out holds scenario.yaml,
    which `cosim run` takes; with `kind: training` also strategy.json."""
    if over:
        _require_default(context, _NOT_OF_KEYS, _NO_OVER)
        search_over(
            scenario,
            with_seed(overrides, seed),
            [axis(text) for text in over],
            Goal.of(minimize, maximize),
            BUDGET if budget is None else budget,
            KEYS_SIMULATED if best is None else best,
            out,
            address,
            as_json=as_json,
            allow_hooks=allow_hooks,
        )
        return
    _require_default(context, ("minimize", "maximize"), "expected --over with keys and values")
    fabrics = _fabrics(check)
    loaded = simulate.load(scenario, with_seed(overrides, seed))
    if fabrics:
        simulate.require_allowed_hook(loaded, allow_hooks)
    folder = out
    if folder is None and not as_json:
        folder = Path("results") / f"{loaded.name}-search"
    if has_layouts(loaded):
        _require_default(context, ("rounds", "beta", "space"), _NO_ROUNDS)
        kept = [key for key in keep.split(",") if key]
        search = LayoutSearch(
            loaded, budget, folder, address, kept=kept, simulated=best or SIMULATED
        )
        _search_layouts(
            loaded, search, folder, fabrics, address, as_json=as_json, allow_hooks=allow_hooks
        )
        return
    _require_default(context, ("keep", "best"), _NO_LAYOUT)
    job = Job(loaded)
    settings = Settings(rounds, STRATEGIES if budget is None else budget, beta, loaded.seed, space)
    place_at(address)  # a wrong one is refused before the search
    watch = Stopwatch()
    with _SearchProgress(settings, quiet=as_json) as shown:
        state = Search(job, settings, folder, resume=resume, on_proposal=shown).run()
    cpu_seconds = watch.cost()["cpu_s"]
    times = {"start": state.start_seconds, "estimate": state.best.seconds}
    fastest = load_scenario(job.changed(state.best.strategy, state.best.demand))
    times |= _checked(fastest, fabrics, address, folder, quiet=as_json, allow_hooks=allow_hooks)
    answer = _answer(job, state, times) | {"cpu_seconds": cpu_seconds}
    if job.alternates:
        found = resolve(fastest).layout.found
        assert found is not None
        answer["topology"] = found.graph.name
    if as_json:
        click.echo(json.dumps(answer, ensure_ascii=False))
        return
    _print(answer, Console())
    if folder is not None:
        click.echo(f"Scenario: {folder / SCENARIO_FILE}", err=True)


def _require_default(context: click.Context, options: Sequence[str], reason: str) -> None:
    """Raise InputError if the user has given an option that does not apply."""
    for option in options:
        if context.get_parameter_source(option) is not ParameterSource.DEFAULT:
            raise InputError(f"--{option}: {reason}")


def _fabrics(check: str) -> list[str]:
    if check == "none":
        return []
    names = check.split(",")
    for name in names:
        if name not in FABRICS:
            raise InputError(
                f"--check {check}: unknown fabric {name!r}: {one_of(name, ['none', *FABRICS])}"
            )
    return names


def _answer(job: Job, state: State, times: dict[str, float]) -> dict[str, Any]:
    strategy = state.best.strategy
    placed = Counter(placement.text for placement in strategy.placements)
    return {
        "name": job.scenario.name,
        "seconds": times,
        "rounds": [list(entry) for entry in state.history],
        "converged": state.converged,
        "placements": dict(sorted(placed.items())),
        "microbatches": strategy.microbatches,
        "servers": strategy.servers,
        "used_servers": len(
            {server for placement in strategy.placements for server in placement.servers}
        ),
    }


def _print(answer: dict[str, Any], console: Console) -> None:
    count = len(answer["rounds"])
    rounds = "1 round" if count == 1 else f"{count} rounds"
    cost = f"{answer['cpu_seconds']:.1f} s of CPU time"
    console.print(f"{answer['name']}: {rounds} in {cost}\n", highlight=False)
    console.print(_times_table(answer["seconds"]))
    console.print()
    rows = [(placement, str(count)) for placement, count in answer["placements"].items()]
    console.print(table(["placement", "operators"], rows))
    if answer["microbatches"] > 1:
        console.print(f"\n{answer['microbatches']} micro-batches", highlight=False)
    if answer["used_servers"] < answer["servers"]:
        console.print(f"\n{_unused(answer)}", highlight=False)
    if "topology" in answer:
        console.print(f"\nTopology: {answer['topology']}", highlight=False)


def _unused(answer: dict[str, Any]) -> str:
    if answer["used_servers"] == 1:
        return (
            f"The best strategy puts the whole job on 1 of {answer['servers']} servers, and sends "
            "nothing."
        )
    return f"The best strategy uses {answer['used_servers']} of {answer['servers']} servers."


def _search_layouts(
    scenario: Scenario,
    search: LayoutSearch,
    folder: Path | None,
    fabrics: Sequence[str],
    address: str | None,
    *,
    as_json: bool,
    allow_hooks: bool,
) -> None:
    """Search for a layout, check it on some fabrics, and print the answer.

    All simulations run at the address (see `bridge.batch.places.place_at`).
    """
    watch, estimate_s = Stopwatch(), 0.0
    with ExitStack() as stack:

        def counter(points: int) -> Watch:
            nonlocal estimate_s
            estimate_s = watch.cost()["cpu_s"]
            return stack.enter_context(PointsCounter(points, quiet=as_json))

        found = search.run(counter)
    times = {"estimate": found[0].seconds}
    if search.start is not None:
        times = {"start": search.start.seconds} | times
    best = found[0].scenario
    times |= _checked(best, fabrics, address, folder, quiet=as_json, allow_hooks=allow_hooks)
    answer = {
        "name": scenario.name,
        "seconds": times,
        "estimated": search.estimated,
        "cpu_seconds": estimate_s,
        "tried": len(found),
        "layouts": [
            {
                "seconds": one.seconds,
                "estimate_seconds": one.estimate.seconds,
                "memory_bytes": one.estimate.memory_bytes,
                "mfu": one.mfu,
                "layout": one.keys,
            }
            for one in found
        ],
    }
    if as_json:
        click.echo(json.dumps(answer, ensure_ascii=False))
        return
    _print_layouts(answer, found, search.start)
    if folder is not None:
        click.echo(f"Scenario: {folder / SCENARIO_FILE}", err=True)


def _print_layouts(answer: dict[str, Any], found: Sequence[Tried], start: Tried | None) -> None:
    console = unbroken()
    cost = f"{answer['cpu_seconds']:.1f} s of CPU time"
    console.print(
        f"{answer['name']}: {answer['estimated']} layouts fit, estimated in {cost}; "
        f"{len(found)} simulated\n",
        highlight=False,
    )
    console.print(_times_table(answer["seconds"]))
    console.print()
    rows = [
        (
            ", ".join(f"{key}: {value}" for key, value in one.keys.items()) or "defaults",
            scaled_text(one.estimate.memory_bytes, "B"),
            time_text(1e9 * one.estimate.seconds),
            time_text(1e9 * one.seconds),
            percent_text(one.mfu),
            "start" if one is start else "",
        )
        for one in found
    ]
    headings = ["fastest layouts", "memory", "estimate", "simulated", "MFU", ""]
    console.print(table(headings, rows))


def _checked(
    best: Scenario,
    fabrics: Sequence[str],
    address: str | None,
    folder: Path | None,
    *,
    quiet: bool,
    allow_hooks: bool,
) -> dict[str, float]:
    """Simulate what was found on some fabrics, and return the times of an iteration [s].

    Without an address, the simulations run here, one after the other. Elsewhere, they run at the
    same time, and the folder of the search keeps their results for the next time.
    """
    if address is None:
        results = [_here(best, fabric, quiet, allow_hooks) for fabric in fabrics]
    else:
        results = _elsewhere(address, best, fabrics, folder, allow_hooks)
    pairs = zip(fabrics, results, strict=True)
    return {fabric: result.iterations[0].time_ns / 1e9 for fabric, result in pairs}


def _here(best: Scenario, fabric: str, quiet: bool, allow_hooks: bool) -> Result:
    reporter = Reporter() if quiet else reporter_for(Console(stderr=True))
    return simulate.run(best, {"fabric": fabric}, progress=reporter, allow_hooks=allow_hooks)


def _elsewhere(
    address: str, best: Scenario, fabrics: Sequence[str], folder: Path | None, allow_hooks: bool
) -> list[Result]:
    points = [Point(fabric, load_scenario(best, {"fabric": fabric})) for fabric in fabrics]
    kept = None if folder is None else folder / CHECKS_NAME
    with closing(place_at(address)) as place:
        outcomes = run_points(points, place=place, folder=kept, allow_hooks=allow_hooks)
    require_all(outcomes)
    return [outcome.result for outcome in outcomes if outcome.result is not None]


def _times_table(seconds: Mapping[str, float]) -> Table:
    """Return the estimated and the simulated times of an iteration [s] as a table."""
    rows = [(_NAMES.get(key, key), time_text(1e9 * one)) for key, one in seconds.items()]
    return table(["iteration", "time"], rows)


class _SearchProgress(LiveBar):
    """Shows the progress of a search: a bar on a terminal, a line now and then elsewhere."""

    def __init__(self, settings: Settings, *, quiet: bool) -> None:
        self._settings = settings
        self._console = Console(stderr=True, quiet=quiet)
        super().__init__(
            Progress(
                TextColumn("{task.description}"),
                BarColumn(bar_width=None),
                TextColumn("{task.completed}/{task.total}"),
                TimeRemainingColumn(),
                console=self._console,
                transient=True,
                disable=quiet or not self._console.is_terminal,
            )
        )
        self._task = self._bar.add_task("", total=settings.budget)
        self._last = time.monotonic()

    def __call__(self, done: int, number: int, best: float) -> None:
        """Show the number of finished rounds, of proposals in this one, and the best time."""
        text = f"round {done + 1} of {self._settings.rounds}, {time_text(1e9 * best)}"
        self._bar.update(self._task, description=text, completed=number)
        now = time.monotonic()
        if self._bar.disable and now - self._last >= LINE_INTERVAL_S:
            self._last = now
            line = f"{text}, {number} of {self._settings.budget} proposals"
            self._console.print(line, highlight=False)
