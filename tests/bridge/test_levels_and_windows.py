"""Slots in each level of a collective, chunks by arrival, and messages without windows."""

from __future__ import annotations

from typing import Any

import pytest

import bridge
from frontend import ScenarioError, load_scenario

LATENCY_NS = 500
HEADER_BYTES = 42
UNLIMITED = {"links": {"mtu": "unlimited"}, "transport": {"window": "unlimited"}}


def grid(chunks: int, algorithm: str = "ring", **system: Any) -> dict[str, Any]:
    """Return an all-reduce of 1 MiB over the rows and the columns of 4 x 4 ranks."""
    levels = [{"size": 4, "algorithm": algorithm}] * 2
    return {
        "fabric": "analytical",
        "topology": {
            "family": "direct_connect",
            "graph": "torus:dims=4x4",
            "bandwidth": "400Gbps",
            "latency": "500ns",
            "buffer": "unlimited",
        },
        "workload": {
            "kind": "collective",
            "operation": "all_reduce",
            "algorithm": {"levels": levels},
            "bytes": "1MiB",
        },
        **UNLIMITED,
        "system": {"chunks": chunks, "concurrent_chunks": 1, "injection_latency": 0, **system},
    }


def messages_ns(count: int, size: int) -> float:
    """Return the time of messages to a neighbour, one after the other."""
    return count * ((size + HEADER_BYTES) * 8 / 400 + LATENCY_NS)


def level_ns(chunks: int) -> float:
    """Return the time of a chunk in a level: six messages of a quarter of it."""
    return messages_ns(6, 2**20 // chunks // 4)


@pytest.mark.parametrize("admission", ["local", "negotiated"])
def test_a_level_has_slots_of_its_own(admission: str) -> None:
    """With one slot in all, one chunk is in flight; with one in each level, a chunk is in each.

    One after the other, n chunks take at least n times both levels. In a pipeline, the last chunk
    enters the second level after n times the first one.
    """
    for chunks in (1, 2, 8):
        one = bridge.run(grid(chunks, admission=admission))
        assert one.time_ns >= 2 * chunks * level_ns(chunks) * (1 - 1e-6)
        result = bridge.run(grid(chunks, admission=admission, concurrent_chunks_per="level"))
        assert result.time_ns == pytest.approx((chunks + 1) * level_ns(chunks), rel=1e-6)
        assert result.system.max_outstanding_chunks == {"scale_out": 1}


def test_chunks_come_back_after_those_that_wait() -> None:
    """Each chunk has a reduce-scatter in the rows, an all-reduce in the columns, an all-gather.

    By arrival, all reduce-scatters precede the first all-gather, so the rows are always busy. By
    index, chunks come back earlier, and the rows wait for the all-reduce of the last one.
    """
    chunk = 2**20 // 8
    row, column = messages_ns(3, chunk // 4), messages_ns(6, chunk // 16)
    assert row < column < 2 * row

    def time_ns(order: str) -> float:
        scenario = grid(8, concurrent_chunks_per="level", chunk_order=order)
        scenario["workload"]["algorithm"]["shards"] = True
        return bridge.run(scenario).time_ns

    expected = 2 * 8 * row
    assert time_ns("arrival") == pytest.approx(expected, rel=1e-6)
    assert time_ns("index") > 1.005 * expected


def message(fabric: str, family: dict[str, Any]) -> dict[str, Any]:
    """Return an exchange of 512 KiB between two ranks."""
    links = {"bandwidth": "400Gbps", "latency": "500ns", "buffer": "unlimited"}
    return {
        "fabric": fabric,
        "topology": {**family, **links},
        "workload": {
            "kind": "collective",
            "operation": "all_to_all",
            "algorithm": "direct",
            "bytes": "1MiB",
        },
        **UNLIMITED,
        "system": {"injection_latency": 0},
    }


@pytest.mark.parametrize("fabric", ["flow", "analytical"])
@pytest.mark.parametrize(
    ("family", "links"),
    [
        ({"family": "direct_connect", "graph": "complete:n=2"}, 1),
        ({"family": "flat", "ranks": 2}, 2),
    ],
)
def test_a_message_is_one_packet(fabric: str, family: dict[str, Any], links: int) -> None:
    """It has one header, waits for no acknowledgement, and is sent anew on each link."""
    scenario = message(fabric, family)
    expected = links * ((2**19 + HEADER_BYTES) * 8 / 400 + LATENCY_NS)
    assert bridge.run(scenario).time_ns == pytest.approx(expected, rel=1e-6)


@pytest.mark.parametrize(
    ("changes", "error"),
    [
        (
            {"fabric": "express"},
            "transport.window: .*expected a size such as 8MiB, because the fabric",
        ),
        (
            {"fabric": "native", "transport.window": "8MiB"},
            "links.mtu: .*expected a size such as 9000B, because the fabric",
        ),
        (
            {"transport.window": "8MiB"},
            "transport.window: .*expected unlimited, because links.mtu is unlimited",
        ),
        (
            {"system.chunk_order": "arrival", "system.admission": "local"},
            "system.chunk_order: .*expected index, because system.admission is local",
        ),
        ({"links.mtu": "70000B"}, "expected at most 65535B, or unlimited"),
    ],
)
def test_what_cannot_be(changes: dict[str, Any], error: str) -> None:
    with pytest.raises(ScenarioError, match=error):
        load_scenario(grid(1), changes)
