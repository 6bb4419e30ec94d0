"""Workload kind `cluster`: training jobs that share one network.

Jobs run on parts of the cluster, one job after another on each part. They arrive in the order of
their numbers, and job i uses the servers of job i - active. It starts on all of them at the same
time, once it has arrived and the previous job is done.

Optical switches may have to link a job's servers before it starts. With look-ahead, they begin when
the previous job starts. Without look-ahead, they begin when the previous job is done.

Source: W. Wang et al., "TopoOpt", NSDI 2023, section 5.6 and Appendix C.
"""

from __future__ import annotations

import random
from collections.abc import Sequence
from fractions import Fraction
from typing import Annotated, Any, Literal, NamedTuple

from pydantic import BeforeValidator, Field

from frontend.collectives.choices import CollectiveAlgorithms
from frontend.schema.base import Count, Model, Problems, Whole
from frontend.schema.quantities import Time
from frontend.schema.training import Training
from frontend.topologies import Layout, TopologyFamily, WorkloadDemand
from frontend.topologies.registry import Part
from frontend.workloads import training
from frontend.workloads.composition import Composition, Placed, Start, StartOf
from frontend.workloads.plan import Node, NodeType, Plan, Ranks
from frontend.workloads.registry import WorkloadKind


def _as_tuple(value: Any) -> Any:
    return tuple(value) if isinstance(value, list) else value


class JobKind(Training):
    """One kind of job: what it trains, and its share of the jobs."""

    name: Annotated[str, Field(pattern=r"^[A-Za-z0-9_]+$")]
    """Name of this kind of job; its jobs get this name and a number."""
    share: Annotated[float, Field(gt=0)] = 1.0
    """Number of jobs of this kind, in proportion to the other kinds."""


class Provisioning(Model):
    """Time to link a job's servers with optical switches (TopoOpt, Appendix C)."""

    latency: Time = Time.parse("120s")
    """Time to set the patch panel or optical switch before a job starts."""
    look_ahead: bool = True
    """Set the next job's links while the present job runs: every interface has a second port for
    them, and a 1×2 switch changes over when the present job is done."""
    switch: Time = Time.parse("5ms")
    """Time for which the 1×2 switches change over."""


class ClusterWorkload(Model):
    """Several training jobs share a cluster. When a job ends, the next one takes its servers."""

    kind: Literal["cluster"]
    """Several training jobs, each on servers of its own."""
    servers: Annotated[Count, Field(ge=2, le=65536)] = 16
    """Number of ranks (servers) of each job."""
    active: Annotated[Count, Field(le=65536)]
    """Number of jobs that run at the same time; job i runs on the servers of job i - active."""
    jobs: Annotated[Count, Field(le=65536)] | None = None
    """Total number of jobs; null: the number in `active`."""
    mix: Annotated[
        tuple[JobKind, ...], BeforeValidator(_as_tuple), Field(min_length=1, max_length=64)
    ]
    """The kinds of jobs. Their numbers follow the shares; their order is random."""
    interval: Time = Time.parse("0s")
    """Mean time between two arrivals. The times follow an exponential distribution."""
    placement: Literal["contiguous", "random"] = "contiguous"
    """Whether a job gets consecutive ranks or random ones."""
    draw: Whole = 1
    """Seed of the jobs' order, arrivals and placement."""
    provisioning: Provisioning | None = None
    """Time to link a job's servers before it starts; null: none."""


CLUSTER = "cluster"  # layer of the nodes that belong to no job


class Job(NamedTuple):
    """A training job."""

    name: str
    kind: int
    """Index of its kind in `workload.mix`."""
    arrival_ps: int
    """Arrival time."""
    members: tuple[int, ...]
    """Ranks of its servers."""
    turn: int
    """Position among the jobs on these servers, from 0."""


