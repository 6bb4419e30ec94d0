"""What the ranks of a point send when all of them are on one switch and send at the start."""

from typing import NamedTuple

from frontend import load_scenario
from frontend.resolve import resolve
from frontend.topologies.flat import FlatTopology
from frontend.units import SIZE, parse
from tests.bench.points import Point


class AtOnce(NamedTuple):
    """Equal messages between ranks on one switch. All begin at time 0."""

    ranks: int
    bits_per_second: int
    latency_ps: int
    mtu_bytes: int
    mss_bytes: int
    window_bytes: int
    pairs: list[tuple[int, int]]
    """In the order in which each rank sends: to the next rank first."""
    payload_bytes: int
    """Of a message."""

    @property
    def packets(self) -> int:
        """Number of packets of a message."""
        return -(-self.payload_bytes // self.mss_bytes)

    def costs(self, cpu_s: float, peak_rss_bytes: int, time_ns: float) -> dict[str, float]:
        """Return a row of the benchmark."""
        return {
            "cpu_s": cpu_s,
            "peak_rss_bytes": peak_rss_bytes,
            "time_ns": time_ns,
            "payload_bytes": self.payload_bytes * len(self.pairs),
            "packets": self.packets * len(self.pairs),
        }


def messages(point: Point) -> AtOnce:
    """Return the messages of a permutation or an all-to-all."""
    scenario = load_scenario(point.scenario, point.overrides)
    topology = scenario.topology
    assert isinstance(topology, FlatTopology)
    ranks = topology.ranks
    if point.pattern == "permutation":
        payload, distances = point.message_bytes, range(1, 2)
    else:
        assert point.overrides["workload.operation"] == "all_to_all"
        payload, distances = (
            -(-parse(point.overrides["workload.bytes"], SIZE) // ranks),
            range(1, ranks),
        )
    return AtOnce(
        ranks,
        int(topology.bandwidth),
        int(topology.latency),
        int(scenario.links.mtu),
        resolve(scenario).payload_bytes,
        int(scenario.transport.window or 0),
        [(rank, (rank + distance) % ranks) for distance in distances for rank in range(ranks)],
        payload,
    )
