"""Public traces of clusters: when jobs came, how many GPUs they had, and for how long.

- Alibaba, cluster-trace-gpu-v2020: `pai_task_table.csv`, and if you like `pai_job_table.csv`, which
  tells when a job was submitted, and `pai_group_tag_table.csv`, which tells its workload. These
  files have no line with names of columns; the README beside them lists the columns.
- Alibaba, cluster-trace-gpu-v2023: `openb_pod_list_*.csv`, as far as they have times.
- Microsoft, Philly: `cluster_job_log`, a JSON list.

Sources: https://github.com/alibaba/clusterdata, https://github.com/msr-fiddle/philly-traces
"""

from __future__ import annotations

import csv
import math
from collections.abc import Iterable, Mapping, Sequence
from datetime import datetime
from fnmatch import fnmatchcase
from pathlib import Path
from typing import Any, NamedTuple

from frontend import units
from frontend.errors import ScenarioError
from frontend.formats.readable import read_json, read_text
from frontend.yaml_document import read as read_yaml

_TASKS: tuple[str, ...] = ("job_name", "task_name", "inst_num", "status", "start_time", "end_time")
_TASKS += ("plan_cpu", "plan_mem", "plan_gpu", "gpu_type")
_JOBS = ("job_name", "inst_id", "user", "status", "start_time", "end_time")
_TAGS = ("inst_id", "user", "gpu_type_spec", "group", "workload")
_PODS = ("name", "num_gpu", "qos", "creation_time", "deletion_time", "scheduled_time")
_TABLES = {len(table): table for table in (_TASKS, _JOBS, _TAGS)}
_FILES = (
    "expected pai_task_table.csv, pai_job_table.csv, pai_group_tag_table.csv, an openb_pod_list "
)
_FILES += "with times, or Philly's cluster_job_log"

_MOST_S = 10**6
"""The longest time of a scenario."""

_MOST_ITERATIONS = 100_000

Row = Mapping[str, str]


class TracedJob(NamedTuple):
    """A job of a trace."""

    arrival_s: float
    time_s: float
    """How long it ran."""
    gpus: int
    """Number of GPUs; parts of a GPU count as one."""
    model: str
    """What the trace says about what it did: a workload, the names of its tasks, its quality of
    service, or its virtual cluster."""


def read_traces(paths: Sequence[Path]) -> list[TracedJob]:
    """Return the jobs of a trace that had GPUs and ended, in the order of their arrivals.

    Parameters
    ----------
    paths : sequence of Path
        The tables of one trace.

    Raises
    ------
    ScenarioError
        If a file is not such a table.
    """
    tables: dict[tuple[str, ...], list[Row]] = {}
    jobs: list[TracedJob] = []
    for path in paths:
        if read_text(path).lstrip().startswith("["):
            jobs += _philly(path)
            continue
        names, rows = _table(path)
        if names == _PODS:
            jobs += [job for row in rows if (job := _pod(path, row)) is not None]
        else:
            tables[names] = rows
    if _TASKS in tables:
        jobs += _pai(tables)
    elif tables:
        raise ScenarioError(
            f"{paths[0]}: expected pai_task_table.csv, too: it has the GPUs of jobs"
        )
    return sorted(jobs)


def _table(path: Path) -> tuple[tuple[str, ...], list[Row]]:
    rows = list(csv.reader(read_text(path).splitlines()))
    first = rows[0] if rows else []
    if set(_PODS) <= set(first):
        return _PODS, [dict(zip(first, row, strict=False)) for row in rows[1:]]
    names = _TABLES.get(len(first))
    if names is None:
        raise ScenarioError(f"{path}: {_FILES}")
    for number, row in enumerate(rows, start=1):
        if len(row) != len(names):
            expected = f"expected {len(names)} columns, as in the first line"
            raise ScenarioError(f"{path}:{number}: {len(row)} columns: {expected}")
    return names, [dict(zip(names, row, strict=True)) for row in rows if tuple(row) != names]


def _number(path: Path, row: Row, key: str) -> float | None:
    """Return a number of a row; None if it has none."""
    text = row.get(key, "").strip()
    if not text:
        return None
    try:
        value = float(text)
    except ValueError:
        value = math.nan
    if not math.isfinite(value) or value < 0:
        name = next(iter(row.values()))
        raise ScenarioError(f"{path}: {name}: {key}: value {text}: expected a number from 0 on")
    return value


