"""The tables of a run: links.csv, flows.csv, fct.csv and collectives.csv beside result.json."""

from __future__ import annotations

import gzip
import sys
from math import ceil
from pathlib import Path
from typing import Any

import pytest

import bridge
from bridge.errors import ResultError
from bridge.results.run_tables import TABLES, RunTables
from bridge.results.timeline_file import slices

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
    workload = {"operation": "all_to_all", "algorithm": "direct", "bytes": f"{2 * size}B"}
    changed = small | {
        "topology": small["topology"] | topology,
        "workload": small["workload"] | workload,
    }
    result = bridge.run(changed, {"fabric": fabric, "links.mtu": "1500B"})
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
        *(f"{name}.csv" for name in TABLES if name != "pauses"),  # no switch pauses
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


LINKS = (
    "link,source,target,dimension,wire_bytes,utilization,drops,ecn_marks,max_queue_bytes\n"
    "0,0,4,scale_out,1000,0.5,0,0,1500\n"
)


@pytest.mark.parametrize(
    ("was", "text", "sentence"),
    [
        ("0,0,4", "0,-1,4", "source: '-1' is no number of such a table"),
        ("0,0,4", "0,0,1e99", "target: '1e\\+99' is no number of such a table"),
        ("0,0,4", "0,0,16777217", "target: '16777217' is no number of such a table"),
        ("0.5", "half", "utilization: 'half' is no number of such a table"),
        ("0.5", "nan", "utilization: 'nan' is no number of such a table"),
        ("0.5", "1e999", "utilization: 'inf' is no number of such a table"),
        ("utilization", "use", "expected a table of a run with the column utilization"),
    ],
)
def test_what_a_page_cannot_show_is_refused(
    tmp_path: Path, was: str, text: str, sentence: str
) -> None:
    """A table may come from a stranger, or from a program that has changed it."""
    (tmp_path / "links.csv").write_text(LINKS)
    assert RunTables(folder=tmp_path).rows("links")[0]["max_queue_bytes"] == 1500
    (tmp_path / "links.csv").write_text(LINKS.replace(was, text))
    with pytest.raises(ResultError, match=rf"links\.csv:2: {sentence}"):
        RunTables(folder=tmp_path).rows("links")


def test_a_cell_that_python_does_not_read_is_one_sentence(tmp_path: Path) -> None:
    (tmp_path / "links.csv").write_text(LINKS.replace("scale_out", "x" * 200_000))
    with pytest.raises(ResultError, match=r"links\.csv: expected a table of a run \(field larger"):
        RunTables(folder=tmp_path).rows("links")


SAMPLES = "time_ns,link,source,target,throughput_bps\n0,1,2,3,4\n10,1,2,3,5\n"


@pytest.mark.parametrize(
    ("was", "text", "sentence"),
    [
        ("3,5", "3,nan", "row 2: throughput_bps: 'nan' is no number of such a table"),
        ("3,5", "3,inf", "row 2: throughput_bps: 'inf' is no number of such a table"),
        ("3,5", "3,1e308", "row 2: throughput_bps: '1e[+]308' is no number of such a table"),
        ("0,1", "-1,1", "row 1: time_ns: '-1' is no number of such a table"),
        ("10,1,2", "10,1,1e30", "row 2: source: '1e[+]30' is no number of such a table"),
        ("3,5", "3,", "expected a table of a run"),
        ("3,5", "3,x", "expected a table of a run"),
        ("target", "to", "expected a table of a run"),
    ],
)
def test_series_that_cannot_be_shown(tmp_path: Path, was: str, text: str, sentence: str) -> None:
    columns = ("time_ns", "link", "source", "target", "throughput_bps")
    (tmp_path / "link_series.csv").write_text(SAMPLES)
    numbers = RunTables(folder=tmp_path).numbers("link_series", columns)
    assert numbers is not None
    assert numbers.shape == (2, 5)
    (tmp_path / "link_series.csv").write_text(SAMPLES.replace(was, text, 1))
    with pytest.raises(ResultError, match=rf"link_series\.csv: {sentence}"):
        RunTables(folder=tmp_path).numbers("link_series", columns)


