"""`outputs`: what a run writes, and what it samples."""

import re
from collections.abc import Mapping
from typing import Annotated, Any, Literal

from pydantic import BeforeValidator, Field, PlainSerializer
from pydantic.json_schema import JsonSchemaValue

from frontend.schema.base import Model, ShortForm
from frontend.schema.quantities import PositiveSize, PositiveTime, Time

_RANGE = re.compile(r"(\d{1,5})(?:-(\d{1,5}))?")

_ACCEPTED = "expected all, or ranks such as 0,1,8-15"


def ranks_of(text: str) -> tuple[int, ...]:
    """Return the ranks that a text such as ``0,1,8-15`` names, in order; none for ``all``.

    Raises
    ------
    ValueError
        The text names no ranks.
    """
    if text == "all":
        return ()
    found: set[int] = set()
    for part in text.split(","):
        match = _RANGE.fullmatch(part.strip())
        if match is None:
            raise ValueError(_ACCEPTED)
        first, last = int(match[1]), int(match[2] or match[1])
        if last < first:
            raise ValueError(f"{_ACCEPTED}; {part.strip()} ends before it begins")
        found.update(range(first, last + 1))
    return tuple(sorted(found))


def _rank_set(value: Any) -> Any:
    """Return ranks as text; YAML reads a single one as a number."""
    if isinstance(value, bool) or not isinstance(value, str | int | list):
        raise ValueError(_ACCEPTED)
    text = ",".join(map(str, value)) if isinstance(value, list) else str(value)
    ranks_of(text)
    return text


RankSet = Annotated[str, BeforeValidator(_rank_set, json_schema_input_type=str | int | list[int])]
"""Ranks, as ``all`` or as numbers and ranges: ``0,1,8-15``."""


class Counters(Model):
    """Counters in a timeline: utilization and queue of links, and congestion windows of flows."""

    interval: PositiveTime = PositiveTime.parse("1us")
    """Time between samples at first. It becomes four times as long after each 1000 samples."""
    links: int = Field(8, ge=0, le=1000)
    """Number of links, those that most paths cross."""
    flows: int = Field(8, ge=0, le=1000)
    """Number of flows, spread evenly over those that start at a shown rank."""


def _switch(value: Any) -> Any:
    """Let ``true`` stand for the defaults, and ``false`` for nothing."""
    return {} if value is True else None if value is False else value


class Timeline(Model):
    """A file for Perfetto that shows what every rank does at each time."""

    ranks: RankSet = "all"
    """Ranks to show: all, or numbers and ranges such as 0,1,8-15."""
    start: Time = Time.parse("0us")
    """Start of the time window."""
    end: PositiveTime | None = None
    """End of the time window; null: the end of the run."""
    size_limit: PositiveSize = PositiveSize.parse("64MB")
    """Largest size of the file. The file says how many events it leaves out."""
    counters: Annotated[
        Counters | None,
        BeforeValidator(_switch, json_schema_input_type=Counters | bool | None),
    ] = Counters()
    """Counters of links and flows; false: none. Only fabrics with packets have them."""


def _sampled(value: Any) -> Any:
    """Check a choice of what is sampled: all, a number, or for links a list of ids."""
    if value == "all" or (isinstance(value, int) and not isinstance(value, bool) and value >= 0):
        return value
    raise ValueError("expected all, or a number of at least 0")


def _sampled_links(value: Any) -> Any:
    if isinstance(value, list) and value:
        if all(isinstance(one, int) and one >= 0 for one in value):
            return tuple(value)
        raise ValueError("expected numbers of links, as in links.csv")
    if isinstance(value, str) and value != "all":
        value = value.removeprefix("busiest ")
        value = int(value) if value.isdecimal() else value
    try:
        return _sampled(value)
    except ValueError:
        raise ValueError("expected all, busiest N, or a list of links as in links.csv") from None


class Series(Model):
    """Samples of links and flows over time, as link_series.csv and flow_series.csv, or as Parquet
    files."""

    interval: PositiveTime
    """Time between samples. cosim samples while messages are on their way."""
    links: Annotated[
        str | int | tuple[int, ...],
        BeforeValidator(_sampled_links, json_schema_input_type=str | int | list[int]),
        PlainSerializer(lambda value: list(value) if isinstance(value, tuple) else value),
    ] = 32
    """Links: all, busiest N (the N links that most paths cross), or a list of their numbers in
    links.csv."""
    flows: Annotated[str | int, BeforeValidator(_sampled, json_schema_input_type=str | int)] = 32
    """Flows: all, or a number of flows, spread evenly over all."""
    size_limit: PositiveSize = PositiveSize.parse("64MB")
    """Largest size of each file. When a file has used half of what is left, the interval becomes
    four times as long."""


_BY_NAME = ("timeline", "critical_path")
"""Outputs whose name stands for them."""


class Outputs(ShortForm):
    """What a run writes besides its result and tables. A list such as [timeline] names outputs that
    are written with their defaults."""

    timeline: Annotated[
        Timeline | None,
        BeforeValidator(_switch, json_schema_input_type=Timeline | bool | None),
    ] = None
    """Write timeline.json.gz, which opens in Perfetto (ui.perfetto.dev)."""
    series: Series | None = None
    """Sample throughput and queues of links, and goodput, congestion windows and round trips of
    flows."""
    format: Literal["csv", "parquet"] = "csv"
    """Format of the tables and time series. Parquet needs the extra `parquet` (pyarrow)."""
    critical_path: bool = False
    """Add to the result what makes each iteration as long as it is."""
    rtt_interval: Time = Time.parse("1ms")
    """Interval between round-trip time samples of each flow; 0: no samples. The sample of an
    interval is its latest round trip, by the simulator's clock. The end of the run ends one."""

    @classmethod
    def whole(cls, value: Any) -> Any:
        """Let a list be the names of outputs with their defaults."""
        if not isinstance(value, list):
            return value
        if any(name not in _BY_NAME for name in value):
            raise ValueError("expected a list of timeline and critical_path")
        return dict.fromkeys(value, True)

    @classmethod
    def short_schema(cls) -> JsonSchemaValue:
        """Return the JSON Schema of the short form."""
        return {"type": "array", "items": {"enum": list(_BY_NAME), "type": "string"}}


def chosen(scenario: Mapping[str, Any]) -> Outputs:
    """Return the outputs that a resolved scenario asks for; none if it is of an older version."""
    return Outputs.model_validate(scenario.get("outputs", {}))
