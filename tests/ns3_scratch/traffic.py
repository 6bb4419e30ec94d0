"""Traffic between ranks on one switch, over any packet fabric, and what came of it."""

from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from functools import partial
from typing import Any

from bridge import Network
from frontend import load_scenario
from frontend.compile import compile_network
from frontend.stream import decode, encode

Pair = tuple[int, int]


def permutation(ranks: int) -> list[Pair]:
    return [(rank, (rank + 1) % ranks) for rank in range(ranks)]


def incast(ranks: int) -> list[Pair]:
    return [(rank, 0) for rank in range(1, ranks)]


def all_to_all(ranks: int) -> list[Pair]:
    """Every rank addresses its peers in the same order, so that all meet at one port at a time."""
    return [(src, dst) for src in range(ranks) for dst in range(ranks) if src != dst]


def scenario(ranks: int, fabric: str, **changes: Any) -> dict[str, Any]:
    """Return a flat scenario as a dict; `changes` go to topology and transport by their keys."""
    topology = {"family": "flat", "ranks": ranks, "bandwidth": "100Gbps", "latency": "0.5us"}
    topology["buffer"] = changes.pop("buffer", "1GB")
    transport = {"variant": "new_reno", "mtu": 9000, "window": "0.5MB", "min_rto": "50ms"}
    transport |= changes
    return {
        "schema_version": 1,
        "name": "traffic",
        "fabric": fabric,
        "topology": topology,
        "workload": {
            "kind": "collective",
            "operation": "all_reduce",
            "algorithm": "ring",
            "bytes": "1MB",
        },
        "transport": transport,
    }


def stream(
    ranks: int, fabric: str, pairs: Iterable[Pair], *, spread: bool, **changes: Any
) -> bytes:
    """Return the network as a stream.

    With `spread`, every link has a rate and a latency of its own (within 0.1 %), so that symmetric
    traffic does not reach a queue at the same picosecond: what the fabrics do is free of ties.
    """
    plain = compile_network(load_scenario(scenario(ranks, fabric, **changes)), list(pairs))
    if not spread:
        return plain
    records = list(decode(plain))
    for record in records:
        if record.HasField("topology"):
            topology = record.topology
            for link in range(len(topology.link_latency_ps)):
                topology.link_latency_ps[link] += 17 * link
                topology.link_rate_bps[link] -= 1_234_567 * link
    return encode(records)


@dataclass(frozen=True)
class Outcome:
    """Arrival of each message [ps], and the counters that both datapaths keep."""

    arrivals_ps: list[int]
    counters: dict[str, float]


COUNTERS = (
    "messages",
    "payload_bytes",
    "wire_bytes",
    "packets",
    "data_packets",
    "drops",
    "retransmissions",
    "rto_events",
    "ecn_marks",
    "flows",
    "rtt_mean_ns",
    "link_utilization_mean",
)


def carry(
    ranks: int,
    fabric: str,
    pairs: Sequence[Pair],
    size: int,
    *,
    spread: bool = False,
    **changes: Any,
) -> Outcome:
    """Send one message of `size` bytes for every pair, all at the start."""
    arrivals = [-1] * len(pairs)
    with Network(stream(ranks, fabric, pairs, spread=spread, **changes)) as network:

        def arrived(index: int) -> None:
            arrivals[index] = network.sim_get_time_ps()
            if min(arrivals) >= 0:
                network.sim_finish()  # what TCP's timers still have pending is not counted

        for index, (src, dst) in enumerate(pairs):
            network.sim_recv(src, dst, size, callback=partial(arrived, index))
            network.sim_send(src, dst, size)
        network.run()
        statistics = network.statistics()
        return Outcome(arrivals, {name: getattr(statistics, name) for name in COUNTERS})
