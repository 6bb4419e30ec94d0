"""``cosim calibrate``: fit the hosts of a cluster to what nccl-tests printed there."""

from __future__ import annotations

from pathlib import Path
from typing import TYPE_CHECKING

import click

from bridge.cli.options import existing_file, naming

if TYPE_CHECKING:
    from bridge.batch.calibrate import Log


@click.command("calibrate")
@click.argument("logs", metavar="LOG...", nargs=-1, required=True, type=existing_file)
@click.option("--scenario", metavar="FILE", type=existing_file,
              help="The cluster; by default the servers that the first LOG names.")  # fmt: skip
@click.option("--program", default="", show_default=False, metavar="NAME",
              help="Program that printed the logs, if they do not name it.")  # fmt: skip
@click.option("--both", is_flag=True,
              help="Predict the other half, too, with numbers that fit the first.")  # fmt: skip
@click.option("-o", "--out", type=click.Path(path_type=Path),
              help="File for the scenario with the numbers of the hosts.")  # fmt: skip
def calibrate_command(
    logs: tuple[Path, ...], scenario: Path | None, program: str, both: bool, out: Path | None
) -> None:
    """Fit four numbers of the hosts to what nccl-tests printed, and predict the rest.

    Each LOG is the output of a program of nccl-tests, or of an OSU micro-benchmark of collectives.
    Half of its sizes are fitted; the table shows the measured and the predicted time of the other
    half. The numbers are those of the algorithm nccl: the time to issue and of a step, and the
    rates inside servers and between them, each over what NCCL's tuner expects. Lines of NCCL_DEBUG
    in a LOG tell the version of NCCL, what it was allowed, and what it chose. With --both, the
    table has all sizes, each predicted with the numbers that fit the other half; where the numbers
    of both halves differ, the sizes do not tell them. With --out, a scenario has those of the
    first half."""
    from bridge.batch import calibrate as calibration
    from bridge.batch.scenario_file import scenario_yaml
    from bridge.files import write_whole
    from frontend.loading.load import Content, read_scenario

    read = [calibration.read_log(log, program) for log in logs]
    given = read_scenario(scenario) if scenario else None
    content = given or Content(calibration.scenario_of(read[0]), "", {})
    cases = [(calibration.with_said(content, log), log) for log in read]
    with naming(scenario or logs[0]):
        fits = calibration.both_halves(cases) if both else (calibration.calibrate(cases),)
    times = {key: time for fit in fits for key, time in fit.times.items()}
    names = {key: name for fit in fits for key, name in fit.names.items()}
    measured_us = {(log.file, size): time for log in read for size, time in log.times.items()}
    errors = {key: time / measured_us[key] - 1 for key, time in times.items()}
    for log in read:
        what = "each size by numbers that fit the others" if both else "sizes that were not fitted"
        click.echo(f"# {log.program}, {log.file}: {what}")
        _show_said(log)
        chosen = log.said.chosen(log.program, len(log.hosts))
        click.echo(f"#{'size':>12} {'measured':>10} {'predicted':>10} {'error':>8}  nccl")
        click.echo(f"#{'(B)':>12} {'(us)':>10} {'(us)':>10}")
        told = same = 0
        for size, measured in log.times.items():
            key = log.file, size
            if key in times:
                own = chosen.get(size, "")
                told += own != ""
                same += own == names[key]
                click.echo(
                    f"{size:>13} {measured:>10.5g} {times[key]:>10.5g} {100 * errors[key]:>+7.1f}%"
                    f"  {names[key]}{f' (log: {own})' if own not in ('', names[key]) else ''}"
                )
        if told:
            click.echo(f"# NCCL chose as predicted for {same} of {told} sizes")
    mean = 100 * sum(map(abs, errors.values())) / len(errors)
    click.echo(f"# mean error {mean:.1f} % of {len(errors)} sizes")
    for prefix, fit in zip(("", "# of the other half: "), fits, strict=False):
        numbers = ", ".join(f"{name}: {value}" for name, value in fit.factors.items())
        click.echo(f"{prefix}nccl: {{{numbers}}}")
    click.echo(f"# {calibration.findings(fits[0].factors)}")
    if out is not None:
        write_whole(out, scenario_yaml(calibration.calibrated(cases[0][0], read, fits[0])))


def _show_said(log: Log) -> None:
    """Print what NCCL said in a log, and what of it has no effect here."""
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
