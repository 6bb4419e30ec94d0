"""What the ranks do: one workload, or several jobs with a workload each."""

from __future__ import annotations

import random
from collections.abc import Iterator, Mapping, Sequence
from fractions import Fraction
from typing import TYPE_CHECKING, Annotated, Any, Literal, NamedTuple, Union

from pydantic import BeforeValidator, Field, PlainSerializer, WithJsonSchema

from frontend.collectives.choices import CollectiveAlgorithms
from frontend.errors import one_of
from frontend.placements import PLACEMENTS
from frontend.scenario.transport import Transport, given_keys
from frontend.schema.base import Count, Iterations, Model, Whole
from frontend.schema.events import RankList
from frontend.schema.ports import TrafficClass
from frontend.schema.quantities import PositiveSize, PositiveTime, Time
from frontend.schema.training import TrainingWorkload
from frontend.schema.workload import DlrmWorkload, MoeWorkload
from frontend.workloads import WORKLOADS
from frontend.workloads.chakra import ChakraWorkload
from frontend.workloads.collective import CollectiveWorkload
from frontend.workloads.goal import GoalWorkload
from frontend.workloads.registry import WorkloadKind

if TYPE_CHECKING:
    # A type checker sees the models of this package, not those of installed plug-ins.
    Workload = (
        CollectiveWorkload
        | DlrmWorkload
        | MoeWorkload
        | TrainingWorkload
        | ChakraWorkload
        | GoalWorkload
    )
else:
    Workload = Union[tuple(entry.model for entry in WORKLOADS.values())]  # noqa: UP007

Policy = Annotated[str, WithJsonSchema({"enum": list(PLACEMENTS), "type": "string"})]
"""How ranks are chosen for a job among those that are free."""


def _placement(value: Any) -> Any:
    """Check a placement at once, as a union of types has an error for each of them."""
    if isinstance(value, str) and value in PLACEMENTS:
        return value
    if not isinstance(value, list | tuple):
        if (problem := PLACEMENTS.problem(value)) is not None:
            raise ValueError(problem)
        text = one_of(value, tuple(PLACEMENTS))
        raise ValueError(text if text.endswith("?") else f"{text}, or a list of ranks")
    if not value or any(type(rank) is not int or rank < 0 for rank in value):
        raise ValueError("expected ranks, which are whole numbers from 0 on")
    if len(set(value)) < len(value):
        raise ValueError("expected each rank once")
    return tuple(value)


Placement = Annotated[
    Policy | tuple[Whole, ...],
    BeforeValidator(_placement),
    PlainSerializer(lambda value: list(value) if isinstance(value, tuple) else value),
]


def default_collective(data: dict[str, Any]) -> CollectiveAlgorithms | None:
    """Return the default of `collective` beside a workload."""
    workload = data.get("workload")
    return WORKLOADS[workload.kind].default_collective() if workload is not None else None


Queueing = Literal["none", "fifo", "backfill", "in_turn"]
"""What happens to jobs for which too few ranks are free."""


class Arrivals(Model):
    """Several jobs of the same kind that arrive at random times (a Poisson process)."""

    count: Annotated[Count, Field(le=65536)]
    """Number of jobs. They are called by the name of the job and a number from 0 on."""
    interval: PositiveTime
    """Mean time between two arrivals, and between `arrival` and the first one. The times follow an
    exponential distribution, as the seed of the scenario says."""


class Mix(Model):
    """Jobs of several kinds, which are the entries of `jobs`, in random order."""

    count: Annotated[Count, Field(le=65536)]
    """Number of jobs. How many are of each kind follows from `jobs[].share`, rounded by the
    largest remainder. They are called by the name of their kind and a number from 0 on."""
    interval: Time = Time.parse("0s")
    """Mean time between two arrivals, of which the first is at once; to all of them, `arrival` of
    the kind is added. The times follow an exponential distribution, as the seed of the scenario
    says, and so does the order of the kinds."""


class Checkpoint(Model):
    """A checkpoint on its way between a job and a storage."""

    bytes: PositiveSize
    """Size of the checkpoint. Each rank of the job and each rank of the storage exchange an equal
    part, rounded up to whole bytes, all at the same time and over the network."""
    storage: RankList
    """Ranks of the topology that have it. No job has one of them; several jobs can have the same
    storage."""


