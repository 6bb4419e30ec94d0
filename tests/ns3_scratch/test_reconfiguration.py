"""Circuits that change during the run: nothing is lost, and nothing takes too long."""

from __future__ import annotations

from dataclasses import replace
from itertools import permutations

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from bridge import _core
from bridge.errors import StreamError
from tests.ns3_scratch.circuits import FABRICS, PS_PER_US, Message, Setup, carry
from tests.ns3_scratch.streams import (
    HEADER_BYTES,
    LATENCY_PS,
    SEGMENT_BYTES,
    transmission_ps,
)

PACKET = SEGMENT_BYTES + HEADER_BYTES
RING = [(0, 1), (1, 2), (2, 3), (3, 0)]


def wire_bytes(size: int) -> int:
    return size + -(-size // SEGMENT_BYTES) * HEADER_BYTES


def direct_ps(size: int) -> int:
    """Return the time of one message over one idle circuit."""
    return transmission_ps(wire_bytes(size)) + LATENCY_PS


@st.composite
def setups(draw: st.DrawFn) -> tuple[Setup, list[Message]]:
    """Draw circuits and messages, many of which wait when circuits change."""
    generator = np.random.default_rng(draw(st.integers(0, 10**6)))
    ranks, degree = draw(st.integers(2, 7)), draw(st.integers(1, 3))
    forwarding = draw(st.booleans())
    pairs = list(permutations(range(ranks), 2))
    weights = {pair: float(generator.integers(1, 9)) for pair in pairs if generator.random() < 0.5}
    edges = _core.optical_circuits(ranks, degree, 0, forwarding, weights)
    interval = draw(st.integers(5, 200)) * PS_PER_US
    setup = Setup(
        ranks,
        edges,
        degree,
        interval,
        draw(st.integers(0, interval - 1)),
        forwarding,
        draw(st.sampled_from(["EXPONENTIAL", "LINEAR", "FACTORIAL", "NONE"])),
        draw(st.sampled_from([0, 100_000])),
        draw(st.sampled_from([0, 300_000])),
        transport=draw(
            st.sampled_from(
                [
                    {},
                    {"congestion_control": "Cubic", "timestamps": True, "mtu_bytes": 1512},
                    {"delayed_ack_segments": 2, "sack": False},
                    {"initial_cwnd_segments": 1},  # slow start, whose timers stop during a pause
                    {"initial_cwnd_segments": 2, "send_buffer_bytes": 14_600},
                ]
            )
        ),
    )
    messages = []
    for _ in range(draw(st.integers(1, 30))):
        source, target = pairs[generator.integers(len(pairs))]
        size = int(generator.choice([0, 1, 1460, 20_000, 500_000]))
        messages.append(Message(source, target, size, int(generator.integers(10**9))))
    return setup, messages


@settings(max_examples=60, deadline=None)
@given(setups(), st.sampled_from(FABRICS))
def test_every_message_arrives_once_and_in_order(
    case: tuple[Setup, list[Message]], fabric: str
) -> None:
    setup, messages = case
    outcome = carry(setup, fabric, messages)
    assert outcome.received == dict.fromkeys(range(len(messages)), 1)
    assert outcome.statistics.messages == len(messages)
    assert outcome.statistics.payload_bytes == sum(message.size for message in messages)
    if setup.buffer == 0:
        assert outcome.statistics.drops == 0
    for pair in {message[:2] for message in messages}:
        sent = [i for i, message in enumerate(messages) if message[:2] == pair]
        sent.sort(key=lambda index: messages[index].at_ps)
        assert [i for i in outcome.order if i in sent] == sent
    for message, arrival in zip(messages, outcome.arrivals_ps, strict=True):
        least = transmission_ps(wire_bytes(max(message.size, 1))) / setup.degree + LATENCY_PS
        assert arrival - message.at_ps >= 0.999 * least  # ns-3 rounds each packet
    assert carry(setup, fabric, messages) == outcome


@settings(max_examples=40, deadline=None)
@given(setups(), st.sampled_from(FABRICS))
def test_without_a_measurement_it_is_the_network_that_stays(
    case: tuple[Setup, list[Message]], fabric: str
) -> None:
    """Results agree to the picosecond, with forwarding, delays, losses and parallel circuits."""
    setup, messages = case
    if not setup.forwarding:  # some pairs would never get a circuit
        edges = _core.optical_circuits(setup.ranks, setup.degree, 0, True, {})
        setup = replace(setup, edges=edges, forwarding=True)
    late = replace(setup, interval_ps=10**14)
    assert carry(late, fabric, messages) == carry(late.still(), fabric, messages)


@pytest.mark.parametrize("fabric", FABRICS)
def test_measurements_that_change_nothing_cost_no_time(fabric: str) -> None:
    """Two ranks always have the same circuits; a ring keeps its circuits while all are in use."""
    two = Setup(2, [(0, 1), (1, 0)], interval_ps=PS_PER_US, latency_ps=PS_PER_US // 2)
    messages = [Message(0, 1, 10**6), Message(1, 0, 300_000, 5 * PS_PER_US)]
    assert carry(two, fabric, messages) == carry(two.still(), fabric, messages)
    ring = Setup(4, RING, interval_ps=10 * PS_PER_US, latency_ps=PS_PER_US)
    around = [Message(source, target, 10**6) for source, target in RING]
    assert carry(ring, fabric, around) == carry(ring.still(), fabric, around)


FLIPPING = Setup(
    4,
    [(0, 1), (1, 3), (2, 0), (3, 2)],  # those for a demand from 0 to 1
    interval_ps=300 * PS_PER_US,
    latency_ps=100 * PS_PER_US,
    forwarding=False,
    # Much shorter than a pause, so timers that continue would expire in every pause.
    transport={"min_rto_ps": 20 * PS_PER_US, "delayed_ack_timeout_ps": 10 * PS_PER_US},
)


@pytest.mark.parametrize("changes", [0, 2, 4, 6])
@pytest.mark.parametrize("fabric", FABRICS)
def test_a_flow_through_pauses(fabric: str, changes: int) -> None:
    """A message takes T + k·P with k pauses. A pause lets only a started packet finish.

    When a message from 3 to 0 waits, it takes ports, which other pairs get back afterwards. The
    circuit 0→1 does not change.
    """
    size = 25_000_000  # 2 ms
    interval, pause = FLIPPING.interval_ps, FLIPPING.latency_ps
    measurements = range(1, changes, 2)
    others = [Message(3, 0, 1000, number * interval - 1000) for number in measurements]
    outcome = carry(FLIPPING, fabric, [Message(0, 1, size), *others])
    expected = direct_ps(size) + changes * pause
    packets = transmission_ps(PACKET) * changes if fabric == "express" else 0
    assert expected - packets <= outcome.arrivals_ps[0] <= expected + 10
    statistics = outcome.statistics
    assert (statistics.drops, statistics.retransmissions, statistics.rto_events) == (0, 0, 0)
    # A small message waits for the measurement and the pause.
    due = [number * interval + pause + direct_ps(1000) for number in measurements]
    assert outcome.arrivals_ps[1:] == pytest.approx(due, abs=2)


@pytest.mark.parametrize("fabric", FABRICS)
def test_without_forwarding_a_pair_waits_for_its_circuit(fabric: str) -> None:
    setup = Setup(3, [(0, 1), (1, 2), (2, 0)], forwarding=False)
    outcome = carry(setup, fabric, [Message(0, 2, 14_600, 7)])
    assert outcome.arrivals_ps[0] == pytest.approx(
        setup.interval_ps + setup.latency_ps + direct_ps(14_600), abs=2
    )


@pytest.mark.parametrize("fabric", ["express", "flow"])
def test_slow_start_begins_when_the_circuit_is_there(fabric: str) -> None:
    """A pair that waits for a circuit late in a run is as fast as on a new circuit."""
    size, intervals = 20 * SEGMENT_BYTES, 50
    transport = {"initial_cwnd_segments": 1}
    setup = Setup(3, [(0, 1), (1, 2), (2, 0)], forwarding=False, transport=transport)
    late = Message(0, 2, size, intervals * setup.interval_ps + 7)
    (arrival,) = carry(setup, fabric, [late]).arrivals_ps
    still = Setup(2, [(0, 1), (1, 0)], transport=transport).still()
    (duration,) = carry(still, fabric, [Message(0, 1, size)]).arrivals_ps
    due = (intervals + 1) * setup.interval_ps + setup.latency_ps + duration
    assert arrival == pytest.approx(due, abs=10 * PS_PER_US)


@pytest.mark.parametrize("fabric", FABRICS)
def test_with_forwarding_it_goes_at_once(fabric: str) -> None:
    setup = Setup(3, [(0, 1), (1, 2), (2, 0)])
    (arrival,) = carry(setup, fabric, [Message(0, 2, 14_600)]).arrivals_ps
    expected = transmission_ps(wire_bytes(14_600)) + transmission_ps(PACKET) + 2 * LATENCY_PS
    assert arrival == pytest.approx(expected, abs=2)


def test_a_window_that_the_new_path_does_not_need_is_not_waited_for() -> None:
    """Over three links and two slow ranks, a flow sends 20 packets per round trip.

    This is enough to fill the new circuits, because there is a circuit for the ACKs, too.
    """
    setup = Setup(
        4,
        RING * 2,
        degree=2,
        interval_ps=20 * PS_PER_US,
        latency_ps=PS_PER_US,
        forwarding_delay_ps=50 * PS_PER_US,
        transport={"initial_cwnd_segments": 20},
    )
    size = 292_000
    back = Message(3, 0, 100_000, 19 * PS_PER_US)
    arrival, _ = carry(setup, "flow", [Message(0, 3, size), back]).arrivals_ps
    rest = transmission_ps(wire_bytes(size) - 20 * PACKET) / 2 + LATENCY_PS
    assert arrival == pytest.approx(setup.interval_ps + setup.latency_ps + rest, abs=10)


@pytest.mark.parametrize("fabric", ["express", "flow"])
def test_a_window_covers_the_control_network_not_the_way_back(fabric: str) -> None:
    """One circuit ahead, seven circuits back: with a window of 4 packets, a round trip is

    packet + latency + 7 · (ACK + latency) over circuits, and packet + latency + ACK + latency over
    the control network. Each round trip carries 4 packets.
    """
    ring = Setup(
        8,
        [(rank, (rank + 1) % 8) for rank in range(8)],
        interval_ps=10**12,
        transport={
            "send_buffer_bytes": 4 * SEGMENT_BYTES,
            "receive_buffer_bytes": 4 * SEGMENT_BYTES,
            "initial_cwnd_segments": 4,
        },
    )
    packets = 4000
    messages = [Message(0, 1, packets * SEGMENT_BYTES)]
    acknowledgement = transmission_ps(HEADER_BYTES) + LATENCY_PS
    for control, links in ((True, 1), (False, 7)):
        setup = replace(ring, control_network=control)
        (arrival,) = carry(setup, fabric, messages).arrivals_ps
        round_trip = transmission_ps(PACKET) + LATENCY_PS + links * acknowledgement
        assert arrival == pytest.approx(packets / 4 * round_trip, rel=0.02)


@pytest.mark.parametrize("fabric", FABRICS)
def test_parallel_circuits_are_one_link_of_their_joint_rate(fabric: str) -> None:
    """When the only demand is measured, it gets all three ports: a third of the time is left."""
    setup = Setup(3, [(0, 1), (1, 2), (2, 0)], degree=3, discount="NONE", forwarding=False)
    size = 14_600_000
    (arrival,) = carry(setup, fabric, [Message(0, 1, size)]).arrivals_ps
    alone = transmission_ps(wire_bytes(size))
    expected = setup.interval_ps + setup.latency_ps + (alone - setup.interval_ps) / 3 + LATENCY_PS
    assert arrival == pytest.approx(expected, rel=1e-3)


def test_flows_and_packets_without_forwarding() -> None:
    """`flow` estimates an all-to-all with changing circuits within 2 % of the packets."""
    ranks = 8
    neighbours = [(rank, rank ^ 1) for rank in range(ranks) for _ in range(2)]
    setup = Setup(ranks, neighbours, 2, 50 * PS_PER_US, PS_PER_US, forwarding=False)
    messages = [Message(s, t, 10**6) for s, t in permutations(range(ranks), 2)]
    ends = {fabric: max(carry(setup, fabric, messages).arrivals_ps) for fabric in FABRICS}
    assert ends["flow"] == pytest.approx(ends["express"], rel=0.02)


@pytest.mark.parametrize("fabric", FABRICS)
def test_idle_time_costs_no_events(fabric: str) -> None:
    """No measurement takes place without demand."""
    setup = Setup(3, [(0, 1), (1, 2), (2, 0)], interval_ps=PS_PER_US, latency_ps=0)
    messages = [Message(0, 2, 1000), Message(1, 0, 1000, 10**15)]
    outcome = carry(setup, fabric, messages)  # 10⁹ measurements would take minutes
    assert outcome.arrivals_ps[1] > 10**15


def refusal(setup: Setup, fabric: str) -> str:
    with pytest.raises(StreamError) as caught:
        carry(setup, fabric, [Message(0, 1, 1)])
    return str(caught.value)


def test_refusals() -> None:
    for fabric, reason in (
        ("analytical", "analytical books a message on a link as a whole"),
        ("native", "ns-3's PointToPointChannel joins two devices for the whole run"),
    ):
        problem = f"'{fabric}' is not one of express, flow, whose links can change during a run"
        assert f"{problem}: {reason}" in refusal(Setup(4, RING), fabric)
    assert "is 100, but it must be less than interval_ps (100)" in refusal(
        Setup(4, RING, interval_ps=100, latency_ps=100), "flow"
    )
    assert "2 circuits leave or enter rank 0, which has 1 ports" in refusal(
        Setup(2, [(0, 1), (0, 1), (1, 0)]), "flow"
    )
    assert "reconfiguration.degree is 0" in refusal(Setup(4, RING, degree=0), "flow")
