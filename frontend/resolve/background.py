"""Resolve the background traffic of a scenario: pairs of ranks, distances and sizes."""

from __future__ import annotations

from dataclasses import dataclass

from frontend.errors import RefusedError
from frontend.resolve.happening import check_ranks
from frontend.scenario import Scenario
from frontend.schema.events import Incast, Traffic

MOST_PAIRS = 2**20
"""Greatest number of pairs of ranks between which background traffic is sent."""


@dataclass(frozen=True)
class Messages:
    """Background traffic between pairs of ranks; `sizes` are cumulative."""

    text: str
    begin_ps: int
    end_ps: int
    pairs: tuple[tuple[int, int], ...]
    interval_ps: int
    burst: bool
    sizes: tuple[tuple[int, float], ...]


def background(scenario: Scenario, ranks: int) -> list[Messages]:
    """Return the background traffic; raise RefusedError if a rank does not exist."""
    found = []
    for number, event in enumerate(scenario.events):
        path = f"events.{number}"
        if isinstance(event, Traffic):
            found.append(_traffic(event, path, ranks))
        elif isinstance(event, Incast):
            found.append(_incast(event, path, ranks))
    return found


def _traffic(event: Traffic, path: str, ranks: int) -> Messages:
    everyone = tuple(range(ranks))
    sources, targets = event.sources or everyone, event.targets or everyone
    check_ranks(sources, f"{path}.sources", ranks)
    check_ranks(targets, f"{path}.targets", ranks)
    if len(sources) * len(targets) > MOST_PAIRS:
        raise RefusedError(f"{path}.sources", f"expected at most {MOST_PAIRS} pairs of ranks")
    pairs = tuple((one, other) for one in sources for other in targets if one != other)
    if not pairs:
        raise RefusedError(f"{path}.targets", "expected a rank that is not the only source")
    parts = [part for _, part in event.sizes]
    if parts != sorted(parts) or parts[-1] != 1:
        raise RefusedError(f"{path}.sizes", "expected parts that rise to 1, such as [[10KB, 1]]")
    before = [0.0, *parts[:-1]]
    mean = sum(size * (part - less) for (size, part), less in zip(event.sizes, before, strict=True))
    interval = max(1, round(mean * 8 * 10**12 / event.load))
    text = f"background traffic of {event.load.written()}"
    return _messages(event, text, pairs, interval, event.sizes)


def _incast(event: Incast, path: str, ranks: int) -> Messages:
    check_ranks((event.target,), f"{path}.target", ranks)
    check_ranks(event.sources, f"{path}.sources", ranks)
    if event.target in event.sources:
        raise RefusedError(f"{path}.sources", f"expected ranks other than {event.target}")
    pairs = tuple((source, event.target) for source in event.sources)
    text = f"incast of {len(pairs)} × {event.bytes.written()} to rank {event.target}"
    if event.period is None:  # a single burst: the next one would be after the end
        single = event.model_copy(update={"until": int(event.at) + 1})
        return _messages(single, text, pairs, 2, ((event.bytes, 1.0),), burst=True)
    text += f" every {event.period.written()}"
    return _messages(event, text, pairs, int(event.period), ((event.bytes, 1.0),), burst=True)


def _messages(
    event: Traffic | Incast,
    text: str,
    pairs: tuple[tuple[int, int], ...],
    interval: int,
    sizes: tuple[tuple[int, float], ...],
    burst: bool = False,
) -> Messages:
    end = 0 if event.until is None else int(event.until)
    return Messages(text, int(event.at), end, pairs, interval, burst, sizes)
