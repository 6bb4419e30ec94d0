"""The tables of a run: links.csv, flows.csv, fct.csv and collectives.csv beside result.json."""

from __future__ import annotations

from math import ceil
from pathlib import Path
from typing import Any

import pytest

import bridge
from bridge.errors import ResultError
from bridge.results.run_tables import TABLES

FABRICS = ("express", "native", "flow", "analytical")


@pytest.mark.parametrize("fabric", FABRICS)
def test_tables_agree_with_the_result(small: dict[str, Any], fabric: str) -> None:
    result = bridge.run(small, {"fabric": fabric})
    links, flows, fct = (result.tables.rows(name) for name in ("links", "flows", "fct"))
    [dimension] = result.network.dimensions
    assert len(links) == dimension.links
    assert sum(row["wire_bytes"] for row in links) == dimension.wire_bytes
    assert max(row["utilization"] for row in links) == pytest.approx(dimension.utilization_max)
    assert sum(row["drops"] for row in links) == result.network.drops
    assert len(flows) <= result.network.flows
    assert sum(row["messages"] for row in flows) == result.network.messages
    assert sum(row["payload_bytes"] for row in flows) == result.network.payload_bytes
    assert max(row["fct_max_ns"] for row in flows) == pytest.approx(result.network.fct_max_ns)
    mean = sum(row["fct_mean_ns"] * row["messages"] for row in flows) / result.network.messages
    assert mean == pytest.approx(result.network.fct_mean_ns)
    assert [row["fraction"] for row in fct][::50] == [0, 0.5, 1]
    assert fct[50]["fct_ns"] == pytest.approx(result.network.fct_p50_ns)


@pytest.mark.parametrize("fabric", FABRICS)
@pytest.mark.parametrize("size", [1, 1460, 1461, 5000])
def test_an_undisturbed_message_has_no_slowdown(
    small: dict[str, Any], fabric: str, size: int
) -> None:
    """Two ranks, one message in each direction: 2 latencies, and packets that follow each other.

    n - 1 full packets and a last one over two links of one rate take, at 100 Gb/s,
    wire bytes · 80 ps, and the second link adds one full packet (the last one if it is the only).
    """
    topology = {"ranks": 2, "latency": "2us"}
    workload = {"operation": "all_to_all", "algorithm": "direct", "bytes": 2 * size}
    changed = small | {
        "topology": small["topology"] | topology,
        "workload": small["workload"] | workload,
    }
    result = bridge.run(changed, {"fabric": fabric, "transport.mtu": 1500})
    segment, header = 1460, 40 + 2
    full = ceil(size / segment) - 1
    last = size - full * segment + header
    wire = full * (segment + header) + last
    second = segment + header if full else last
    for row in result.tables.rows("flows"):
        if not full or fabric in ("express", "native"):
            assert row["ideal_fct_mean_ns"] == pytest.approx(4000 + (wire + second) * 0.08, abs=0.1)
        assert row["slowdown"] >= 0.999


def test_they_are_files_and_data_frames(small: dict[str, Any], tmp_path: Path) -> None:
    pytest.importorskip("pandas")
    result = bridge.run(small, out=tmp_path)
    assert {file.name for file in tmp_path.iterdir()} == {
        "result.json",
        *(f"{name}.csv" for name in TABLES),
    }
    loaded = bridge.Result.load(tmp_path)
    assert loaded == result
    frames = loaded.to_pandas()
    assert frames["flows"]["slowdown"].min() >= 1
    assert set(frames["links"]["dimension"]) == {"scale_out"}
    assert frames["collectives"].shape[0] == 1


def test_a_result_without_its_files_has_none(small: dict[str, Any], tmp_path: Path) -> None:
    bridge.run(small, out=tmp_path)
    (tmp_path / "flows.csv").unlink()
    (tmp_path / "links.csv").write_text("a,b\n1\n")
    loaded = bridge.Result.load(tmp_path)
    assert loaded.tables.rows("flows") == []
    with pytest.raises(ResultError, match=r"links\.csv:2: expected as many cells"):
        loaded.tables.rows("links")
