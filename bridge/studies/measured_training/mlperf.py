"""Read training steps and layouts from the result logs of MLPerf Training, as rows of `runs.csv`.

``python -m bridge.studies.measured_training.mlperf CLONE BENCHMARK …`` prints a row for each
result of a benchmark in a clone of ``mlcommons/training_results_vX.Y``. Files come from git's
objects, so the clone may be bare. ``--layouts SYSTEM`` reads no result of systems of this name,
but only their layouts and batches: for predictions that are made before the measurement is known.

A log has lines of JSON after ``:::MLLOG``. ``tracked_stats`` has the time of training steps, or
samples a second. A step is the median of all such values of all logs of a system. Two benchmarks
differ:

- Logs of ``llama2_70b_lora`` have the mean step of a block, which is the time between two
  evaluations, with what it takes to go on after one: as many steps as 384 samples need, so 42 of 72
  GPUs and 6 of 512. They also have the loss of every tenth step. There, each time between two
  losses of a block, divided by its steps, is a value.
- Logs of ``dlrm_dcnv2`` have the rate or the mean step of the whole run only, with its
  evaluations; there, each time between two evaluations, divided by its steps, is a value.

The layout is in ``config_*.sh`` of the submission, and the machine in ``systems/SYSTEM.json``.
"""

from __future__ import annotations

import csv
import json
import re
import subprocess
import sys
from collections.abc import Iterator, Mapping, Sequence
from fnmatch import fnmatch
from functools import cached_property
from pathlib import Path, PurePosixPath
from statistics import median
from typing import Any, NamedTuple

import click

_EXPORT = re.compile(r"""^\s*export\s+(\w+)=["']?(?:\$\{\w+:=)?([\w.-]*)""")
_SOURCE = re.compile(r"^\s*source\s+.*/([\w.-]+\.sh)\s*$")
_COUNT = re.compile(r"\d+")
STEP_KEYS = ("train_step_time", "train_step_timing in s")
"""What rounds call the time of a step [s]."""
LOSS = "train_loss"
SAMPLE_KEYS = ("global_batch_size", "gradient_accumulation_steps", "max_sequence_length")


class Measured(NamedTuple):
    """What the logs of a system say."""

    said: Mapping[str, Any]
    """Values of `SAMPLE_KEYS`."""
    step_s: float | None
    """Median step; None without a time or a rate."""
    values: int
    """Number of values of the median."""
    statistic: str


class Clone:
    """A clone of a round's results."""

    def __init__(self, folder: Path) -> None:
        self.folder = folder

    def git(self, *words: str) -> str:
        """Return the output of git."""
        command = ["git", "-C", str(self.folder), *words]
        return subprocess.run(command, check=True, capture_output=True, text=True).stdout

    @cached_property
    def files(self) -> list[PurePosixPath]:
        """All files of the newest commit."""
        names = self.git("ls-tree", "-r", "-z", "--name-only", "HEAD").split("\0")
        return [PurePosixPath(name) for name in names if name]

    @cached_property
    def commit(self) -> str:
        """The newest commit."""
        return self.git("rev-parse", "HEAD").strip()

    def text(self, file: PurePosixPath) -> str:
        """Return a file."""
        return self.git("show", f"HEAD:{file}")

    def results(self, benchmark: str) -> Iterator[PurePosixPath]:
        """Yield the folders with the logs of a benchmark."""
        yield from sorted(
            {
                file.parent
                for file in self.files
                if file.match("result_*.txt") and file.parent.name == benchmark
            }
        )

    def settings(self, config: PurePosixPath) -> dict[str, str]:
        """Return what a ``config_*.sh`` exports, with the files that it sources."""
        found: dict[str, str] = {}
        for line in self.text(config).splitlines():
            if sourced := _SOURCE.match(line):
                other = config.with_name(sourced[1])
                if other in self._known and other != config:
                    found |= self.settings(other)
            elif exported := _EXPORT.match(line):
                found[exported[1]] = exported[2]
        return found

    @cached_property
    def _known(self) -> set[PurePosixPath]:
        return set(self.files)


