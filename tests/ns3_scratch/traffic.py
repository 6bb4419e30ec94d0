"""Send traffic between ranks over any packet fabric, and return the outcome."""

from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass
from functools import partial
from itertools import pairwise
from typing import Any

from bridge import Network
from frontend import load_scenario
from frontend.compiler.compile import compile_network
from frontend.network_api_pb2 import Topology
from frontend.schema.ports import Links, Switches
from frontend.stream import decode, encode

Pair = tuple[int, int]


def permutation(ranks: int) -> list[Pair]:
    return [(rank, (rank + 1) % ranks) for rank in range(ranks)]


def incast(ranks: int) -> list[Pair]:
    return [(rank, 0) for rank in range(1, ranks)]


def all_to_all(ranks: int) -> list[Pair]:
    """Return pairs in which all ranks use the same peer order, so they meet at one port."""
    return [(src, dst) for src in range(ranks) for dst in range(ranks) if src != dst]


def scenario(ranks: int, fabric: str, **changes: Any) -> dict[str, Any]:
    """Return a flat scenario as a dict; `changes` go to topology, links, switches or transport."""
    topology = {"family": "flat", "ranks": ranks, "bandwidth": "100Gbps"}
    topology["latency"] = changes.pop("latency", "0.5us")
    topology["buffer"] = changes.pop("buffer", "1GB")
    transport = {"variant": "new_reno", "mtu": "9000B", "window": "0.5MB", "min_rto": "50ms"}
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
        **in_blocks(transport),
    }


def in_blocks(keys: Mapping[str, Any]) -> dict[str, dict[str, Any]]:
    """Return the blocks `links`, `switches` and `transport` with some of their keys."""
    blocks = {"links": Links.model_fields, "switches": Switches.model_fields}
    made: dict[str, dict[str, Any]] = {"links": {}, "switches": {}, "transport": {}}
    for key, value in keys.items():
        name = next((name for name, known in blocks.items() if key in known), "transport")
        made[name][key] = value
    return made


def leaf_spine(flat: Topology, spines: int = 2, down: int = 2) -> Topology:
    """Return a leaf-spine network with the ranks of a flat one, and `down` ranks per leaf switch.

    All links have the attributes of the flat network's links. The path of a pair (s, d) on
    different leaves has four links, over spine (s + d) mod spines.
    """
    ranks = flat.ranks
    leaves = ranks // down
    leaf = [ranks + rank // down for rank in range(ranks)]
    spine = [ranks + leaves + index for index in range(spines)]
    ends = [(rank, leaf[rank]) for rank in range(ranks)]
    ends += [(ranks + index, top) for index in range(leaves) for top in spine]
    ends += [(b, a) for a, b in ends]
    link = {pair: index for index, pair in enumerate(ends)}
    up, switch = 0, ranks  # in the flat network: a link of a rank, and one of the switch
    network = Topology(ranks=ranks, nodes=ranks + leaves + spines, dimensions=flat.dimensions)
    for source, target in ends:
        like = up if source < ranks else switch
        network.link_source.append(source)
        network.link_target.append(target)
        network.link_rate_bps.append(flat.link_rate_bps[like])
        network.link_latency_ps.append(flat.link_latency_ps[like])
        network.link_buffer_bytes.append(flat.link_buffer_bytes[like])
        network.link_ecn_threshold_bytes.append(flat.link_ecn_threshold_bytes[like])
        network.link_dimension.append(0)
    for src, dst in zip(flat.path_source, flat.path_target, strict=True):
        network.path_source.append(src)
        network.path_target.append(dst)
        network.path_begin.append(len(network.path_links))
        top = [] if leaf[src] == leaf[dst] else [spine[(src + dst) % spines], leaf[dst]]
        nodes = [src, leaf[src], *top, dst]
        network.path_links.extend(link[pair] for pair in pairwise(nodes))
    network.path_begin.append(len(network.path_links))
    return network


def stream(
    ranks: int,
    fabric: str,
    pairs: Iterable[Pair],
    *,
    spread: bool,
    hops: int = 2,
    **changes: Any,
) -> bytes:
    """Return the network as a stream: one switch, or leaf and spine switches for 4 hops.

    With `spread`, all links have different rates and latencies (within 0.1 %). Symmetric traffic
    then does not reach a queue at the same picosecond, so there are no ties.
    """
    plain = compile_network(load_scenario(scenario(ranks, fabric, **changes)), list(pairs))
    records = list(decode(plain))
    for record in records:
        if record.HasField("topology") and hops == 4:
            record.topology.CopyFrom(leaf_spine(record.topology))
        if record.HasField("topology") and spread:
            topology = record.topology
            for link in range(len(topology.link_latency_ps)):
                topology.link_latency_ps[link] += 17 * link
                topology.link_rate_bps[link] -= 1_234_567 * link
    return encode(records)


@dataclass(frozen=True)
class Outcome:
    """Arrival time of each message [ps], and the counters of both datapaths."""

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
    hops: int = 2,
    **changes: Any,
) -> Outcome:
    """Send one message of `size` bytes for every pair, all at time 0."""
    arrivals = [-1] * len(pairs)
    with Network(stream(ranks, fabric, pairs, spread=spread, hops=hops, **changes)) as network:

        def arrived(index: int) -> None:
            arrivals[index] = network.sim_get_time_ps()
            if min(arrivals) >= 0:
                network.sim_finish()  # do not count pending events of TCP's timers

        for index, (src, dst) in enumerate(pairs):
            network.sim_recv(src, dst, size, callback=partial(arrived, index))
            network.sim_send(src, dst, size)
        network.run()
        statistics = network.statistics()
        return Outcome(arrivals, {name: getattr(statistics, name) for name in COUNTERS})