def _pod(path: Path, row: Row) -> TracedJob | None:
    gpus = _number(path, row, "num_gpu")
    arrival, begin, end = (
        _number(path, row, f"{key}_time") for key in ("creation", "scheduled", "deletion")
    )
    if not gpus or arrival is None or begin is None or end is None or end <= begin:
        return None
    return TracedJob(arrival, end - begin, math.ceil(gpus), row["qos"])


def _pai(tables: Mapping[tuple[str, ...], Sequence[Row]]) -> Iterable[TracedJob]:
    tags = {row["inst_id"]: row["workload"] for row in tables.get(_TAGS, ())}
    submitted = {row["job_name"]: row for row in tables.get(_JOBS, ())}
    tasks: dict[str, list[Row]] = {}
    for row in tables[_TASKS]:
        tasks.setdefault(row["job_name"], []).append(row)
    path = Path("pai_task_table.csv")
    for name, rows in tasks.items():
        begins = [_number(path, row, "start_time") for row in rows]
        ends = [_number(path, row, "end_time") for row in rows]
        known = [end for end in ends if end], [begin for begin in begins if begin is not None]
        gpus = sum(
            math.ceil((_number(path, row, "inst_num") or 1) * (_number(path, row, "plan_gpu") or 0))
            for row in rows
        )
        if not gpus or len(known[0]) < len(rows) or len(known[1]) < len(rows):
            continue  # it had no GPUs, or did not end
        begin, end = min(known[1]), max(known[0])
        job = submitted.get(name)
        arrival = None if job is None else _number(Path("pai_job_table.csv"), job, "start_time")
        model = "" if job is None else tags.get(job["inst_id"], "")
        if end > begin:
            named = model or "+".join(sorted({row["task_name"] for row in rows}))
            yield TracedJob(
                begin if arrival is None else arrival, end - begin, math.ceil(gpus / 100), named
            )


def _philly(path: Path) -> Iterable[TracedJob]:
    for number, job in enumerate(read_json(path)):
        try:
            attempts = [
                (_seconds(one["start_time"]), _seconds(one["end_time"]), one["detail"])
                for one in job["attempts"]
                if _is_known(one["start_time"]) and _is_known(one["end_time"])
            ]
            if not attempts or not _is_known(job["submitted_time"]):
                continue
            gpus = sum(len(server["gpus"]) for server in attempts[-1][2])
            time = sum(end - begin for begin, end, _ in attempts)
            arrival, model = _seconds(job["submitted_time"]), str(job["vc"])
        except (KeyError, TypeError, ValueError) as error:
            raise ScenarioError(
                f"{path}: {number}: {error}: expected a job of Philly's cluster_job_log"
            ) from None
        if gpus and time > 0:
            yield TracedJob(arrival, time, gpus, model)


def _is_known(time: object) -> bool:
    return time is not None and time != "None"


def _seconds(time: str) -> float:
    return (datetime.fromisoformat(time) - datetime(1970, 1, 1)).total_seconds()


class _Kind(NamedTuple):
    """A row of the table of models."""

    where: str
    """Place of the row, for messages."""
    names: tuple[str, ...]
    gpus: tuple[int, int]
    iteration_s: float
    job: Mapping[str, Any]

    def suits(self, job: TracedJob) -> bool:
        least, most = self.gpus
        return least <= job.gpus <= most and any(fnmatchcase(job.model, one) for one in self.names)

    def iterations(self, job: TracedJob) -> int:
        """Return how many iterations fill the time of a job, which suits."""
        count = max(1, round(job.time_s / self.iteration_s))
        if count > _MOST_ITERATIONS:
            raise ScenarioError(
                f"{self.where}.iteration: value {self.iteration_s:g}s: expected at least "
                f"{math.ceil(job.time_s / _MOST_ITERATIONS * 1000)}ms, because a job takes "
                f"{job.time_s:g} s, and has at most {_MOST_ITERATIONS} iterations"
            )
        return count


