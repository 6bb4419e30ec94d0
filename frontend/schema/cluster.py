"""`workload: {kind: cluster}`: training jobs that share a cluster."""

from typing import Annotated, Any, Literal

from pydantic import BeforeValidator, Field

from frontend.schema.base import Count, Model, Whole
from frontend.schema.quantities import Time
from frontend.schema.training import Training


def _as_tuple(value: Any) -> Any:
    return tuple(value) if isinstance(value, list) else value


class JobKind(Training):
    """One kind of job: training, and how many jobs are of it."""

    name: Annotated[str, Field(pattern=r"^[A-Za-z0-9_]+$")]
    """Of its jobs, which are numbered."""
    share: Annotated[float, Field(gt=0)] = 1.0
    """Jobs of this kind, in proportion to those of the others."""


class Provisioning(Model):
    """What it takes to link a job's servers, where optical switches do (TopoOpt, Appendix C)."""

    latency: Time = Time.parse("120s")
    """Of the patch panel or optical switch, which is set before a job starts."""
    look_ahead: bool = True
    """Every interface has a second port, at which the next job's links are set while the present
    job runs; then a 1×2 switch changes over."""
    switch: Time = Time.parse("5ms")
    """What the 1×2 switches take."""


class ClusterWorkload(Model):
    """Training jobs on parts of a cluster, which follow each other there."""

    kind: Literal["cluster"]
    """Several jobs, each on servers of its own."""
    servers: Annotated[Count, Field(ge=2, le=65536)] = 16
    """Ranks of a job."""
    active: Annotated[Count, Field(le=65536)]
    """Jobs that run at a time, which is the load: job i runs where job i - active did."""
    jobs: Annotated[Count, Field(le=65536)] | None = None
    """Jobs in all; null: as many as run at a time."""
    mix: Annotated[
        tuple[JobKind, ...], BeforeValidator(_as_tuple), Field(min_length=1, max_length=64)
    ]
    """The kinds of jobs: their numbers follow the shares, their order is drawn."""
    interval: Time = Time.parse("0s")
    """Mean time between arrivals, which is drawn from an exponential distribution."""
    placement: Literal["contiguous", "random"] = "contiguous"
    """Whether a job's ranks follow one another, or are drawn from all."""
    draw: Whole = 1
    """Seed of the jobs' order, arrivals and places."""
    provisioning: Provisioning | None = None
    """What starting a job takes; null: nothing."""
