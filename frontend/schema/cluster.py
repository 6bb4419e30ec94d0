"""`workload: {kind: cluster}`: training jobs that share a cluster."""

from typing import Annotated, Any, Literal

from pydantic import BeforeValidator, Field

from frontend.schema.base import Count, Model, Whole
from frontend.schema.quantities import Time
from frontend.schema.training import Training


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
