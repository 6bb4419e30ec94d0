"""The buffers of NCCL's connections: a channel is as fast as its slots come back."""

from __future__ import annotations

import pytest
from hypothesis import given
from hypothesis import strategies as st

from frontend.collectives.nccl_buffers import (
    SLOTS,
    buffer_wire,
    message_bytes,
    posting_wire,
    ring_chunk,
    tree_chunk,
)
from frontend.collectives.nccl_plugins import PLUGINS
from frontend.collectives.nccl_tuner import PROTOCOLS, WIRE, Kind, Machine, ProtocolName

P5 = Machine(16, 2, 3600 * 10**9, 8, 400 * 10**9, 0, 0, PLUGINS["efa_p5"], cpu="amd")
NIC = 25e3  # bytes in a µs, for each of two channels
NVLINK = 3600e9 * 20.6 / 25 / 8e6 / 16


def test_slices_of_a_ring_come_back_after_the_data_and_the_steps() -> None:
    """Four slices of 512 KiB are on the way. 256 MiB are 30 slices on each of 16 channels."""
    slice_ = 2**19
    waits = (14 + 19) + (2.7 + 19) + 4 * 3 * 2  # there, a flag back, and four messages of AMD's
    cycle = 2 * slice_ / NVLINK + slice_ / NIC + waits
    first = 4 / 30
    expected = first + (1 - first) * cycle / 4 / (slice_ / NIC)
    assert buffer_wire(P5, "ring", "Simple", 2**28) == pytest.approx(expected)


@pytest.mark.parametrize("protocol", PROTOCOLS)
def test_what_fits_into_the_buffer_waits_for_nothing(protocol: ProtocolName) -> None:
    whole = SLOTS * 16 * tree_chunk(P5, protocol, 0)
    assert buffer_wire(P5, "tree", protocol, whole) == WIRE[protocol]


def test_large_chunks_hide_what_a_slot_waits_for() -> None:
    assert 1 < buffer_wire(P5, "ring", "Simple", 2**34) < 1.03
    infiniband = P5._replace(plugin=PLUGINS["verbs"], cpu="intel")
    assert buffer_wire(infiniband, "ring", "Simple", 2**34) == 1
    assert ring_chunk(P5, "Simple") == 4 * 2**20


@given(
    st.sampled_from(["ring", "tree"]),
    st.sampled_from(PROTOCOLS),
    st.integers(2, 64),
    st.integers(10, 34),
    st.floats(0, 4),
)
def test_longer_steps_slow_no_channel_down_less(
    kind: Kind, protocol: ProtocolName, servers: int, exponent: int, pace: float
) -> None:
    machine = P5._replace(ranks=8 * servers, servers=servers)
    cost = buffer_wire(machine, kind, protocol, 2**exponent, pace)
    assert WIRE[protocol] <= cost <= buffer_wire(machine, kind, protocol, 2**exponent, pace + 1)


@pytest.mark.parametrize(
    ("block", "message"),
    [
        (2**10, 2**10),
        (2**17, 2**17),
        (2**18, 2**17),
        (2**19, 2**18),
        (2**22, 2**19),
        (2**26, 2**19),
    ],
)
def test_messages_of_an_all_to_all_are_parts_of_aws_s_chunk(block: int, message: int) -> None:
    """NCCL_P2P_NET_CHUNKSIZE is 512 KiB; blocks below have a quarter, below eight half of it."""
    assert message_bytes(P5, block) == message
    # A send and a receive take AMD's processor 2 µs each.
    assert posting_wire(P5, block) * message / (2 * NIC) == pytest.approx(4)
