"""When parts of a cluster are down, if they fail at random times."""

from __future__ import annotations

import random
from collections.abc import Iterator, Sequence
from typing import NamedTuple

from frontend.errors import RefusedError
from frontend.schema.events import Failures
from topology_gen.networks.parts import HOST, LINK, NIC, SWITCH, Part

KEYS = {HOST: "hosts", NIC: "nics", SWITCH: "switches", LINK: "links"}
"""The key of the event `failures` for each kind of parts."""

_MOST = 100_000
"""So many failures of a kind are more than a run can take."""


class Rates(NamedTuple):
    """How often parts of a kind fail, and for how long."""

    mtbf_ps: int
    """Mean time between the repair of a part and its next failure. Times are exponentially
    distributed."""
    repair_ps: int
    """From a failure until the part is up again."""
    begin_ps: int = 0
    """From when on they fail."""
    until_ps: int | None = None
    """When they cease to fail; None: never."""
    ranks: tuple[int, ...] | None = None
    """Ranks whose hosts or NICs fail; None: all."""


class Outage(NamedTuple):
    """When a part is down [ps]."""

    at: int
    until: int


def rates_of(event: Failures) -> Iterator[tuple[str, Rates]]:
    """Yield the kinds of parts of an event with how often they fail."""
    for kind, key in KEYS.items():
        rates = getattr(event, key)
        if rates is not None:
            yield (
                kind,
                Rates(
                    int(rates.mtbf),
                    int(rates.repair),
                    int(event.at),
                    int(event.until),
                    getattr(rates, "ranks", None),
                ),
            )


def failing(
    parts: Sequence[Part], rates: Rates, seed: int
) -> Iterator[tuple[Part, Iterator[Outage]]]:
    """Yield the parts of a kind that fail, and when each is down, in the order of time.

    Parameters
    ----------
    parts : sequence of Part
        All parts of a kind. Times depend on the place of a part among them.
    rates : Rates
        How often they fail.
    seed : int
        Decides all times.
    """
    wanted = None if rates.ranks is None else set(rates.ranks)
    for number, part in enumerate(parts):
        if wanted is None or not wanted.isdisjoint(part.ranks):
            yield part, _outages(random.Random(f"{part.kind} {seed} {number}"), rates)


def _outages(draw: random.Random, rates: Rates) -> Iterator[Outage]:
    time = rates.begin_ps
    while True:
        time += max(1, round(draw.expovariate(1 / rates.mtbf_ps)))
        if rates.until_ps is not None and time >= rates.until_ps:
            return
        yield Outage(time, time + rates.repair_ps)
        time += rates.repair_ps


def outages(
    parts: Sequence[Part], rates: Rates, seed: int, path: str
) -> Iterator[tuple[Part, Outage]]:
    """Yield each time at which a part of an event is down, part by part.

    Parameters
    ----------
    parts, rates, seed
        As for `failing`; `rates` has an end.
    path : str
        Where the kind of parts is in the scenario.

    Raises
    ------
    RefusedError
        Parts fail too often.
    """
    count = 0
    for part, times in failing(parts, rates, seed):
        for outage in times:
            count += 1
            if count > _MOST:
                raise RefusedError(f"{path}.mtbf", f"expected at most {_MOST} failures until then")
            yield part, outage