@pytest.mark.parametrize(
    "line",
    [
        b'{"ph":"B","pid":0,"tid":1}',
        b'{"ph":"B","pid":0,"tid":1,"ts":1,"name":3}',
        b'{"ph":"B","pid":0,"tid":1,"ts":NaN,"name":"x"}',
        b'{"ph":"E","pid":0,"tid":1,"ts":1e999}',
        b'{"ph":"E","pid":0,"tid":[],"ts":1}',
        b'{"ph":"i","pid":0,"tid":1,"ts":1,"name":"x","args":3}',
        b'{"ph":"i","pid":0,"tid":1,"ts":1,"name":"x","args":{"waited_us":"x"}}',
        b'{"ph":"B","pid":0,' + b"[" * 10_000,
    ],
)
def test_a_timeline_that_is_none(tmp_path: Path, line: bytes) -> None:
    file = tmp_path / "timeline.json.gz"
    file.write_bytes(gzip.compress(line + b"\n"))
    with pytest.raises(ResultError, match=r"timeline\.json\.gz: expected a timeline of a run"):
        slices(file, [0], 0, 100)


def test_names_of_dimensions_may_be_numbers(tmp_path: Path) -> None:
    (tmp_path / "links.csv").write_text(LINKS.replace("scale_out", "0"))
    assert RunTables(folder=tmp_path).rows("links")[0]["dimension"] == "0"


SERIES = {"interval": "1us", "links": "all", "flows": "all"}


def test_parquet_holds_the_same_rows(small: dict[str, Any], tmp_path: Path) -> None:
    pytest.importorskip("pyarrow")
    for form in ("csv", "parquet", "csv"):  # a second run removes the files of the first
        outputs = {"format": form, "series": SERIES}
        bridge.run(small, {"outputs": outputs}, out=tmp_path / "again")
        bridge.run(small, {"outputs": outputs}, out=tmp_path / form)
    assert {file.suffix for file in (tmp_path / "again").iterdir()} == {".csv", ".json"}
    assert {file.suffix for file in (tmp_path / "parquet").iterdir()} == {".parquet", ".json"}
    csv, parquet = (bridge.Result.load(tmp_path / form).tables for form in ("csv", "parquet"))
    assert csv == parquet
    for name in ("links", "flows", "fct", "link_series", "flow_series"):
        assert csv.rows(name) == parquet.rows(name) != []


def test_long_parquet_series_have_row_groups(
    small: dict[str, Any], tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    pq = pytest.importorskip("pyarrow.parquet")
    monkeypatch.setattr("bridge.results.parquet._GROUP_BYTES", 10_000)
    series = {**SERIES, "interval": "10ns", "size_limit": "100KB"}
    bridge.run(small, {"outputs": {"format": "parquet", "series": series}}, out=tmp_path)
    for name in ("link_series", "flow_series"):
        file = tmp_path / f"{name}.parquet"
        assert pq.ParquetFile(file).num_row_groups > 1
        assert file.stat().st_size <= 100_000
        types = dict(zip(pq.read_schema(file).names, pq.read_schema(file).types, strict=True))
        assert str(types["time_ns"]) == "double"


def test_parquet_errors(
    small: dict[str, Any], tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    pytest.importorskip("pyarrow")
    (tmp_path / "links.parquet").write_text("no")
    with pytest.raises(ResultError, match=r"links\.parquet: expected a table of a run"):
        RunTables(folder=tmp_path).rows("links")
    monkeypatch.setitem(sys.modules, "pyarrow", None)
    monkeypatch.setitem(sys.modules, "pyarrow.parquet", None)
    with pytest.raises(bridge.InputError, match="install the extra `parquet`"):
        bridge.run(small, {"outputs.format": "parquet"}, out=tmp_path)
    with pytest.raises(bridge.InputError, match="install the extra `parquet`"):
        RunTables(folder=tmp_path).rows("links")
