"""The model of the whole scenario."""

import json
from typing import TYPE_CHECKING, Annotated, Any, Literal, Self, Union

from pydantic import BeforeValidator, Field, model_validator
from pydantic_core import PydanticCustomError

from frontend.collectives.choices import CollectiveAlgorithms
from frontend.errors import RefusedError, ScenarioError
from frontend.fabrics import FABRICS
from frontend.scenario.file_paths import change_paths
from frontend.scenario.transport import (
    Transport,
    transport_of,
    with_protocol,
    with_protocols_of_jobs,
)
from frontend.scenario.work import (
    Job,
    Mix,
    Queueing,
    Work,
    Workload,
    all_jobs,
    default_collective,
    work_of_job,
)
from frontend.schema.base import Count, Model, cross_check_error, listed
from frontend.schema.direct_connect import DirectTopology
from frontend.schema.events import AnyEvent
from frontend.schema.files import absolute
from frontend.schema.outputs import Outputs
from frontend.schema.ports import TRAFFIC_CLASSES, Links, Routing, Switches
from frontend.schema.simulation import Simulation
from frontend.schema.system import System
from frontend.topologies import TOPOLOGIES
from frontend.topologies.fat_tree import FatTree
from frontend.topologies.flat import FlatTopology, HierarchicalTopology
from frontend.transports import PROTOCOLS, tcp
from frontend.workloads import WORKLOADS

if TYPE_CHECKING:
    # A type checker sees the models of this package, not those of installed plug-ins.
    Topology = FlatTopology | HierarchicalTopology | FatTree | DirectTopology
else:
    Topology = Annotated[
        Union[tuple(entry.model for entry in TOPOLOGIES.values())],  # noqa: UP007
        Field(discriminator="family"),
    ]


if TYPE_CHECKING:
    FabricName = str
else:
    FabricName = Literal[tuple(FABRICS)]


MOST_JOBS = 4096
"""Greatest number of entries of `jobs`."""


def add_kind(block: str) -> None:
    """Let scenarios have the keys of a topology family or workload kind that has been registered.

    Parameters
    ----------
    block : str
        `topology` or `workload`.
    """
    if block == "topology":
        families: Any = Union[tuple(entry.model for entry in TOPOLOGIES.values())]  # noqa: UP007
        Scenario.model_fields[block].annotation = families
    else:
        kinds: Any = Union[tuple(entry.model for entry in WORKLOADS.values())]  # noqa: UP007
        Job.model_fields[block].annotation = kinds
        Job.model_rebuild(force=True)
        Scenario.model_fields[block].annotation = kinds | None
    Scenario.model_rebuild(force=True)


