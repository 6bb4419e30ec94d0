"""The network API for single messages: arguments, exceptions, and waits that never end."""

import json
from collections.abc import Iterator
from functools import partial
from typing import Any

import pytest

from bridge import _core
from frontend import collectives
from frontend.stream import encode
from tests.ns3_scratch.streams import (
    HEADER_BYTES,
    header,
    message_ps,
    one_collective,
    ps,
    run,
    settings,
    star,
    transmission_ps,
)

RANKS = 4


@pytest.fixture(params=["analytical", "flow", "express"])
def fabric(request: pytest.FixtureRequest) -> str:
    return str(request.param)


@pytest.fixture
def network(fabric: str) -> Iterator[_core.Network]:
    made = _core.Network(encode([header(), settings(fabric=fabric), star(RANKS)]))
    yield made
    made.close()


def test_ping_pong(network: _core.Network, fabric: str) -> None:
    times: list[int] = []

    def pinged() -> None:
        times.append(network.sim_get_time())
        network.sim_send(1, 0, 1000, tag=2)

    network.sim_recv(0, 1, 1000, tag=1, callback=pinged)
    network.sim_recv(1, 0, 1000, 2, lambda: times.append(network.sim_get_time()))
    network.sim_send(0, 1, 1000, 1)
    network.run()
    # A packet fabric sends the acknowledgement first, and rounds up to the picosecond.
    acknowledgement = transmission_ps(HEADER_BYTES) if fabric == "express" else 0
    expected = [message_ps(1000), 2 * message_ps(1000) + acknowledgement]
    assert times == pytest.approx(expected, abs=8)
    statistics = json.loads(network.statistics())
    assert (statistics["messages"], statistics["payload_bytes"]) == (2, 2000)


def test_sent_is_called_after_the_receiver_has_all(network: _core.Network) -> None:
    order: list[str] = []
    network.sim_recv(0, 1, 5000, callback=lambda: order.append("received"))
    network.sim_send(0, 1, 5000, callback=lambda: order.append("sent"))
    network.run()
    assert order == ["received", "sent"]


def test_messages_match_by_source_target_and_tag_in_order(network: _core.Network) -> None:
    order: list[str] = []
    for tag in (5, 3, 3):
        network.sim_send(0, 1, 100 * tag, tag)

    def late() -> None:
        for name, tag in (("3a", 3), ("3b", 3), ("5", 5)):
            network.sim_recv(0, 1, 100 * tag, tag, partial(order.append, name))

    network.sim_schedule(10**9, late)
    network.run()
    assert order == ["3a", "3b", "5"]
    assert network.sim_get_time() == 10**9


def test_a_ring_in_python_takes_as_long_as_the_compiled_one(
    network: _core.Network, fabric: str
) -> None:
    size, steps = 10_000, 2 * (RANKS - 1)
    ends: list[int] = []

    def send(rank: int, step: int) -> None:
        network.sim_send(rank, (rank + 1) % RANKS, size, tag=step)

    def received(rank: int, step: int) -> None:
        if step + 1 < steps:
            send(rank, step + 1)
        else:
            ends.append(network.sim_get_time())

    for rank in range(RANKS):
        for step in range(steps):
            network.sim_recv(
                (rank - 1) % RANKS,
                rank,
                size,
                step,
                partial(received, rank, step),
            )
        send(rank, 0)
    network.run()
    statistics = json.loads(network.statistics())
    network.close()
    made = collectives.build("all_reduce", "ring", RANKS)
    compiled = run(one_collective(made, RANKS * size, fabric=fabric))
    assert ps(compiled["time_ns"]) == max(ends)
    for counter in ("messages", "payload_bytes"):
        assert statistics[counter] == compiled["network"][counter]


@pytest.mark.parametrize(
    ("arguments", "text"),
    [
        ((4, 0, 1), "rank 4 does not exist: ranks are 0 … 3"),
        ((0, -1, 1), "rank -1 does not exist"),
        ((2, 2, 1), "rank 2 cannot send a message to itself"),
        ((0, 1, -1), "the size is -1 bytes"),
        ((0, 1, 2**60), "the size is 1152921504606846976 bytes"),
        ((0, 1, 1, -1), "the tag is -1"),
    ],
)
def test_bad_arguments(network: _core.Network, arguments: tuple[Any, ...], text: str) -> None:
    for call in (network.sim_send, network.sim_recv):
        with pytest.raises(ValueError, match=text):
            call(*arguments)


def test_a_negative_delay(network: _core.Network) -> None:
    with pytest.raises(ValueError, match="the delay is -1 ps"):
        network.sim_schedule(-1, lambda: None)
    with pytest.raises(ValueError, match="the delay is"):
        network.sim_schedule(2**62, lambda: None)
    with pytest.raises(TypeError):
        network.sim_schedule(1, 3)  # type: ignore[arg-type]


def test_no_path() -> None:
    topology = star(3)
    del topology.topology.path_source[:], topology.topology.path_target[:]
    del topology.topology.path_begin[1:], topology.topology.path_links[:]
    network = _core.Network(encode([header(), settings(), topology]))
    with pytest.raises(ValueError, match="no path from rank 0 to rank 1"):
        network.sim_send(0, 1, 10)
    network.run()
    network.close()


def test_sizes_that_differ(network: _core.Network) -> None:
    network.sim_send(0, 1, 1000)
    network.sim_recv(0, 1, 999)
    with pytest.raises(ValueError, match="expects 999 bytes, but the matching send has 1000"):
        network.run()


def test_an_exception_in_a_callback_ends_the_run(network: _core.Network) -> None:
    called: list[int] = []

    def fail() -> None:
        raise LookupError("lost")

    network.sim_schedule(1000, fail)
    network.sim_schedule(1001, lambda: called.append(1))
    with pytest.raises(LookupError, match="lost"):
        network.run()
    assert called == []
    assert network.sim_get_time() == 1000


def test_finish_ends_the_run(network: _core.Network) -> None:
    called: list[int] = []
    network.sim_recv(0, 1, 10, callback=lambda: called.append(0))  # never sent
    network.sim_schedule(1000, network.sim_finish)
    network.sim_schedule(1001, lambda: called.append(1))
    network.run()
    assert called == []


def test_a_receive_that_nobody_sends_to(network: _core.Network) -> None:
    network.sim_recv(0, 1, 10)
    network.sim_recv(2, 3, 7, tag=5)
    network.sim_send(0, 1, 10)
    text = (
        "1 receives wait for messages that nobody sends, the first of them at rank 3 for 7 bytes "
        "from rank 2 with tag 5"
    )
    with pytest.raises(_core.CoreError, match=text):
        network.run()


def test_a_network_runs_once_and_closes(network: _core.Network) -> None:
    assert network.sim_comm_size() == RANKS
    network.run()
    with pytest.raises(_core.CoreError, match="runs only once"):
        network.run()
    with pytest.raises(_core.CoreError, match="another Simulation or Network is open"):
        _core.Network(encode([header(), settings(), star(2)]))
    network.close()
    network.close()
    with pytest.raises(_core.CoreError, match="closed"):
        network.sim_send(0, 1, 10)


def test_names() -> None:
    assert {"analytical", "express", "flow", "native"} <= set(_core.fabrics())
    assert {"NewReno", "Cubic", "Dctcp"} <= set(_core.congestion_controls())
    assert _core.ns3_version().startswith("3.")
