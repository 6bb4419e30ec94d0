"""Flat network: structure, rates, buffers and paths."""

import numpy as np
import pytest

from topology_gen import LinkError, RankCountError, flat

RATE, LATENCY = 100_000_000_000, 500_000


def test_counts_and_degrees():
    network = flat(128, RATE, LATENCY, buffer_bytes=10**9)
    assert (network.nodes, network.links, network.dimensions) == (129, 256, ("scale_out",))
    # Every rank has one link up and one down, the switch all the other ends.
    assert np.bincount(network.source).tolist() == [1] * 128 + [128]
    assert np.bincount(network.target).tolist() == [1] * 128 + [128]
    assert set(network.rate_bps.tolist()) == {RATE}
    assert set(network.latency_ps.tolist()) == {LATENCY}


def test_total_buffer_is_divided_evenly_among_the_ports():
    network = flat(128, RATE, LATENCY, buffer_bytes=64_000_000, ecn_threshold_bytes=200_000)
    at_switch = network.source == 128
    assert set(network.buffer_bytes[at_switch].tolist()) == {500_000}  # 64 MB / 128
    assert set(network.buffer_bytes[~at_switch].tolist()) == {0}  # a host never drops its own
    assert set(network.ecn_threshold_bytes[at_switch].tolist()) == {200_000}
    assert set(network.ecn_threshold_bytes[~at_switch].tolist()) == {0}


def test_every_pair_goes_up_and_down():
    network = flat(9, RATE, LATENCY)
    pairs = [(s, d) for s in range(9) for d in range(9) if s != d]
    paths = network.paths(*zip(*pairs, strict=True))
    for i, (source, target) in enumerate(pairs):
        up, down = paths.links[paths.begin[i] : paths.begin[i + 1]]
        assert (network.source[up], network.target[up]) == (source, 9)
        assert (network.source[down], network.target[down]) == (9, target)


@pytest.mark.parametrize(
    ("arguments", "error", "text"),
    [
        ((1, RATE, LATENCY), RankCountError, "1 ranks: expected at least 2"),
        ((2, 0, LATENCY), LinkError, "rate 0 bit/s: expected at least 1 bit/s for each link"),
        (
            (2, RATE, -1),
            LinkError,
            "expected a latency, a buffer and an ECN threshold of at least 0",
        ),
        (
            (4, RATE, 0, 3),
            LinkError,
            "buffer 3 bytes: expected at least 1 byte for each of 4 ports",
        ),
    ],
)
def test_refusals(arguments, error, text):
    with pytest.raises(error) as caught:
        flat(*arguments)
    assert str(caught.value) == text
