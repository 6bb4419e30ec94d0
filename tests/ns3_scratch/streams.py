"""Build small streams record by record, and run them."""

import json
from collections.abc import Iterable, Sequence
from dataclasses import dataclass, field
from itertools import permutations
from typing import Any

import numpy as np

from bridge import _core
from frontend import network_api_pb2 as api
from frontend.collectives.program.program import Program
from frontend.stream import VERSION, encode

RATE_BPS = 100_000_000_000
UNLIMITED_BYTES = 2**48  # as the frontend writes a buffer without a limit
LATENCY_PS = 500_000
SEGMENT_BYTES = 1460
HEADER_BYTES = 42  # IPv4, TCP, PPP

LIFO, FIFO = api.System.LIFO, api.System.FIFO
LOCAL, NEGOTIATED = api.System.LOCAL, api.System.NEGOTIATED


def header(**changes: Any) -> api.Record:
    values: dict[str, Any] = {"version": VERSION, "name": "test", "seed": 1}
    return api.Record(header=api.Header(**(values | changes)))


def tcp(**changes: Any) -> api.Tcp:
    values: dict[str, Any] = {
        "congestion_control": "NewReno",
        "mtu_bytes": SEGMENT_BYTES + 40,
        "segment_bytes": SEGMENT_BYTES,
        "send_buffer_bytes": 500_000,
        "receive_buffer_bytes": 500_000,
        "initial_cwnd_segments": 100,  # the first window is 65535 bytes
        "min_rto_ps": 50_000_000_000,
        "initial_rto_ps": 50_000_000_000,
        "clock_granularity_ps": 1_000_000,
        "delayed_ack_timeout_ps": 1_000_000_000,
        "delayed_ack_segments": 1,
        "sack": True,
        "window_scaling": True,
        "link_header_bytes": 2,
    }
    return api.Tcp(**(values | changes))


def settings(
    *,
    fabric: str = "analytical",
    limits: Sequence[int] = (64,),
    scheduling: api.System.Scheduling = LIFO,
    admission: api.System.Admission = NEGOTIATED,
    injection_ps: int = 0,
    reduction_bytes_per_s: int = 0,
    time_limit_ps: int = 0,
    transport: api.Tcp | None = None,
    replay: bool = False,
) -> api.Record:
    return api.Record(
        settings=api.Settings(
            fabric=fabric,
            tcp=transport or tcp(),
            system=api.System(
                scheduling=scheduling,
                concurrent_chunks=limits,
                injection_latency_ps=injection_ps,
                reduction_bytes_per_s=reduction_bytes_per_s,
                admission=admission,
            ),
            time_limit_ps=time_limit_ps,
            replay=replay,
        )
    )


def star(ranks: int, dimensions: Sequence[str] = ("scale_out",)) -> api.Record:
    """Return a topology with one switch: links 0 … n-1 lead to it, n … 2n-1 lead from it."""
    pairs = list(permutations(range(ranks), 2))
    links = 2 * ranks
    return api.Record(
        topology=api.Topology(
            ranks=ranks,
            nodes=ranks + 1,
            dimensions=dimensions,
            link_source=[*range(ranks), *[ranks] * ranks],
            link_target=[*[ranks] * ranks, *range(ranks)],
            link_rate_bps=[RATE_BPS] * links,
            link_latency_ps=[LATENCY_PS] * links,
            link_buffer_bytes=[*[0] * ranks, *[UNLIMITED_BYTES] * ranks],
            link_ecn_threshold_bytes=[0] * links,
            link_dimension=[0] * links,
            path_source=[source for source, _ in pairs],
            path_target=[target for _, target in pairs],
            path_begin=range(0, 2 * len(pairs) + 1, 2),
            path_links=[link for s, t in pairs for link in (s, ranks + t)],
        )
    )


def program(number: int, made: Program, dimensions: Sequence[str] = ("scale_out",)) -> api.Record:
    steps = ("step_begin", "op", "phase", "peer", "offset", "count", "target", "route")
    return api.Record(
        program=api.Program(
            id=number,
            name=made.name,
            operation=made.operation,
            group_size=made.group_size,
            units=made.units,
            space=made.space,
            equal_units=made.equal_units,
            phase_dimension=[list(dimensions).index(name) for name in made.phase_dimension],
            protocol=made.protocol and api.ProgramProtocol(**made.protocol._asdict()),
            **{name: getattr(made, name).tolist() for name in (*steps, "dep_begin", "dep")},
        )
    )