class WrittenCheckpoint(Checkpoint):
    """A checkpoint that a job writes over the network."""

    stall: Time | None = None
    """null: the job goes on when the storage has all of it. A time: it stops for this time, such as
    for the copy to the memory of the hosts, and goes on while the checkpoint is written. Before it
    stops for the next one, it waits for this one."""


class Recovery(Model):
    """How a job goes on after a failure."""

    timeout: Time | None = None
    """For how long its connections try to reach each other while failures of links or switches cut
    some of its ranks off; then the job fails, as with a failure of hosts, until they reach each
    other again. null: for as long as it takes."""

    interval: Count | None = None
    """Iterations between two checkpoints. After a failure, the job repeats the iterations since the
    last one; null: no checkpoints, it begins again."""
    write: WrittenCheckpoint | None = None
    """What it writes over the network after each `interval` iterations. The time for which it waits
    counts to the iteration; null: writing takes no time."""
    restart: Time = Time.parse("0s")
    """Time from when all of its ranks are up until it begins to read the checkpoint."""
    restore: Checkpoint | None = None
    """The checkpoint that it reads over the network; null: reading takes no time."""

    @property
    def writes_beside(self) -> bool:
        """Whether it goes on while a checkpoint is written."""
        return self.write is not None and self.write.stall is not None


class Job(Model):
    """One of several jobs that share the network: a workload on ranks of its own."""

    name: Annotated[str, Field(pattern=r"^[A-Za-z0-9_]+$", max_length=100)]
    """Name of the job: letters, digits and underscores."""
    ranks: Count | None = None
    """Number of ranks; null: those that `placement` lists."""
    placement: Placement = "packed"
    """The ranks of the topology that are the job's ranks 0, 1, …: a list, or how they are chosen
    among those that are free. packed: the lowest ones. spread: at equal distances. by_rail: those
    of rail 0, then those of rail 1, …; a rail has the GPUs at the same place of each server.
    by_pod: those of the fullest pod that has enough, otherwise of as few pods as possible; a pod
    is what the top switches join, or else a server. random: any, in any order, as the seed says."""
    rank_order: Literal["placed", "network"] = "placed"
    """The order of these ranks in the job. placed: as `placement` has them. network: the first one
    stays the first, and each is followed by one that is near it in the network, so that a ring of
    all ranks is short; near means that the links between them are few and fast."""
    arrival: Time = Time.parse("0s")
    """Time from which on the job can start."""
    arrivals: Arrivals | None = None
    """Jobs like this one that arrive from `arrival` on, in place of one; null: one. Entries with
    arrivals of their own together are a mix of jobs, whose shares are their rates."""
    share: Annotated[float, Field(gt=0)] = 1.0
    """With `mix`: how many of its jobs are of this kind, in proportion to the other kinds."""
    traffic_class: TrafficClass | None = None
    """Priority of its packets, on `express` and `flow`: a port sends those of a higher class first.
    On `express`, each class has an egress queue of its own, with the buffer and the ECN threshold
    of the link; on `flow`, lower classes share what higher ones leave of a link. ACKs have the
    class of the data, but those of RoCE that go first still do. null: 0 for tcp, 3 for roce."""
    route: Whole = 0
    """Selects paths: where the messages of a pair can take several, the job takes those that its
    messages would take so many routes later. With a hash, that is another hash."""
    transport: Annotated[
        Transport | None, PlainSerializer(given_keys, return_type=dict[str, Any] | None)
    ] = None
    """How its connections differ from `transport` of the scenario, in what the two ends do: the
    congestion control, its parameters and rates, windows, timeouts, ACKs and recovery. What it does
    not give is as there. It can have another protocol, too, on `express`, `flow` and `analytical`;
    then what it does not give is the default. All connections of a protocol have the same format of
    packets, and switches do the same for them. null: no difference."""
    restore: Checkpoint | None = None
    """The checkpoint that the job reads over the network before its first iteration, to which the
    time counts; null: none."""
    recovery: Recovery = Recovery()
    """How the job goes on after a failure of its hosts (`host_down`, `failures`)."""
    expected: PositiveTime | None = None
    """How long the job is expected to run, for `queueing: backfill`; null: not known."""
    iterations: Iterations | None = None
    """Number of iterations: of training, in place of `workload.iterations`; or how often the job
    does what its workload says, such as a file, where each rank begins again as soon as it is done.
    null: as the workload says."""
    workload: Workload = Field(discriminator="kind")
    """What the ranks of the job do. Its ranks are those of the job, from 0 on."""
    collective: CollectiveAlgorithms | None = Field(default_factory=default_collective)
    """Collective algorithms of the job, if its workload has several collectives."""

    @property
    def checkpoints(self) -> dict[str, Checkpoint]:
        """What it reads and writes over the network, by key path."""
        found = {
            "restore": self.restore,
            "recovery.restore": self.recovery.restore,
            "recovery.write": self.recovery.write,
        }
        return {key: one for key, one in found.items() if one is not None}