class ModelTable(NamedTuple):
    """What the jobs of a trace do, and the rest of the scenario."""

    scenario: Mapping[str, Any]
    kinds: Sequence[_Kind]


def read_table(path: Path) -> ModelTable:
    """Return the table that tells what jobs of a trace do.

    It is a scenario with `models` in place of `jobs`: a list with patterns of `names`, the least
    and the greatest number of `gpus`, the time of an `iteration`, and the keys of a `job`.

    Raises
    ------
    ScenarioError
        If it is no such table.
    """
    document = read_yaml(read_text(path), str(path)).data
    rows = document.get("models") if isinstance(document, dict) else None
    if not isinstance(rows, list) or not rows:
        raise ScenarioError(
            f"{path}: models: expected a list of models, and the keys of a scenario"
        )
    kinds = [_kind(f"{path}: models.{number}", row) for number, row in enumerate(rows)]
    return ModelTable({key: document[key] for key in document if key != "models"}, kinds)


def _kind(where: str, row: Any) -> _Kind:
    if not isinstance(row, dict):
        raise ScenarioError(f"{where}: expected names, gpus, iteration and job")
    for key in row:
        if key not in ("names", "gpus", "iteration", "job"):
            raise ScenarioError(f"{where}.{key}: expected names, gpus, iteration or job")
    names, gpus = row.get("names", ["*"]), row.get("gpus", [1, 2**31])
    if not isinstance(names, list) or not all(isinstance(one, str) for one in names):
        raise ScenarioError(f"{where}.names: value {names}: expected a list of patterns")
    if not isinstance(gpus, list) or len(gpus) != 2 or not all(type(one) is int for one in gpus):
        raise ScenarioError(f"{where}.gpus: value {gpus}: expected the least and greatest number")
    job = row.get("job")
    if not isinstance(job, dict) or "workload" not in job:
        raise ScenarioError(f"{where}.job: expected the keys of a job, with its workload")
    try:
        time = units.parse(row.get("iteration"), units.TIME)
    except ValueError as error:
        raise ScenarioError(f"{where}.iteration: value {row.get('iteration')}: {error}") from None
    if time <= 0:
        raise ScenarioError(f"{where}.iteration: value {row['iteration']}: expected more than 0s")
    return _Kind(where, tuple(names), (gpus[0], gpus[1]), time / 1e12, job)


def traced_scenario(
    jobs: Sequence[TracedJob], table: ModelTable, ranks: int
) -> tuple[dict[str, Any], list[str]]:
    """Return the content of a scenario with the jobs of a trace, and what it leaves out.

    Parameters
    ----------
    jobs : sequence of TracedJob
        The jobs, in the order of their arrivals. The first one arrives at 0.
    table : ModelTable
        What they do.
    ranks : int
        Ranks of the topology; larger jobs are left out.

    Raises
    ------
    ScenarioError
        If no job is left.
    """
    made: list[dict[str, Any]] = []
    large, late, unknown = 0, 0, list[str]()
    for number, job in enumerate(jobs):
        kind = next((one for one in table.kinds if one.suits(job)), None)
        if kind is None:
            unknown.append(job.model)
        elif job.gpus > ranks:
            large += 1
        elif max(job.arrival_s - jobs[0].arrival_s, job.time_s) > _MOST_S:
            late += 1
        else:
            arrival = round((job.arrival_s - jobs[0].arrival_s) * 1000)
            own = {"name": f"job_{number}", "ranks": job.gpus, "arrival": f"{arrival}ms"}
            own["iterations"] = kind.iterations(job)
            made.append(own | {"expected": f"{round(job.time_s * 1000)}ms"} | dict(kind.job))
    notes = []
    if large:
        notes.append(f"{large} jobs with more GPUs than the {ranks} of the topology are left out")
    if late:
        notes.append(f"{late} jobs that arrive after {_MOST_S} s, or run for longer, are left out")
    if unknown:
        names = ", ".join(sorted(set(unknown))[:5])
        notes.append(f"{len(unknown)} jobs that no row of models suits are left out: {names}")
    if not made:
        raise ScenarioError(f"no job of the trace is left: {'; '.join(notes) or 'it has none'}")
    return {"queueing": "fifo"} | dict(table.scenario) | {"jobs": made}, notes