def collective(
    number: int, uses: int, ranks: Iterable[int], size: int, chunks: int = 1, **changes: Any
) -> api.Record:
    values: dict[str, Any] = {"name": f"c{number}", "priority_class": 1}
    return api.Record(
        collective=api.Collective(
            id=number,
            program=uses,
            ranks=ranks,
            bytes=size,
            chunks=chunks,
            **(values | changes),
        )
    )


@dataclass
class Trace:
    """Builds the trace of some ranks. Methods add a node and return its index."""

    ranks: Sequence[int]
    layers: Sequence[str] = ("layer",)
    jobs: Sequence[str] = ()
    rows: list[dict[str, Any]] = field(default_factory=list)

    def compute(self, ps: int, after: Sequence[int] = (), **changes: Any) -> int:
        return self._add(api.Trace.COMPUTE, after, duration_ps=ps, **changes)

    def issue(self, number: int, after: Sequence[int] = (), **changes: Any) -> int:
        return self._add(api.Trace.COLLECTIVE, after, collective=number, **changes)

    def send(self, peer: int, size: int, after: Sequence[int] = (), **changes: Any) -> int:
        return self._add(api.Trace.SEND, after, peer=peer, bytes=size, **changes)

    def receive(self, peer: int, size: int, after: Sequence[int] = (), **changes: Any) -> int:
        return self._add(api.Trace.RECV, after, peer=peer, bytes=size, **changes)

    def timer(self, ps: int, after: Sequence[int] = (), **changes: Any) -> int:
        return self._add(api.Trace.TIMER, after, duration_ps=ps, **changes)

    def _add(self, kind: int, after: Sequence[int], **values: Any) -> int:
        self.rows.append({"type": kind, "after": after} | values)
        return len(self.rows) - 1

    def record(self) -> api.Record:
        names = ("layer", "iteration", "duration_ps", "collective", "peer", "bytes", "tag")
        columns: dict[str, Any] = {name: [row.get(name, 0) for row in self.rows] for name in names}
        after = [row["after"] for row in self.rows]
        return api.Record(
            trace=api.Trace(
                ranks=self.ranks,
                layers=self.layers,
                names=[row.get("name", f"n{i}") for i, row in enumerate(self.rows)],
                type=[row["type"] for row in self.rows],
                dep_begin=np.cumsum([0, *map(len, after)]).tolist(),
                dep=[node for nodes in after for node in nodes],
                **columns,
                route=[row.get("route", 0) for row in self.rows],
                jobs=self.jobs,
                job=[row.get("job", 0) for row in self.rows],
            )
        )


def one_collective(made: Program, size: int, chunks: int = 1, **changes: Any) -> list[api.Record]:
    """Return a stream in which every rank issues one collective; `changes` go to the settings."""
    trace = Trace(range(made.group_size))
    trace.issue(0)
    return [
        header(),
        settings(**changes),
        star(made.group_size),
        program(0, made),
        collective(0, 0, range(made.group_size), size, chunks),
        trace.record(),
    ]


def run(records: Iterable[api.Record] | bytes) -> dict[str, Any]:
    """Run a stream and return its raw result."""
    stream = records if isinstance(records, bytes) else encode(records)
    simulation = _core.Simulation(stream)
    try:
        simulation.build()
        status = simulation.run()
        result: dict[str, Any] = json.loads(simulation.result())
    finally:
        simulation.close()
    assert result["status"] == status
    return result


def ps(time_ns: float) -> int:
    """Return a time of a result in picoseconds, exactly."""
    return round(time_ns * 1000)


def message_ps(size: int) -> int:
    """Return the time of a message over two idle links [ps]; see AnalyticalFabric."""
    payload = max(size, 1)
    wire = payload + -(-payload // SEGMENT_BYTES) * HEADER_BYTES
    first = min(payload, SEGMENT_BYTES) + HEADER_BYTES
    return transmission_ps(wire) + transmission_ps(first) + 2 * LATENCY_PS


def transmission_ps(size: int) -> int:
    return -(-size * 8_000_000_000_000 // RATE_BPS)