def configs(clone: Clone, folder: PurePosixPath, machine: Mapping[str, Any]) -> list[PurePosixPath]:
    """Return the ``config_*.sh`` that a result can have had, the likeliest first.

    A README with the name of the system says which; otherwise, the numbers of nodes and of
    accelerators have to match.
    """
    submitter, system, benchmark = folder.parts[0], folder.parts[-2], folder.name
    own = [
        file
        for file in clone.files
        if file.parts[0] == submitter and any(part.startswith(benchmark) for part in file.parts)
    ]
    every = [file for file in own if file.match("config_*.sh") and "common" not in file.name]
    for readme in own:
        if readme.name == f"README-{system}.md":
            named = re.findall(r"config_[\w.-]+\.sh", clone.text(readme))
            named_files = [file for file in every if file.name in named]
            beside = [file for file in named_files if file.parent == readme.parent]
            return beside or named_files
    nodes = _count(machine["number_of_nodes"])
    each = _count(machine["accelerators_per_node"])

    def fits(file: PurePosixPath) -> bool:
        settings = clone.settings(file)
        has = int(settings.get("DGXNNODES") or 0)
        return has == nodes and settings.get("DGXNGPU", str(each)) in ("", str(each))

    every = [file for file in every if fits(file)]
    return [file for file in every if system in file.parts] or every


def _count(text: Any) -> int:
    found = _COUNT.search(str(text))
    return int(found[0]) if found else 0


def measured(clone: Clone, folder: PurePosixPath) -> Measured:
    """Return what the logs of a result say."""
    said: dict[str, Any] = {}
    steps: list[float] = []
    rates: list[float] = []
    between: list[float] = []
    inside: list[float] = []
    logs = [one for one in clone.files if one.parent == folder and one.match("result_*.txt")]
    for file in logs:
        lines = (line.partition(":::MLLOG") for line in clone.text(file).splitlines())
        entries = [json.loads(text) for _, marker, text in lines if marker]
        for entry in entries:
            key, value = entry["key"], entry["value"]
            if key in SAMPLE_KEYS:
                said[key] = value
            elif key == "tracked_stats" and isinstance(value, dict):
                steps += [value[name] for name in STEP_KEYS if name in value]
                rates += [value["throughput"]] if "throughput" in value else []
        between += between_evaluations(entries)
        inside += inside_blocks(entries)
    if inside:
        return Measured(said, median(inside), len(inside), "median of steps inside blocks")
    if between and len(steps) + len(rates) <= len(logs):
        return Measured(said, median(between), len(between), "median time between evaluations")
    if steps:
        return Measured(said, median(steps), len(steps), "median step")
    if rates:
        step_s = said["global_batch_size"] / median(rates)
        return Measured(said, step_s, len(rates), "batch / median throughput")
    return Measured(said, None, 0, "")


def inside_blocks(entries: Sequence[Mapping[str, Any]]) -> Iterator[float]:
    """Yield the mean step between two losses of a block, if several steps pass between them."""
    batch = next((one["value"] for one in entries if one["key"] == "global_batch_size"), None)
    before: tuple[float, float] | None = None  # samples and milliseconds
    for entry in entries:
        if entry["key"] in ("block_start", "block_stop"):
            before = None
        stats = entry["value"] if entry["key"] == "tracked_stats" else {}
        if entry["key"] != LOSS and not (isinstance(stats, dict) and LOSS in stats):
            continue
        now = entry["metadata"].get("samples_count", 0), entry["time_ms"]
        if batch and before is not None and (steps := (now[0] - before[0]) / batch) > 1:
            yield (now[1] - before[1]) / 1e3 / steps
        before = now


