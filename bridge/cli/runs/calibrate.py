"""``cosim calibrate``: fit the hosts of a cluster to what nccl-tests printed there."""

from __future__ import annotations

from pathlib import Path

import click

from bridge.cli.options import existing_file, naming


@click.command("calibrate")
@click.argument("logs", metavar="LOG...", nargs=-1, required=True, type=existing_file)
@click.option("--scenario", metavar="FILE", type=existing_file,
              help="The cluster; by default the servers that the first LOG names.")  # fmt: skip
@click.option("--program", default="", metavar="NAME",
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
    rates inside servers and between them, each over what NCCL's tuner expects. With --both, the
    table has all sizes, each predicted with the numbers that fit the other half; where the numbers
    of both halves differ, the sizes do not tell them. With --out, a scenario has those of the
    first half."""
    from bridge.batch.calibrate import (
        both_halves,
        calibrate,
        calibrated,
        findings,
        read_log,
        scenario_of,
    )
    from bridge.batch.scenario_file import scenario_yaml
    from bridge.files import write_whole
    from frontend.loading.load import Content, read_scenario

    read = [read_log(log, program) for log in logs]
    given = read_scenario(scenario) if scenario else None
    content = given or Content(scenario_of(read[0]), "", {})
    cases = [(content, log) for log in read]
    with naming(scenario or logs[0]):
        fits = both_halves(cases) if both else (calibrate(cases),)
    times = {key: time for fit in fits for key, time in fit.times.items()}
    names = {key: name for fit in fits for key, name in fit.names.items()}
    errors = []
    for log in read:
        what = "each size by numbers that fit the others" if both else "sizes that were not fitted"
        click.echo(f"# {log.program}, {log.file}: {what}")
        click.echo(f"#{'size':>12} {'measured':>10} {'predicted':>10} {'error':>8}  nccl")
        click.echo(f"#{'(B)':>12} {'(us)':>10} {'(us)':>10}")
        for size, measured in log.times.items():
            if (log.file, size) in times:
                time = times[log.file, size]
                errors.append(abs(time / measured - 1))
                click.echo(
                    f"{size:>13} {measured:>10.5g} {time:>10.5g} "
                    f"{100 * (time / measured - 1):>+7.1f}%  {names[log.file, size]}"
                )
    click.echo(f"# mean error {100 * sum(errors) / len(errors):.1f} % of {len(errors)} sizes")
    for prefix, fit in zip(("", "# of the other half: "), fits, strict=False):
        numbers = ", ".join(f"{name}: {value}" for name, value in fit.factors.items())
        click.echo(f"{prefix}nccl: {{{numbers}}}")
    click.echo(f"# {findings(fits[0].factors)}")
    if out is not None:
        write_whole(out, scenario_yaml(calibrated(content, read, fits[0])))
