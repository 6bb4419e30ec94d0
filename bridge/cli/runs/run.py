"""``cosim run``: simulate a scenario."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import click

from bridge.batch.outlook import OutlookReporter
from bridge.cli.options import (
    allow_hooks_option,
    json_option,
    naming,
    run_folder_option,
    scenario_or_stdin_argument,
    seed_option,
    seeds_option,
    set_option,
    what_was_set,
    with_seed,
)
from bridge.cli.output_options import output_options, with_outputs
from bridge.cli.present import present
from bridge.present.progress import Reporter
from bridge.results.folders import default_folder
from bridge.results.result import Result
from bridge.simulator import simulate
from frontend.fabrics import ESTIMATORS
from frontend.loading.overrides import Override


@click.command("run")
@scenario_or_stdin_argument
@set_option
@run_folder_option
@json_option
@seed_option
@seeds_option
@allow_hooks_option
@output_options
def run_command(
    scenario: Path,
    overrides: list[Override],
    out: Path | None,
    as_json: bool,
    seed: int | None,
    seeds: int | None,
    allow_hooks: bool,
    outputs: dict[str, Any],
) -> None:
    """Simulate the scenario FILE and print a summary.

    FILE is a YAML file, such as those in scenarios/, or - for stdin. The summary goes to stdout;
    the full result goes to result.json in the folder that --out names. With --seeds, each seed has
    a folder in it, and the summary has means."""
    # Loaded only once, because FILE may be a pipe.
    changes = with_seed(overrides, seed)
    loaded = with_outputs(simulate.load(scenario, changes), outputs)
    if loaded.outputs.timeline is not None and as_json and out is None:
        raise click.UsageError("--timeline writes to the folder of the run: --json needs --out")
    if seeds is not None:
        from bridge.cli.runs.sweep import run_sweep  # a single run does not need it

        run_sweep(
            loaded,
            [],
            [],
            seeds,
            out,
            changes=what_was_set(changes),
            as_json=as_json,
            allow_hooks=allow_hooks,
        )
        return
    hook = simulate.scenario_hook(loaded, allow_hooks)

    def simulated(reporter: Reporter, folder: Path | None) -> Result:
        if not as_json and hook is None and loaded.fabric not in ESTIMATORS:
            reporter = OutlookReporter(reporter, loaded)
        with naming(scenario):
            return simulate.run(loaded, on_built=hook, progress=reporter, out=folder)

    folder = default_folder(loaded.name, what_was_set(changes))
    present(simulated, folder, out, as_json, loaded.resolved)
