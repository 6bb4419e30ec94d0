"""``cosim calibrate``: fit the hosts of a cluster to what nccl-tests printed there."""

from __future__ import annotations

from contextlib import nullcontext
from pathlib import Path
from typing import TYPE_CHECKING

import click

from bridge.cli.options import existing_file, naming

if TYPE_CHECKING:
    from bridge.batch.calibrate import Fit, Log


@click.command("calibrate")
@click.argument("logs", metavar="LOG...", nargs=-1, required=True, type=existing_file)
@click.option("--scenario", metavar="FILE", type=existing_file,
              help="The cluster; by default the servers that the first LOG names.")  # fmt: skip
@click.option("--program", default="", show_default=False, metavar="NAME",
              help="Program that printed the logs, if they do not name it.")  # fmt: skip
@click.option("-o", "--out", type=click.Path(path_type=Path),
              help="File for the scenario with the numbers of the hosts.")  # fmt: skip
def calibrate_command(
    logs: tuple[Path, ...], scenario: Path | None, program: str, out: Path | None
) -> None:
    """Fit four numbers of the hosts to what nccl-tests printed, and predict the rest.

    Each LOG is the output of a program of nccl-tests, or of an OSU micro-benchmark of collectives.
    Half of its sizes are fitted; the table shows the measured and the predicted time of the other
    half. The numbers are those of the algorithm nccl: the time to issue and of a step, and the
    rates inside servers and between them, each over what NCCL's tuner expects. Lines of NCCL_DEBUG
    in a LOG tell the version of NCCL, what it was allowed, and what it chose. With --out, a
    scenario has the numbers."""
    from bridge.batch.calibrate import calibrate, calibrated, read_log, scenario_of, with_said
    from bridge.batch.scenario_file import scenario_yaml
    from bridge.files import write_whole
    from frontend.loading.load import Content, read_scenario

    read = [read_log(log, program) for log in logs]
    content = read_scenario(scenario) if scenario else Content(scenario_of(read[0]), "", {})
    cases = [(with_said(content, log), log) for log in read]
    with naming(scenario) if scenario else nullcontext():
        fit = calibrate(cases)
    for log in read:
        _show(log, fit)
    errors = [abs(error) for log in read for error in fit.errors(log).values()]
    click.echo(f"# mean error {100 * sum(errors) / len(errors):.1f} % of {len(errors)} sizes")
    numbers = ", ".join(f"{name}: {value}" for name, value in fit.factors.items())
    click.echo(f"nccl: {{{numbers}}}")
    if out is not None:
        write_whole(out, scenario_yaml(calibrated(cases[0][0], read, fit)))


def _show(log: Log, fit: Fit) -> None:
    """Print what a log says, and the sizes of it that were not fitted."""
    click.echo(f"# {log.program}, {log.file}: sizes that were not fitted")
    said, unused = log.said.options(log.program), log.said.unused()
    if said:
        texts = [
            f"{key} {value if key == 'version' else ', '.join(value)}"
            for key, value in said.items()
        ]
        own = ".".join(map(str, log.said.version))
        nearest = f" (nearest to {own})" if own != said.get("version", own) else ""
        click.echo(f"# the log says: {'; '.join(texts)}{nearest}")
    if unused:
        click.echo(f"# of the log, without effect here: {', '.join(unused)}")
    click.echo(f"#{'size':>12} {'measured':>10} {'predicted':>10} {'error':>8}  nccl")
    click.echo(f"#{'(B)':>12} {'(us)':>10} {'(us)':>10}")
    chosen = log.said.chosen(log.program, len(log.hosts))
    names = {size: fit.names[log.file, size] for size in log.times}
    for size, error in fit.errors(log).items():
        own = chosen.get(size, names[size])
        click.echo(
            f"{size:>13} {log.times[size]:>10.5g} {fit.times[log.file, size]:>10.5g} "
            f"{100 * error:>+7.1f}%  {names[size]}{'' if own == names[size] else f' (log: {own})'}"
        )
    if both := chosen.keys() & names.keys():
        same = sum(chosen[size] == names[size] for size in both)
        click.echo(f"# NCCL chose as predicted for {same} of {len(both)} sizes")
