"""Hierarchical network: structure, rates and paths (paper, Section III.B and III.C.2)."""

import numpy as np
import pytest

from topology_gen import LinkError, RankCountError, hierarchical

UP, OUT, LATENCY = 1_200_000_000_000, 100_000_000_000, 500_000


def paper(**changes):
    """Table III: 16 super-nodes of 8 ranks and 7 NV switches."""
    arguments = {
        "ranks": 128,
        "local_ranks": 8,
        "switches": 7,
        "scale_up_bandwidth_bps": UP,
        "scale_up_latency_ps": LATENCY,
        "scale_out_bandwidth_bps": OUT,
        "scale_out_latency_ps": 700_000,
        "scale_up_buffer_bytes": 64_000_000,
        "scale_out_buffer_bytes": 1_000_000_000,
    }
    return hierarchical(**(arguments | changes))


def test_counts_and_degrees():
    network = paper()
    assert network.nodes == 128 + 16 * 7 + 1
    assert network.links == 2 * (128 * 7 + 128)
    # A rank reaches 7 NV switches and the scale-out switch; an NV switch 8 ranks.
    expected = [8] * 128 + [8] * (16 * 7) + [128]
    assert np.bincount(network.source).tolist() == expected
    assert np.bincount(network.target).tolist() == expected
    assert network.node_names[128] == "nv0.0"
    assert network.node_names[-2:] == ("nv15.6", "switch")


def test_rates_latencies_and_buffers_by_dimension():
    network = paper()
    up = network.dimension == network.dimensions.index("scale_up")
    assert set(network.rate_bps[up].tolist()) == {UP // 7}
    assert set(network.rate_bps[~up].tolist()) == {OUT}
    assert set(network.latency_ps[up].tolist()) == {LATENCY}
    assert set(network.latency_ps[~up].tolist()) == {700_000}
    from_switch = network.source >= 128
    assert set(network.buffer_bytes[up & from_switch].tolist()) == {64_000_000 // 8}
    assert set(network.buffer_bytes[~up & from_switch].tolist()) == {1_000_000_000 // 128}
    assert set(network.buffer_bytes[~from_switch].tolist()) == {0}


@pytest.mark.parametrize(("ranks", "local", "switches"), [(128, 8, 7), (16, 4, 7), (6, 3, 2)])
def test_every_pair_takes_the_switch_of_the_rule(ranks, local, switches):
    network = paper(ranks=ranks, local_ranks=local, switches=switches)
    pairs = [(s, d) for s in range(ranks) for d in range(ranks) if s != d]
    paths = network.paths(*zip(*pairs, strict=True))
    up, down = paths.links.reshape(-1, 2).T
    source, target = np.array(pairs).T
    # Consecutive links from source to target …
    assert np.array_equal(network.source[up], source)
    assert np.array_equal(network.target[down], target)
    assert np.array_equal(network.target[up], network.source[down])
    # … over NV switch (src + dst) mod switches of the super-node, or the scale-out switch.
    names = [network.node_names[node] for node in network.target[up]]
    for (s, d), name in zip(pairs, names, strict=True):
        inside = s // local == d // local
        nv = f"nv{s // local}.{(s % local + d % local) % switches}"
        assert name == (nv if inside else "switch")


def test_at_most_two_senders_share_an_nv_port():
    # What makes two windows of buffer a port enough for a loss-free scale-up network.
    network = paper()
    pairs = [(s, d) for s in range(8) for d in range(8) if s != d]
    down = network.paths(*zip(*pairs, strict=True)).links[1::2]
    assert np.bincount(down).max() == 2


@pytest.mark.parametrize(
    ("changes", "error", "text"),
    [
        ({"ranks": 130}, RankCountError, "130 ranks: expected a multiple of 8"),
        ({"ranks": 0}, RankCountError, "0 ranks: expected a multiple of 8"),
        (
            {"switches": 0},
            RankCountError,
            "8 ranks and 0 switches in a super-node: expected at least 2 ranks and 1 switch",
        ),
        (
            {"scale_up_bandwidth_bps": 6},
            LinkError,
            "rate 0 bit/s: expected at least 1 bit/s for each link",
        ),
    ],
)
def test_refusals(changes, error, text):
    with pytest.raises(error) as caught:
        paper(**changes)
    assert str(caught.value) == text