class Work(NamedTuple):
    """A workload of a scenario, and the job that it belongs to."""

    kind: WorkloadKind[Any]
    workload: Any
    """An instance of `kind.model`."""
    collective: CollectiveAlgorithms | None
    prefix: str = ""
    """Key path of the job, with a dot at its end; empty without jobs."""
    job: Job | None = None
    label: str = ""
    """Name of the entry of `jobs`, which several jobs can have."""

    def path(self, path: str) -> str:
        """Return where a key path that the kind of the workload names is in the scenario."""
        own = path.partition(".")[0] in ("workload", "collective")
        return self.prefix + path if own else path

    @property
    def entry(self) -> int:
        """Index in `jobs` of the entry that the job belongs to."""
        return int(self.prefix.split(".")[1])


def job_of(work: Work) -> Job:
    """Return the job of a workload that has one."""
    assert work.job is not None
    return work.job


def work_of_job(number: int, label: str, job: Job) -> Work:
    """Return the workload of a job, with the job's number of iterations if the kind has any."""
    workload: Any = job.workload
    if job.iterations is not None and "iterations" in type(workload).model_fields:
        workload = workload.model_copy(update={"iterations": job.iterations})
    kind = WORKLOADS[workload.kind]
    return Work(kind, workload, job.collective, f"jobs.{number}.", job, label)


SINGLE = {"arrivals": None, "share": 1.0}
"""The keys of an entry of `jobs` that is one job."""


def all_jobs(jobs: Sequence[Job], mix: Mix | None, seed: int) -> Iterator[tuple[int, Job]]:
    """Yield every job with the index of its entry, to which several jobs can belong."""
    if mix is not None:
        yield from _mixed(jobs, mix, seed)
        return
    for entry, job in enumerate(jobs):
        if job.arrivals is None:
            yield entry, job
            continue
        draw, time = random.Random(f"arrivals {seed} {entry}"), int(job.arrival)
        for number in range(job.arrivals.count):
            time += round(draw.expovariate(1 / job.arrivals.interval))
            yield entry, _single(job, number, time)


def _mixed(jobs: Sequence[Job], mix: Mix, seed: int) -> Iterator[tuple[int, Job]]:
    draw, time = random.Random(seed), 0
    entries = _entries([job.share for job in jobs], mix.count)
    draw.shuffle(entries)
    for number, entry in enumerate(entries):
        if number and mix.interval:
            time += round(draw.expovariate(1 / mix.interval))
        yield entry, _single(jobs[entry], number, time + int(jobs[entry].arrival))


def _entries(shares: Sequence[float], count: int) -> list[int]:
    """Return the entry of each of several jobs, as the shares say, by the largest remainder."""
    parts = [Fraction(str(share)) for share in shares]
    exact = [part * count / sum(parts) for part in parts]
    numbers = [int(amount) for amount in exact]
    by_remainder = sorted(range(len(parts)), key=lambda entry: numbers[entry] - exact[entry])
    for entry in by_remainder[: count - sum(numbers)]:
        numbers[entry] += 1
    return [entry for entry, number in enumerate(numbers) for _ in range(number)]


def _single(job: Job, number: int, arrival: int) -> Job:
    one = {"name": f"{job.name}_{number}", "arrival": Time(arrival)}
    return job.model_copy(update=one | SINGLE)


def parts_with_workloads(data: Mapping[str, Any]) -> list[Mapping[str, Any]]:
    """Return the parts of a scenario's content, checked or not, that may have a workload."""
    jobs = data.get("jobs")
    listed = jobs if isinstance(jobs, list | tuple) else ()
    return [data, *(job for job in listed if isinstance(job, Mapping))]