class Scenario(Model):
    """Everything that a run depends on."""

    schema_version: Literal[1] = 1
    """Version of this format."""
    name: str = Field(default="scenario", pattern=r"^[A-Za-z0-9][A-Za-z0-9._-]{0,99}$")
    """A short name for files and titles, of at most 100 letters, digits, dots, dashes and
    underscores."""
    description: str = ""
    """What the scenario shows."""
    seed: Count = 1
    """Seed of all random choices."""
    fabric: FabricName = "express"
    """Network model. express: TCP over a fast model of links and queues. native: TCP over ns-3's
    own IPv4 and devices. flow: an estimate, messages share links fairly. analytical: an estimate,
    whole messages queue on each link."""
    hooks: str | None = None
    """Python file. With `--allow-hooks`, cosim calls its `on_built(ns, sim)` before the run (extra
    `scripting`)."""
    topology: Topology
    """Nodes and links."""
    links: Links = Links()
    """What all links have in common."""
    switches: Switches = Switches()
    """The egress queues of switches, and of ranks that are linked to ranks."""
    workload: Workload | None = Field(default=None, discriminator="kind")
    """What the ranks do."""
    jobs: Annotated[tuple[Job, ...], BeforeValidator(listed), Field(max_length=MOST_JOBS)] = ()
    """In place of `workload`: several jobs, each on ranks of its own, that share the network."""
    mix: Mix | None = None
    """Jobs whose kinds are the entries of `jobs`; null: each entry is a job, or has `arrivals`."""
    queueing: Queueing = "none"
    """What happens to jobs for which too few ranks are free. none: nothing, all jobs have ranks of
    their own for the whole run. fifo: they wait, and start in the order in which they arrived.
    backfill: as fifo, but a job starts before those that wait longer if it does not delay the first
    of these, going by what is `expected` (EASY backfilling). in_turn: all jobs have the same number
    of ranks. The first ones get ranks as without queueing; when there are none left, each job waits
    for those of one job, and all take turns in the order in which they arrive."""
    collective: CollectiveAlgorithms | None = Field(default_factory=default_collective)
    """Collective algorithms of a workload that has several collectives."""
    system: System = System()
    """Chunking, concurrency and scheduling."""
    transport: Annotated[Transport, BeforeValidator(with_protocol)] = tcp.TcpTransport()
    """The transport protocol; tcp if `protocol` names none."""
    routing: Routing = Routing()
    """Paths of packets, and how they follow failures."""
    events: Annotated[tuple[AnyEvent, ...], BeforeValidator(listed)] = ()
    """What happens at times of the run: links and switches that fail, links with another rate or
    with losses, ranks that compute slower, background traffic."""
    simulation: Simulation = Simulation()
    """What is simulated, and when a run is given up."""
    outputs: Outputs = Outputs()
    """What a run writes besides its result and tables, and what it samples."""

    @model_validator(mode="before")
    @classmethod
    def _complete(cls, data: Any) -> Any:
        return with_protocols_of_jobs(data)

    @model_validator(mode="after")
    def _has_work(self) -> Self:
        if self.workload is None and not self.jobs:
            raise PydanticCustomError("missing", "missing", {"path": "workload"})
        if self.workload is not None and self.jobs:
            raise cross_check_error("jobs", "expected no value, because workload is given")
        if self.queueing != "none" and not self.jobs:
            raise cross_check_error("queueing", "expected none, because only jobs can wait")
        if self.mix is not None and not self.jobs:
            raise cross_check_error("mix", "expected null, because only jobs can be mixed")
        return self

    @property
    def work(self) -> tuple[Work, ...]:
        """The workload, or the workloads of all jobs, each with its kind."""
        if self.workload is None:
            listed = all_jobs(self.jobs, self.mix, self.seed)
            return tuple(work_of_job(entry, self.jobs[entry].name, job) for entry, job in listed)
        return (Work(WORKLOADS[self.workload.kind], self.workload, self.collective),)

    def transport_of(self, job: Job | None) -> Transport:
        """Return the transport of the connections of a job; without one, that of the scenario."""
        return transport_of(self.transport, None if job is None else job.transport)

    @property
    def transports(self) -> dict[str, Transport]:
        """The transport, and then those of jobs that have one, by key path."""
        return {"transport": self.transport} | {
            f"jobs.{number}.transport": self.transport_of(job)
            for number, job in enumerate(self.jobs)
            if job.transport is not None
        }

    @property
    def is_timed(self) -> bool:
        """Whether the ranks of jobs depend on how long others run."""
        return self.queueing in ("fifo", "backfill")

    @property
    def protocols(self) -> dict[str, Transport]:
        """The first transport of each protocol: that of the scenario, and then those of jobs."""
        found: dict[str, Transport] = {}
        for transport in self.transports.values():
            found.setdefault(transport.protocol, transport)
        return found

    def traffic_class_of(self, job: Job | None) -> int:
        """Return the traffic class of the data of a job; without one, of other traffic."""
        if job is not None and job.traffic_class is not None:
            return job.traffic_class
        return PROTOCOLS[self.transport_of(job).protocol].data_class

    @property
    def lossy_classes(self) -> tuple[int, ...]:
        """The traffic classes of data that lossless switches drop instead of pausing."""
        paused = self.switches.pfc.classes
        if paused is None and len(self.protocols) > 1:
            transports = ((job, self.transport_of(job)) for job in (None, *self.jobs))
            paused = tuple(
                self.traffic_class_of(job) for job, own in transports if own.protocol == "roce"
            )
        return () if paused is None else tuple(sorted({*TRAFFIC_CLASSES} - {*paused}))

    @property
    def has_classes(self) -> bool:
        """Whether links serve traffic classes one after another, because jobs have classes.

        If there are two protocols, each has classes of its own where links have any.
        """
        if any(job.traffic_class is not None for job in self.jobs):
            return True
        return FABRICS[self.fabric].has_classes and len(self.protocols) > 1

    @property
    def has_routes(self) -> bool:
        """Whether a job selects other paths than the first ones."""
        return any(job.route for job in self.jobs)

    @property
    def storage(self) -> frozenset[int]:
        """The ranks that have checkpoints of jobs."""
        return frozenset(
            rank for job in self.jobs for one in job.checkpoints.values() for rank in one.storage
        )

    @property
    def only_work(self) -> Work:
        """The workload; raises ScenarioError if the scenario has jobs."""
        if self.workload is None:
            raise ScenarioError("jobs: expected workload instead, as this is about one workload")
        return self.work[0]

    def refusal(self, refused: RefusedError) -> ScenarioError:
        """Return the sentence about a value of this scenario that cannot work, as an error."""
        return ScenarioError(refused.sentence(self.model_dump(mode="json", exclude_unset=True)))

    def resolved(self) -> dict[str, Any]:
        """Return the scenario as a JSON-compatible dict with every default filled in.

        The transport of a job has only the keys that the job gives, as the others are those of the
        scenario. Paths of files are absolute, so that the dict means the same everywhere. Loading
        it gives an equal scenario.
        """
        data = self.model_dump(mode="json")
        for name in ("workload", "collective") if self.jobs else ("jobs", "mix", "queueing"):
            del data[name]  # the other one is given
        change_paths(data, absolute)
        return data

    def _repr_html_(self) -> str:
        """Show the keys that were given in a notebook."""
        from html import escape  # commands need none

        given = json.dumps(self.model_dump(mode="json", exclude_unset=True), indent=2)
        return f"<strong>{escape(self.name)}</strong><pre>{escape(given)}</pre>"
