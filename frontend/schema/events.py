"""`events`: what happens to links, switches and ranks at times of the run."""

from typing import Annotated, Any, Literal

from pydantic import BeforeValidator, Discriminator, Field, model_validator

from frontend.schema.base import Count, Model, Probability, Whole, cross_check_error, listed
from frontend.schema.quantities import PositiveDelay, PositiveSize, PositiveTime, Rate, Time


def _names(value: Any) -> Any:
    return tuple(map(str, value)) if isinstance(value, list | tuple) else value


_Name = str | int

Ends = Annotated[
    tuple[str, str],
    BeforeValidator(_names, json_schema_input_type=tuple[_Name, _Name]),
]
"""The names of the two nodes of a link; a number is a rank."""


def _ranks(value: Any) -> Any:
    return (value,) if isinstance(value, int) else listed(value)


_List = Annotated[tuple[Whole, ...], Field(min_length=1)]
RankList = Annotated[_List, BeforeValidator(_ranks, json_schema_input_type=Whole | _List)]
"""One rank, or a list."""


class Event(Model):
    """Something that happens at a time of the run."""

    event: str
    at: Time
    """When, from the start of the run."""
    until: PositiveTime | None = None
    """When it is over; null: it lasts."""

    @model_validator(mode="after")
    def _ends_later(self) -> "Event":
        if self.until is not None and self.until <= self.at:
            raise cross_check_error(".until", f"expected later than `at` ({self.at.written()})")
        return self


class LinkEvent(Event):
    """Something that happens to the links between two nodes."""

    link: Ends
    """The two nodes, such as `[leaf0.1, spine0]`, and all parallel links between them. A number is
    a rank. `cosim topo show` and `cosim topo export` print the names."""
    one_way: bool = False
    """Whether only the links from the first to the second node are meant."""


class LinkDown(LinkEvent):
    """Links fail: packets on them are lost, and they carry none until they are up again."""

    event: Literal["link_down"]
    """The links between two nodes fail."""


class LinkFlap(LinkEvent):
    """Links fail and recover again and again."""

    event: Literal["link_flap"]
    """The links between two nodes fail and recover several times."""
    down: PositiveTime
    """How long they are down each time."""
    period: PositiveTime
    """Time from one failure to the next."""
    times: Annotated[Count, Field(le=10_000)] = 1
    """Number of failures."""

    @model_validator(mode="after")
    def _recovers(self) -> "LinkFlap":
        if self.down >= self.period:
            raise cross_check_error(
                ".down", f"expected less than `period` ({self.period.written()})"
            )
        return self


class LinkRate(LinkEvent):
    """Links have another rate."""

    event: Literal["link_rate"]
    """The links between two nodes have another rate."""
    bandwidth: Rate
    """The rate in each direction."""


class LinkLoss(LinkEvent):
    """Links lose or corrupt packets."""

    event: Literal["link_loss"]
    """The links between two nodes lose packets."""
    loss: Probability
    """Probability that a packet is lost or arrives corrupted, which is the same for TCP."""


class SwitchDown(Event):
    """A switch fails with all its links."""

    event: Literal["switch_down"]
    """A switch fails with all its links."""
    switch: str
    """The name of the switch."""


class HostDown(Event):
    """Hosts fail. A job with one of their ranks fails, too: what it runs is dropped, and it goes on
    when all of its ranks are up (`jobs[].recovery`)."""

    event: Literal["host_down"]
    """Hosts fail, and with them the jobs that have their ranks."""
    ranks: RankList
    """One rank, or a list of ranks, whose hosts fail."""
    until: PositiveTime
    """When they are up again."""


class PartFailures(Model):
    """How often parts of a kind fail, each on its own, and for how long."""

    mtbf: PositiveTime
    """Mean time from the repair of one to its next failure (exponential)."""
    repair: PositiveTime
    """Time from its failure until it is up again."""


class RankFailures(PartFailures):
    """How often hosts or NICs fail, each on its own, and for how long."""

    ranks: RankList | None = None
    """Ranks whose hosts or NICs can fail; null: all."""


class Failures(Event):
    """Parts of the cluster fail at random times, which depend on `seed` alone. Of a host, all ranks
    fail, as with `host_down`; of a NIC, a switch or a link, all packets on it are lost, as with
    `link_down`."""

    event: Literal["failures"]
    """Hosts, NICs, switches and links fail at random times."""
    until: PositiveTime
    """When parts cease to fail; those that are down are still repaired."""
    hosts: RankFailures | None = None
    """Hosts: servers of the topology, or ranks where there are none. null: they do not fail."""
    nics: RankFailures | None = None
    """NICs: what joins a server and a switch. null: they do not fail."""
    switches: PartFailures | None = None
    """Switches between servers, with all their links. null: they do not fail."""
    links: PartFailures | None = None
    """Cables between two switches, or between two servers. null: they do not fail."""

    @model_validator(mode="after")
    def _has_parts(self) -> "Failures":
        if not (self.hosts or self.nics or self.switches or self.links):
            raise cross_check_error("", "expected hosts, nics, switches or links that fail")
        return self

    @property
    def breaks_links(self) -> bool:
        """Whether links fail, and not only hosts."""
        return bool(self.nics or self.switches or self.links)


Deviation = Annotated[float, Field(ge=0, le=1)]
"""Standard deviation of the logarithm of a factor."""


class Straggler(Event):
    """Ranks compute slower, or not equally fast. A computation takes the factor that holds when it
    begins, and random factors. These are lognormal with a mean of 1, and depend on `seed`, the rank
    and the number of the computation alone, so they are the same on all fabrics."""

    event: Literal["straggler"]
    """Ranks compute slower."""
    ranks: RankList | None = None
    """One rank, or a list of ranks; null: all."""
    factor: Annotated[float, Field(gt=0, le=1e6)] = 1.0
    """Time of a computation over its usual time."""
    jitter: Deviation = 0.0
    """Standard deviation of the logarithm of a random factor that each computation takes: 0.02 is
    about 2 %. Then no episodes are equal, so `simulation.replay` saves nothing on `express`."""
    spread: Deviation = 0.0
    """The same for a random factor of each rank, which all of its computations take."""


Sizes = Annotated[
    tuple[tuple[PositiveSize, Annotated[float, Field(gt=0, le=1)]], ...],
    BeforeValidator(lambda value: tuple(map(listed, listed(value)))),
    Field(min_length=1),
]
"""Sizes with the part of the messages that are at most so large."""


class Traffic(Event):
    """Other traffic: messages between random pairs, at exponentially distributed distances."""

    event: Literal["traffic"]
    """Background traffic between random pairs of ranks (Poisson)."""
    load: Rate
    """Mean rate of all its messages together."""
    sizes: Sizes
    """Distribution of the sizes: `[[10KB, 0.5], [1MB, 1]]` are half of them 10 KB and half 1 MB."""
    sources: RankList | None = None
    """Ranks that send; null: all."""
    targets: RankList | None = None
    """Ranks that receive; null: all."""


class Incast(Event):
    """Bursts: several ranks send to one rank at the same time."""

    event: Literal["incast"]
    """Bursts of messages from several ranks to one rank."""
    target: Whole
    """The rank that receives."""
    sources: RankList
    """The ranks that send."""
    bytes: PositiveSize
    """Size of each message."""
    period: PositiveDelay | None = None
    """Time between bursts; null: a single burst."""


AnyEvent = Annotated[
    LinkDown
    | LinkFlap
    | LinkRate
    | LinkLoss
    | SwitchDown
    | HostDown
    | Failures
    | Straggler
    | Traffic
    | Incast,
    Discriminator("event"),
]
