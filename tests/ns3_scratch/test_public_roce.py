"""RoCE against the public ns-3 code: completion times and pauses of the same flows.

`public_roce.csv` has what High-Precision-Congestion-Control (9f4be2a, `scratch/third.cc`)
gives with its `mix/config.txt` and these changes: CC_MODE 1 (dcqcn), 3 (hpcc), 7 (timely) or 8
(dctcp); GLOBAL_T 0, so that each pair has its own round trip; KMIN = KMAX = threshold_kb, PMAX 1,
so that nothing is drawn at random; without marks and windows (ENABLE_QCN 0, HAS_WIN 0) for
`pauses`. Its completion times end with the last ACK at the sender; ours with the last byte at the
receiver, so the way of an ACK is added.
"""

from __future__ import annotations

import csv
from pathlib import Path
from typing import Any

import pytest

import bridge
from tests.ns3_scratch.goal_messages import messages

ROWS = list(csv.DictReader(Path(__file__).with_name("public_roce.csv").read_text().splitlines()))

LARGEST = {
    "flow": (1e-5, 1e-5),
    "incast": (5e-4, 1.5e-2),
    "pauses": (1e-6, 1e-6),
    "marks": (1e-3, 1e-3),
    "leaves incast": (1e-3, 5e-3),
    "permutation": (1e-3, 1e-3),
}
"""The largest relative error of the last completion and of their mean. In an incast of hpcc, flows
that begin in the same nanosecond divide the link in another way."""


def flows(row: dict[str, str]) -> list[tuple[int, int, int]]:
    """Return source, target and bytes of each flow."""
    number, size = int(row["sources"]), int(row["bytes"])
    if row["case"] == "permutation":
        return [(source, (source + 5) % 8, size) for source in range(8)]
    return [(source, number, size) for source in range(number)]


def links(row: dict[str, str]) -> list[list[str]]:
    """Return a star, or two leaves with four ranks each below one spine."""
    if row["network"] == "star":
        return [[f"gpu{i}", "switch", "100Gbps", "1us"] for i in range(int(row["sources"]) + 1)]
    ranks = [[f"gpu{i}", f"leaf{i // 4}", "100Gbps", "1us"] for i in range(8)]
    return [*ranks, ["leaf0", "spine", "400Gbps", "1us"], ["leaf1", "spine", "400Gbps", "1us"]]


def ack_ns(row: dict[str, str], source: int, target: int) -> int:
    """Return the time of an ACK: its transmissions, cut to nanoseconds, and 1 µs a link."""
    size = 46 + 42 if row["congestion_control"] == "hpcc" else 60
    slow, fast = size * 8 // 100, size * 8 // 400
    crosses = row["network"] == "leaves" and source // 4 != target // 4
    return 2 * (slow + 1000) + (2 * (fast + 1000) if crosses else 0)


@pytest.mark.parametrize(
    "row",
    ROWS,
    ids=[" ".join(list(row.values())[:5]) for row in ROWS],
)
def test_completion_times(row: dict[str, str], tmp_path: Path) -> None:
    sends, joined = flows(row), links(row)
    ranks = sum(link[0].startswith("gpu") for link in joined)
    transport: dict[str, Any] = {
        "protocol": "roce",
        "congestion_control": row["congestion_control"],
        "preset": "hpcc_2019",
        "header": "ns3",
        "ecn": dict.fromkeys(("kmin", "kmax"), f"{row['threshold_kb']}kB") | {"pmax": 1},
    }
    if row["congestion_control"] == "none":
        transport["window"] = "none"
    result = bridge.run(
        {
            "fabric": "express",
            "topology": {
                "family": "graph",
                "links": joined,
                "buffer": f"{row['memory_mib']}MiB",
            },
            "workload": messages(tmp_path, ranks, sends),
            "switches": {
                "buffer_sharing": "pfc",
                "pfc": {"headroom": "three_latencies", "frame": "43B"},
            },
            "transport": transport,
        }
    )
    acks = [ack_ns(row, source, target) for source, target, _ in sends]
    last, mean = LARGEST[row["case"]]
    # All ways are equally long in a star, and the last flow of an incast comes from another leaf.
    assert result.network.fct_max_ns + max(acks) == pytest.approx(float(row["last_ns"]), rel=last)
    found = result.network.fct_mean_ns + sum(acks) / len(acks)
    assert found == pytest.approx(float(row["mean_ns"]), rel=mean)
    assert result.pauses is not None
    assert result.pauses.count == int(row["pauses"])
