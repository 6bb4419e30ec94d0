"""`routing`: how packets find their way."""

from typing import Annotated, Literal

from pydantic import BeforeValidator, Field

from frontend.schema.base import Count, Model, Whole, listed
from frontend.schema.quantities import Delay, PositiveDelay


class Routing(Model):
    """Which paths packets take, and how fast paths follow a failure."""

    policy: Literal["family", "ecmp", "paths", "spray", "flowlet"] = "family"
    """family: the rule of the topology. ecmp: a hash of each connection selects one of the shortest
    paths. paths: the connections of a pair take shortest paths that differ, in turn. spray: the
    packets of a connection take the shortest paths in turn. flowlet: a connection takes the next
    shortest path after a gap. spray and flowlet need packets (`express`); they reorder packets,
    which TCP takes for losses."""
    seed: Whole = 1
    """Seed of the hash."""
    weights: Annotated[tuple[Count, ...], BeforeValidator(listed), Field(max_length=64)] = ()
    """With `paths`: number of connections on each path of a pair, `transport.flows_per_pair` in
    all. Each connection carries the same part of a message, so `[2, 1]` are two thirds on the first
    path. Default: 1 on each path."""
    flowlet_gap: PositiveDelay = PositiveDelay.parse("50us")
    """With `flowlet`: time without a packet after which the next one takes another path."""
    detection: Delay | None = Delay.parse("1ms")
    """Time from a failure or a repair until paths follow it; null: paths stay, and connections
    recover when the link is up again."""
    shared_links: Annotated[int, Field(ge=0, le=1000)] | None = None
    """Number of links between switches that the result lists with the flows that share them; null:
    5 on a topology of the family `graph` and the families of servers, and 0 on others."""
