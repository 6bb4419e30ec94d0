"""What a run has delivered so far, also of messages under way; and queues without limit."""

from __future__ import annotations

from typing import Any

import pytest

from bridge import SimulationError, run
from bridge.present.progress import Snapshot

#: One message of 64 MB from each of two ranks, 5 ms long at 100 Gb/s.
ONE_MESSAGE = {"topology.ranks": 2, "workload.algorithm": "direct", "workload.bytes": "128MB"}


@pytest.mark.parametrize("fabric", ["express", "native"])
def test_a_message_under_way_counts(small: dict[str, Any], fabric: str) -> None:
    with pytest.raises(SimulationError) as failure:
        run(small, {**ONE_MESSAGE, "simulation.time_limit": "1ms", "fabric": fabric})
    assert failure.value.result
    network = failure.value.result.network
    assert network.messages == 0
    # 1 ms at 100 Gb/s carries 12.5 MB from each of the two ranks, minus headers and slow start.
    assert 0.9 * 25e6 < network.payload_bytes < 25e6


def test_progress_grows_during_a_message(
    small: dict[str, Any], monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr("bridge.simulator.simulate.PROGRESS_INTERVAL_S", 0.0)
    seen: list[tuple[int, int, int]] = []

    def note(progress: Snapshot) -> None:
        seen.append((progress.delivered_bytes, progress.total_bytes, progress.packets))

    result = run(small, {**ONE_MESSAGE, "workload.bytes": "1GB"}, progress=note)
    delivered, totals, packets = zip(*seen, strict=True)
    # A rank sends its half of the vector, receives the sum of the other's: two messages each.
    assert set(totals) == {2 * 10**9}
    assert sum(0 < one < 10**9 for one in delivered) > 0
    assert list(delivered) == sorted(delivered)
    assert delivered[-1] == result.network.payload_bytes == 2 * 10**9
    assert packets[-1] == result.network.packets


@pytest.mark.parametrize("fabric", ["express", "native"])
def test_a_buffer_without_limit_has_a_queue(small: dict[str, Any], fabric: str) -> None:
    """An incast fills the queue of a port as it does in a buffer that is too large to overflow."""
    direct = {"workload.algorithm": "direct", "workload.bytes": "1MB", "fabric": fabric}
    large = run(small, {**direct, "topology.buffer": "100GB"})
    unlimited = run(small, {**direct, "topology.buffer": "unlimited"})
    assert unlimited.network == large.network
    assert unlimited.network.dimensions[0].max_queue_bytes > 0
