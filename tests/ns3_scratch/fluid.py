"""Run networks of any shape over the flow fabric, and compute the same by progressive filling.

Progressive filling raises the rates of all active flows together until a link is full. The flows of
this link keep their rate, and the others continue to rise. The code recomputes all rates at every
event.
"""

import json
from collections.abc import Sequence
from dataclasses import dataclass
from functools import partial
from itertools import accumulate, permutations
from typing import Any

from bridge import Network
from bridge.results.measurements import NetworkStatistics
from frontend import network_api_pb2 as api
from frontend.stream import encode
from tests.ns3_scratch.streams import HEADER_BYTES, SEGMENT_BYTES, header, settings, tcp

PS_PER_S = 10**12

#: Settings without slow start and without a limit by the window.
FREE = {
    "initial_cwnd_segments": 2**30,
    "send_buffer_bytes": 2**30,
    "receive_buffer_bytes": 2**30,
}


@dataclass(frozen=True)
class Line:
    """A line of switches with ranks. Each link has its own rate in each direction."""

    places: Sequence[int]
    """The switch of each rank."""
    up_bps: Sequence[int]
    """Rate of each rank's link to its switch."""
    down_bps: Sequence[int]
    right_bps: Sequence[int]
    """Rate from each switch to the next."""
    left_bps: Sequence[int]
    latency_ps: int = 0

    @property
    def rates_bps(self) -> list[int]:
        return [*self.up_bps, *self.down_bps, *self.right_bps, *self.left_bps]

    def path(self, source: int, target: int) -> list[int]:
        """Return the links from one rank to another."""
        ranks, hops = len(self.places), len(self.right_bps)
        here, there = self.places[source], self.places[target]
        between = [2 * ranks + i for i in range(here, there)]
        between += [2 * ranks + hops + i - 1 for i in range(here, there, -1)]
        return [source, *between, ranks + target]

    def record(self) -> api.Record:
        ranks, hops = len(self.places), len(self.right_bps)
        switches = [ranks + place for place in self.places]
        left, right = [ranks + i for i in range(hops)], [ranks + i + 1 for i in range(hops)]
        pairs = list(permutations(range(ranks), 2))
        paths = [self.path(*pair) for pair in pairs]
        links = len(self.rates_bps)
        return api.Record(
            topology=api.Topology(
                ranks=ranks,
                nodes=ranks + hops + 1,
                dimensions=["scale_out"],
                link_source=[*range(ranks), *switches, *left, *right],
                link_target=[*switches, *range(ranks), *right, *left],
                link_rate_bps=self.rates_bps,
                link_latency_ps=[self.latency_ps] * links,
                link_buffer_bytes=[0] * links,
                link_ecn_threshold_bytes=[0] * links,
                link_dimension=[0] * links,
                path_source=[source for source, _ in pairs],
                path_target=[target for _, target in pairs],
                path_begin=[sum(map(len, paths[:i])) for i in range(len(paths) + 1)],
                path_links=[link for path in paths for link in path],
            )
        )


@dataclass(frozen=True)
class Message:
    source: int
    target: int
    size: int
    start_ps: int = 0


