"""Collectives over ns-3's TCP, compared with bandwidth bounds and the paper's results."""

from typing import Any

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

import bridge
from tests.ns3_scratch.traffic import scenario

COLLECTIVE = "scenarios/collective.yaml"
RANKS, BYTES, BITS_PER_NS = 128, 8_000_000, 100

# An all-reduce moves 2(N-1)/N of the buffer through every rank's link (the paper's Section IV.A.1).
BOUND_NS = 2 * (RANKS - 1) / RANKS * BYTES * 8 / BITS_PER_NS
LATENCY_NS = 2 * 500  # rank to switch to rank


def all_reduce(**overrides: Any) -> bridge.Result:
    changes = {"workload.bytes": f"{BYTES}B", "topology.buffer": "1GB"}
    return bridge.run(COLLECTIVE, changes | overrides)


def test_direct_is_within_a_percent_of_the_bound() -> None:
    result = all_reduce(**{"workload.algorithm": "direct"})
    assert result.network.drops == 0
    assert pytest.approx(1.27e6) == BOUND_NS
    # Headers: 42 bytes in 9002.
    assert BOUND_NS < result.iterations[0].time_ns < 1.01 * BOUND_NS


@pytest.mark.parametrize("chunks", [1, 128, 1024])
def test_double_binary_tree_is_within_16_percent_of_the_insertion_delay(chunks: int) -> None:
    """Fig. 7: "DBT with 1 GB stays within 16 % of the analytical", plus latency terms."""
    result = all_reduce(**{"workload.algorithm": "dbt", "system.chunks": chunks})
    insertion_ns = 2 * BYTES * 8 / BITS_PER_NS
    steps = 2 * 7  # up and down a tree of depth 7
    assert insertion_ns == pytest.approx(1.28e6)
    assert result.network.drops == 0
    assert BOUND_NS < result.iterations[0].time_ns < 1.16 * insertion_ns + steps * LATENCY_NS


def test_an_unchunked_ring_pays_the_latency_of_every_step() -> None:
    result = all_reduce(**{"workload.algorithm": "ring"})
    steps = 2 * (RANKS - 1)
    least_ns = BOUND_NS + steps * LATENCY_NS
    assert least_ns < result.iterations[0].time_ns < 1.6 * BOUND_NS


ALGORITHMS = ["ring", "direct", "dbt", "halving_doubling"]


@settings(max_examples=40, deadline=None)
@given(
    ranks=st.integers(2, 9),
    algorithm=st.sampled_from(ALGORITHMS),
    size=st.integers(1, 300_000),
    chunks=st.integers(1, 5),
    concurrent=st.integers(1, 3),
    mtu=st.sampled_from([1500, 4000, 9000]),
    scheduling=st.sampled_from(["lifo", "fifo"]),
    injection=st.sampled_from(["0us", "10ns", "3us"]),
)
def test_every_all_reduce_ends_and_carries_what_its_algorithm_sends(
    ranks: int,
    algorithm: str,
    size: int,
    chunks: int,
    concurrent: int,
    mtu: int,
    scheduling: str,
    injection: str,
) -> None:
    """The time is at least the bandwidth bound, and the total payload is at least 2(N-1)·D."""
    made = scenario(ranks, "express", mtu=f"{mtu}B")
    made["workload"] |= {"algorithm": algorithm, "bytes": f"{size}B"}
    made["system"] = {
        "chunks": chunks,
        "concurrent_chunks": concurrent,
        "scheduling": scheduling,
        "injection_latency": injection,
    }
    result = bridge.run(made)
    network = result.network
    # For all ranks except one, each byte goes at least to one rank and back.
    assert network.payload_bytes >= 2 * (ranks - 1) * size
    if algorithm in {"ring", "direct", "dbt"}:
        assert network.payload_bytes == 2 * (ranks - 1) * size
    assert network.drops == network.retransmissions == network.rto_events == 0
    assert network.wire_bytes >= network.payload_bytes + 42 * network.packets
    assert result.iterations[0].time_ns >= 2 * (ranks - 1) / ranks * size * 8 / BITS_PER_NS
    assert max(result.system.max_outstanding_chunks.values()) <= concurrent
