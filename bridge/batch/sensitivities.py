"""Estimates what would make a training faster: one part of the system is changed at a time.

The scenario is compiled once, and each change is made in the compiled stream. So the plan stays the
same, also the order of jobs in a queue. A change needs no key of the scenario: it exists for every
family of topologies.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator
from dataclasses import dataclass, field

import numpy as np
import numpy.typing as npt

import frontend
from bridge.present.metrics import time_an_iteration
from bridge.present.progress import Reporter
from bridge.results.result import Result
from bridge.simulator import simulate
from bridge.stopwatch import Stopwatch
from frontend.fabrics import ESTIMATORS
from frontend.loading.load import Source
from frontend.loading.overrides import Overrides
from frontend.network_api_pb2 import HostCost, NetworkEvent, Record, Topology, Trace
from frontend.stream import decode, encode

#: The fabric of the estimates, if the scenario does not have an estimator.
ESTIMATOR = "flow"

#: The largest rate that a stream can hold: a link that takes next to no time.
_FASTEST_BPS = 2**48

_Links = npt.NDArray[np.bool_]


@dataclass(frozen=True)
class Sensitivity:
    """What one change brings."""

    name: str
    """What is changed, in words, such as ``twice the rate of scale_out``."""
    time_ns: float
    """Mean time of an iteration with the change [ns]; of the run if it has no iterations."""
    relative: float
    """The change of this time, as a fraction: −0.3 is 30 % less."""


@dataclass(frozen=True)
class Sensitivities:
    """An estimate, and what changes would bring."""

    base: Result
    """The estimate of the scenario as it is."""
    time_ns: float
    """Its mean time of an iteration [ns]; of the run if it has no iterations."""
    changes: tuple[Sensitivity, ...]
    """The changes, the one that saves most time first."""


def sensitivities(
    scenario: Source,
    overrides: Overrides | None = None,
    *,
    seed: int | None = None,
    reporter: Reporter | None = None,
) -> Sensitivities:
    """Estimate what faster links, shorter latencies or faster ranks would bring.

    Parameters
    ----------
    scenario, overrides, seed
        As for `run`. The estimate uses the scenario's fabric if that is an estimator, and otherwise
        `ESTIMATOR`.
    reporter : Reporter, optional
        Receives the stages.

    Returns
    -------
    Sensitivities

    Raises
    ------
    frontend.ScenarioError
        The scenario or an override is not valid, or the estimator cannot have it.
    SimulationError
        An estimate did not complete.

    Examples
    --------
    >>> found = sensitivities("scenarios/dlrm_hier.yaml")  # doctest: +SKIP
    >>> found.changes[0].name, found.changes[0].relative  # doctest: +SKIP
    """
    told = reporter or Reporter()
    loaded = simulate.load(scenario, overrides, seed)
    changed: dict[str, object] = {"outputs": []}
    if loaded.fabric not in ESTIMATORS:
        changed["fabric"] = ESTIMATOR
    loaded = frontend.load_scenario(loaded, changed)
    with told:
        told.stage("compiling")
        records = list(decode(simulate.compile(loaded)))
        parts = [encode([record]) for record in records]
        told.stage("estimating")
        base = _simulated(parts)
        time = time_an_iteration(base)
        found = []
        for change in _changes(records):
            told.stage(f"estimating {change.name}")
            other = time_an_iteration(_simulated(change.applied(records, parts)))
            found.append(Sensitivity(change.name, other, other / time - 1 if time else 0.0))
    return Sensitivities(base, time, tuple(sorted(found, key=lambda one: one.time_ns)))


def _simulated(parts: list[bytes]) -> Result:
    return simulate.simulate_stream(b"".join(parts), None, Reporter(), None, Stopwatch())


Edit = Callable[[Record], object]


@dataclass(frozen=True)
class _Change:
    """One change of a stream."""

    name: str
    """What is changed, in words."""
    edits: dict[str, Edit] = field(default_factory=dict)
    """For a kind of records, a function that changes one."""

    def applied(self, records: list[Record], parts: list[bytes]) -> list[bytes]:
        """Return the records of a stream with the change, encoded; the others are not copied."""
        changed = []
        for record, part in zip(records, parts, strict=True):
            edit = self.edits.get(record.WhichOneof("kind") or "")
            if edit is None:
                changed.append(part)
                continue
            copy = Record()
            copy.CopyFrom(record)
            edit(copy)
            changed.append(encode([copy]))
        return changed


def _changes(records: list[Record]) -> Iterator[_Change]:
    """Yield the changes that can have an effect on a stream."""
    by_kind = {record.WhichOneof("kind"): record for record in records}
    topology, system = by_kind["topology"].topology, by_kind["settings"].settings.system
    latency = np.asarray(topology.link_latency_ps, dtype=np.int64)
    for name, links in _groups(topology):
        yield _Change(f"twice the rate of {name}", {"topology": _faster(links, 2)})
        if latency[links].any():
            yield _Change(f"half the latency of {name}", {"topology": _nearer(links)})
    shared = shared_by_several(topology)
    if shared.any() and not shared.all() and not topology.HasField("reconfiguration"):
        yield _Change("no congestion inside the network", {"topology": _faster(shared, None)})
    if any(0 in one.trace.type for one in records if one.WhichOneof("kind") == "trace"):
        yield _Change("ranks that compute twice as fast", {"trace": _compute_faster})
    costs = (system.send, system.receive)
    if system.injection_latency_ps or any(one.message_ps or one.bytes_per_s for one in costs):
        yield _Change("half the time that ranks handle messages", {"settings": _handle_faster})


def _groups(topology: Topology) -> Iterator[tuple[str, _Links]]:
    """Yield the links of each dimension with its name; circuits and links beside them are one."""
    dimension = np.asarray(topology.link_dimension, dtype=np.int64)
    if topology.HasField("reconfiguration"):
        yield "all links", np.ones(len(dimension), dtype=np.bool_)
        return
    for index, name in enumerate(topology.dimensions):
        links = dimension == index
        if links.any():
            yield name, links


def shared_by_several(topology: Topology) -> _Links:
    """Return which links are on paths from several ranks, and on paths to several ranks.

    The others are those of one rank, such as its NIC: their rate is what the rank can send or
    receive.
    """
    count = len(topology.link_source)
    begin = np.asarray(topology.path_begin, dtype=np.int64)
    links = np.asarray(topology.path_links, dtype=np.int64)
    several = np.ones(count, dtype=np.bool_)
    for ends in (topology.path_source, topology.path_target):
        of_each = np.repeat(np.asarray(ends, dtype=np.int64), np.diff(begin))
        least, greatest = np.full(count, np.iinfo(np.int64).max), np.full(count, -1)
        np.minimum.at(least, links, of_each)
        np.maximum.at(greatest, links, of_each)
        several &= least < greatest
    return several


def _faster(links: _Links, factor: int | None) -> Edit:
    """Return a function that multiplies the rates of links; None: they take no time."""

    def rate(before: int) -> int:
        return _FASTEST_BPS if factor is None else min(_FASTEST_BPS, factor * before)

    def edit(record: Record) -> None:
        topology = record.topology
        topology.link_rate_bps[:] = [
            rate(before) if chosen else before
            for before, chosen in zip(topology.link_rate_bps, links.tolist(), strict=True)
        ]
        if topology.HasField("reconfiguration"):
            circuits = topology.reconfiguration
            circuits.circuit_rate_bps = rate(circuits.circuit_rate_bps)
        for event in topology.events:
            if event.kind == NetworkEvent.LINK_RATE and all(links[one] for one in event.links):
                event.rate_bps = rate(event.rate_bps)

    return edit


def _nearer(links: _Links) -> Edit:
    def edit(record: Record) -> None:
        topology = record.topology
        topology.link_latency_ps[:] = [
            before // 2 if chosen else before
            for before, chosen in zip(topology.link_latency_ps, links.tolist(), strict=True)
        ]
        if topology.HasField("reconfiguration"):
            topology.reconfiguration.circuit_latency_ps //= 2

    return edit


def _compute_faster(record: Record) -> None:
    trace = record.trace
    duration = np.asarray(trace.duration_ps, dtype=np.uint64)
    computes = np.asarray(trace.type) == Trace.COMPUTE
    trace.duration_ps[:] = np.where(computes, duration // 2, duration).tolist()


def _handle_faster(record: Record) -> None:
    system = record.settings.system
    system.injection_latency_ps //= 2
    for cost in (system.send, system.receive):
        _halve(cost)


def _halve(cost: HostCost) -> None:
    cost.message_ps //= 2
    cost.bytes_per_s *= 2