def between_evaluations(entries: Sequence[Mapping[str, Any]]) -> Iterator[float]:
    """Yield the time of a step in each interval from one evaluation to the next one.

    Logs count evaluations in epochs, so the number of samples and the batch have to be there.
    """
    said = {entry["key"]: entry["value"] for entry in entries}
    if not {"train_samples", "global_batch_size"} <= said.keys():
        return
    epoch = -(-said["train_samples"] // said["global_batch_size"])
    stopped: Mapping[str, Any] | None = None
    for entry in entries:
        if entry["key"] == "eval_stop":
            stopped = entry
        elif entry["key"] == "eval_start" and stopped is not None:
            first, last = (one["metadata"].get("epoch_num", 0) for one in (stopped, entry))
            if last > first:
                yield (entry["time_ms"] - stopped["time_ms"]) / 1e3 / (last - first) / epoch


def row(clone: Clone, folder: PurePosixPath, hidden: Sequence[str]) -> dict[str, Any]:
    """Return the row of a result; without its measurement if its system is hidden."""
    submitter, system = folder.parts[0], folder.parts[-2]
    file = next(
        one
        for one in clone.files
        if one.parts[:2] == (submitter, "systems") and one.name == f"{system}.json"
    )
    machine = json.loads(clone.text(file))
    found = configs(clone, folder, machine)
    settings = clone.settings(found[0]) if found else {}
    blind = any(fnmatch(system, pattern) for pattern in hidden)
    seen = Measured({}, None, 0, "") if blind else measured(clone, folder)
    nodes, each = _count(machine["number_of_nodes"]), _count(machine["accelerators_per_node"])
    tp, pp, cp = (
        _count(settings.get(f"{name}_PARALLEL", settings.get(short, ""))) or 1
        for name, short in (("TENSOR_MODEL", "TP"), ("PIPELINE_MODEL", "PP"), ("CONTEXT", "CP"))
    )
    replicas = nodes * each // (tp * pp * cp)
    batch = _count(settings.get("MINIBS", "")) * replicas or _count(settings.get("BATCHSIZE", ""))
    return {
        "system": f"{submitter}/{system}",
        "benchmark": folder.name,
        "accelerator": machine["accelerator_model_name"],
        "nodes": nodes,
        "gpus": nodes * each,
        "tp": tp,
        "cp": cp,
        "pp": pp,
        "chunks": _count(settings.get("INTERLEAVED_PIPELINE", "")) or 1,
        "micro_batch": settings.get("MICRO_BATCH_SIZE", settings.get("MBS", "")),
        "global_batch": seen.said.get("global_batch_size", batch),
        "sequence": seen.said.get("max_sequence_length", ""),
        "precision": "fp4" if settings.get("FP4") == "True" else "fp8" if settings else "",
        "tp_overlap": settings.get("TP_COMM_OVERLAP", ""),
        "software": machine["framework"],
        "step_s": "" if seen.step_s is None else f"{seen.step_s:.5g}",
        "values": seen.values or "",
        "statistic": seen.statistic,
        "config": " ".join(map(str, found)),
        "network": machine.get("host_networking", ""),
    }


@click.command()
@click.argument("folder", type=click.Path(exists=True, file_okay=False, path_type=Path))
@click.argument("benchmarks", nargs=-1, required=True)
@click.option(
    "--layouts", multiple=True, help="Systems whose results are not read, such as *_n1024*."
)
def main(folder: Path, benchmarks: tuple[str, ...], layouts: tuple[str, ...]) -> None:
    """Print the results of benchmarks in a clone of mlcommons/training_results_vX.Y as CSV."""
    clone = Clone(folder)
    click.echo(f"commit {clone.commit}", err=True)
    rows = [row(clone, one, layouts) for name in benchmarks for one in clone.results(name)]
    if rows:
        writer = csv.DictWriter(sys.stdout, rows[0])
        writer.writeheader()
        writer.writerows(rows)


if __name__ == "__main__":
    main()