def wire_bytes(size: int) -> int:
    payload = max(size, 1)
    return payload + -(-payload // SEGMENT_BYTES) * HEADER_BYTES


def carry(
    line: Line, messages: Sequence[Message], **transport: Any
) -> tuple[list[int], NetworkStatistics]:
    """Return the arrival of each message over the flow fabric [ps]."""
    stream = encode(
        [header(), settings(fabric="flow", transport=tcp(**(FREE | transport))), line.record()]
    )
    arrivals = [-1] * len(messages)
    with Network(stream) as network:

        def arrived(index: int) -> None:
            arrivals[index] = network.sim_get_time_ps()

        def send(index: int) -> None:
            what = messages[index]
            network.sim_send(what.source, what.target, what.size, index)

        for index, what in enumerate(messages):
            network.sim_recv(what.source, what.target, what.size, index, partial(arrived, index))
            network.sim_schedule_ps(what.start_ps, partial(send, index))
        network.run()
        return arrivals, network.statistics()


def fair_rates(paths: Sequence[Sequence[int]], capacities: Sequence[float]) -> list[float]:
    """Return the max–min fair rates, by progressive filling."""
    rates = [0.0] * len(paths)
    free = list(capacities)
    rising = set(range(len(paths)))
    while rising:
        users = [[flow for flow in rising if link in paths[flow]] for link in range(len(free))]
        step, full = min(
            (free[link] / len(using), link) for link, using in enumerate(users) if using
        )
        for flow in rising:
            rates[flow] += step
            for link in paths[flow]:
                free[link] -= step
        rising -= set(users[full])
    return rates


@dataclass(frozen=True)
class Cargo:
    """Packets of a parcel: of the messages that a pair sends at one time."""

    pair: tuple[int, int]
    start_ps: int
    wire_bytes: int
    first_packet: int
    """Size of the first packet on the wire [bytes]."""
    messages: Sequence[int]
    """The messages that end in these packets."""


def parcels(messages: Sequence[Message]) -> list[Cargo]:
    """Return what is sent, by time: packets belong to the message with which they begin."""
    together: dict[tuple[int, tuple[int, int]], list[int]] = {}
    for index, message in enumerate(messages):
        together.setdefault((message.start_ps, (message.source, message.target)), []).append(index)
    made = []
    for (start_ps, pair), indices in sorted(together.items(), key=lambda item: item[0][0]):
        sizes = [max(messages[index].size, 1) for index in indices]
        ends = list(accumulate(sizes))
        packets = [-(-end // SEGMENT_BYTES) for end in ends]
        for count in sorted(set(packets)):
            before = max((other for other in packets if other < count), default=0)
            payload = min(count * SEGMENT_BYTES, ends[-1]) - before * SEGMENT_BYTES
            ending = [i for i, other in zip(indices, packets, strict=True) if other == count]
            first = min(payload, SEGMENT_BYTES) + HEADER_BYTES
            made.append(Cargo(pair, start_ps, wire_bytes(payload), first, ending))
    return made


def textbook(line: Line, order: Sequence[Cargo]) -> list[float]:
    """Return when each cargo has left its source [ps]; those of a pair form a stream."""
    capacities = [rate / 8 / PS_PER_S for rate in line.rates_bps]
    left = [float(cargo.wire_bytes) for cargo in order]
    done = [0.0] * len(order)
    waiting, under_way, now = list(range(len(order))), list[int](), 0.0
    while waiting or under_way:
        while waiting and order[waiting[0]].start_ps <= now:
            under_way.append(waiting.pop(0))
        heads: dict[tuple[int, int], int] = {}
        for index in under_way:
            heads.setdefault(order[index].pair, index)
        flows = list(heads.values())
        rates = fair_rates([line.path(*pair) for pair in heads], capacities)
        until = order[waiting[0]].start_ps if waiting else float("inf")
        step = min([until - now, *(left[i] / rate for i, rate in zip(flows, rates, strict=True))])
        now += step
        for index, rate in zip(flows, rates, strict=True):
            left[index] -= rate * step
            if left[index] < 1e-6:
                done[index] = now
                under_way.remove(index)
        if waiting and abs(until - now) < 1e-3:
            now = float(until)
    return done


def arrivals(line: Line, messages: Sequence[Message]) -> list[float]:
    """Return the arrival times, which add latencies and store-and-forward delays."""
    order = parcels(messages)
    expected = [0.0] * len(messages)
    last: dict[tuple[int, int], float] = {}
    for cargo, left_at in zip(order, textbook(line, order), strict=True):
        rates = sorted(line.rates_bps[link] for link in line.path(*cargo.pair))
        forwarding = sum(cargo.first_packet * 8 * PS_PER_S / rate for rate in rates[1:])
        at = left_at + forwarding + line.latency_ps * len(rates)
        last_link = cargo.wire_bytes * 8 * PS_PER_S / line.rates_bps[line.path(*cargo.pair)[-1]]
        last[cargo.pair] = max(at, last.get(cargo.pair, 0.0) + last_link)
        for index in cargo.messages:
            expected[index] = last[cargo.pair]
    return expected


def simgrid_task(line: Line, messages: Sequence[Message]) -> str:
    """Return the network and its messages as input for simgrid_flows.py."""
    pairs = permutations(range(len(line.places)), 2)
    return json.dumps(
        {
            "hosts": len(line.places),
            "links": [rate / 8 for rate in line.rates_bps],
            "routes": [[source, target, line.path(source, target)] for source, target in pairs],
            "flows": [
                [m.source, m.target, wire_bytes(m.size), m.start_ps / PS_PER_S] for m in messages
            ],
        }
    )