def jobs(workload: ClusterWorkload, ranks: int) -> list[Job]:
    """Return the jobs in the order in which they arrive.

    The number of jobs of a kind is proportional to its share. The largest-remainder method rounds
    these numbers.
    """
    draw = random.Random(workload.draw)
    count = workload.jobs or workload.active
    kinds = _kinds(workload.mix, count)
    draw.shuffle(kinds)
    order = list(range(ranks))
    if workload.placement == "random":
        draw.shuffle(order)
    result = []
    arrival = 0
    for number, kind in enumerate(kinds):
        if number and workload.interval:
            arrival += round(draw.expovariate(1 / workload.interval))
        place = number % workload.active * workload.servers
        members = tuple(order[place : place + workload.servers])
        name = f"{workload.mix[kind].name}_{number}"
        result.append(Job(name, kind, arrival, members, number // workload.active))
    return result


def _kinds(mix: Sequence[JobKind], count: int) -> list[int]:
    shares = [Fraction(str(kind.share)) for kind in mix]
    exact = [share * count / sum(shares) for share in shares]
    numbers = [int(amount) for amount in exact]
    by_remainder = sorted(range(len(mix)), key=lambda k: (numbers[k] - exact[k], k))
    for kind in by_remainder[: count - sum(numbers)]:
        numbers[kind] += 1
    return [kind for kind, number in enumerate(numbers) for _ in range(number)]


def _starts(workload: ClusterWorkload, job: Job, number: int, flips: dict[Ranks, int]) -> StartOf:
    """Return the timers that a job waits for; `flips` has the node that started the one before."""

    def start(ranks: Ranks, size: int) -> Start:
        nodes: list[Node] = []

        def timer(name: str, duration_ps: int, after: tuple[int, ...], tag: int = 0) -> int:
            name = f"{CLUSTER}.{job.name}_{name}"
            nodes.append(Node(name, NodeType.TIMER, 0, 0, duration_ps, 0, after, tag=tag))
            return size + len(nodes) - 1

        before = (size - 1,) if size else ()  # last weight update of the previous job
        waits = (*before, timer("arrival", job.arrival_ps, ()))
        given = workload.provisioning
        if given is None:
            begin = timer("start", 0, waits, number)
        elif given.look_ahead:
            since = (flips[ranks],) if ranks in flips else ()
            ready = timer("look_ahead", given.latency, since)
            begin = timer("flip", given.switch, (*waits, ready), number)
        else:
            begin = timer("provision", given.latency, waits, number)
        flips[ranks] = begin
        return Start(nodes, begin)

    return start


class _Cluster(WorkloadKind[ClusterWorkload]):
    model = ClusterWorkload
    has_jobs = True

    def default_collective(self) -> CollectiveAlgorithms:
        return training.default_collective()

    def problems(
        self, workload: ClusterWorkload, ranks: int, family: TopologyFamily[Any]
    ) -> Problems:
        if workload.active * workload.servers > ranks:
            yield (
                "workload.active",
                f"expected at most {ranks // workload.servers}: each job takes {workload.servers} "
                f"of the topology's {ranks} ranks",
            )
        if workload.provisioning is not None and not family.links_jobs:
            yield (
                "workload.provisioning",
                f"expected null, because a {family.label} topology does not link each job anew",
            )
        names = [kind.name for kind in workload.mix]
        for index, kind in enumerate(workload.mix):
            if kind.name in names[:index]:
                yield f"workload.mix.{index}.name", "expected a different name for each kind of job"
            path = f"workload.mix.{index}"
            yield from training.gpu_problems(path, kind, family)
            yield from training.strategy_problems(f"{path}.strategy", kind, workload.servers)

    def demand(self, workload: ClusterWorkload, ranks: int) -> WorkloadDemand:
        return WorkloadDemand(
            [training.transfers(kind, workload.servers) for kind in workload.mix],
            [Part(job.members, job.turn, job.kind) for job in jobs(workload, ranks)],
        )

    def plan(
        self, workload: ClusterWorkload, layout: Layout, collective: CollectiveAlgorithms | None
    ) -> Plan:
        """Return the traces of all ranks that have a job."""
        algorithms = collective or training.default_collective()
        whole = Composition(layout, (CLUSTER,), takes_turns=True)
        parts = [
            training.plan(kind, workload.servers, algorithms, layout.paths) for kind in workload.mix
        ]
        first = [
            whole.add_layers(kind.name, part)
            for kind, part in zip(workload.mix, parts, strict=True)
        ]
        flips: dict[Ranks, int] = {}
        for number, job in enumerate(jobs(workload, layout.ranks), 1):
            placed = Placed(
                job.name, parts[job.kind], job.members, first[job.kind], number - 1, job.turn
            )
            whole.add(placed, _starts(workload, job, number, flips))
        plan = whole.plan()
        plan.tables.sort(key=lambda table: table[0])
        return plan


KIND = _Cluster()
